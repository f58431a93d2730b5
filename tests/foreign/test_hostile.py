"""Whatever canonical text says, the writer of another client's sessions names it and never writes an invalid file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.model.json_text import JsonObject
from tests.foreign import hostile
from tests.foreign.road import CLIENTS, Made, converted
from tests.foreign.rules import faults
from tests.foreign.strategies import sessions

both = pytest.mark.parametrize("target", CLIENTS)
ARRANGED = dict(hostile.arranged())
# Odd, but nothing is lost or changed on the way: there is nothing to name.
HARMLESS = ("project", "a slash", "a very long", "families", "two messages", "two parts")


def _taken(made: Made) -> None:
    """Check that the files written are valid, and that a file not written has a typed fault instead."""
    assert made.files or made.report.diagnostics, "neither a file nor a fault"
    assert faults(made) == []


@both
def test_the_healthy_session_is_taken_as_it_is(target: str) -> None:
    with converted(hostile.healthy(), target) as made:
        _taken(made)
        assert made.losses == []
        assert made.report.diagnostics == []


@both
@pytest.mark.parametrize("case", ARRANGED, ids=str)
def test_events_that_do_not_fit_together(case: str, target: str) -> None:
    with converted(ARRANGED[case], target) as made:
        _taken(made)


@both
@pytest.mark.parametrize("case", [case for case in ARRANGED if not case.startswith(HARMLESS)], ids=str)
def test_what_does_not_fit_is_named(case: str, target: str) -> None:
    with converted(ARRANGED[case], target) as made:
        assert made.losses or made.report.diagnostics


@both
@pytest.mark.rule("adapter-integrity-no-silent-drops")
def test_fields_of_any_type(target: str) -> None:
    """Each field of each event in turn: gone, and of every type and shape there is."""
    broken = []
    for case, events in hostile.spoilt():
        try:
            with converted(events, target) as made:
                _taken(made)
        except Exception as error:
            broken.append(f"{case}: {type(error).__name__}: {error}")
    assert broken == []


@both
@pytest.mark.parametrize("agent", [*CLIENTS, "gemini-cli"])
def test_labels_of_any_type(agent: str, target: str) -> None:
    for event in range(1, len(hostile.healthy())):
        for junk in hostile.JUNK:
            events = [hostile.session(agent=agent), *hostile.healthy()[1:]]
            events[event]["options"] = {"pond": {"as": junk}}
            with converted(events, target) as made:
                if agent != target:
                    _taken(made)


@both
@given(data=st.data())
def test_many_fields_of_any_type(target: str, data: st.DataObject) -> None:
    events: list[JsonObject] = data.draw(sessions("gemini-cli"))
    for _ in range(data.draw(st.integers(1, 4))):
        event = data.draw(st.sampled_from(events))
        event[data.draw(st.sampled_from(sorted(event)))] = data.draw(st.sampled_from(hostile.JUNK))
    if not any(event.get("kind") == "session" for event in events):
        return
    with converted(events, target) as made:
        _taken(made)


@both
def test_a_thousand_children_in_one_stream(target: str) -> None:
    events = [hostile.session("parent"), *hostile.asked(session_id="parent")]
    for number in range(1000):
        name = f"parent/child-{number}"
        events += [hostile.session(name, parent_session_id="parent"), *hostile.asked(f"Row {number}", session_id=name)]
    with converted(events, target) as made:
        _taken(made)
        assert len(made.files) == 1001
        assert made.report.diagnostics == []
