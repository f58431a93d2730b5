"""Conversation is typed, not carried: what people and models said, thought, called and got back are Parts."""

from pathlib import Path

import pytest

from tests.laws.content import Carried, carried_content
from tests.laws.corpus import SessionFile, capture_files, fixture_files, sample_files
from tests.laws.passage import read, strict_values
from tests.laws.scenario import Scenario, scenarios

# Some samples hold unknown blocks, or known ones spelt wrong: few, and all of them reported.
_ONE_IN = 500


def _examine(files: list[SessionFile]) -> tuple[int, list[Carried]]:
    parts, carried = 0, []
    for file in files:
        session = read(file.path, file.client).session
        values = strict_values(file.path.read_bytes())
        if session["options"]["pond"].get("form") == "document":
            values = next(item for item in values[0].values() if type(item) is list)
        made, left = carried_content(file.client, values, session["id"], session["project"])
        parts += made
        carried += left
    return parts, carried


@pytest.mark.parametrize("file", fixture_files(), ids=str)
@pytest.mark.rule("model-lossless-projection")
@pytest.mark.rule("adapter-integrity-no-silent-drops")
def test_fixture_content_is_typed_or_reported(file: SessionFile) -> None:
    _, carried = _examine([file])
    assert [item for item in carried if not item.told] == []
    if file.case != "drift":  # nobody has seen what is in there, or it is spelt wrong
        assert carried == []


def test_sample_content_is_typed(samples_dir: Path) -> None:
    parts, carried = _examine(sample_files(samples_dir))
    assert [item for item in carried if not item.told] == []
    assert len(carried) * _ONE_IN <= parts, [item.path for item in carried]


def test_captured_content_is_typed(captures_dir: Path) -> None:
    parts, carried = _examine(capture_files(captures_dir))
    assert parts > 0
    assert carried == []


def test_captured_scenarios_are_typed(captures_dir: Path) -> None:
    """Every prompt, thought, answer and tool call of a script has the right role, as conversation, in order."""
    played = list(scenarios(captures_dir))
    assert played
    problems = [f"{scenario.folder}: {what}" for scenario in played for what in _problems(scenario)]
    assert problems == []


def _problems(scenario: Scenario) -> list[str]:
    found = [scenario.positions(session) for session in scenario.sessions]
    missing = [
        f"not typed: {said}"
        for number, said in enumerate(scenario.said)
        if not any(number in positions for positions in found) and scenario.holds(said)
    ]
    disorder = [f"out of order: {positions}" for positions in found if positions != sorted(positions)]
    empty = [] if any(found) else ["nothing of what was played was found"]
    return missing + disorder + empty
