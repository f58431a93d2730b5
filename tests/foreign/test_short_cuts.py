"""Most records take a short cut, which leads to the same bytes and the same losses as the general code."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.codec.registry import CANONICAL, adapter
from pond.codec.relatives import relatives_of
from pond.model.json_text import Json, JsonObject, encode
from pond.portable.conversation import Item
from pond.portable.lift import Lift
from pond.portable.pairing import Pairing
from tests.foreign.hostile import arranged, spoilt
from tests.foreign.road import CLIENTS, OTHER, Made, convert, scratch, write_events
from tests.foreign.strategies import sessions
from tests.foreign.test_branches import ask, live, reply, to_codex
from tests.laws.corpus import SessionFile, fixture_files

AGENTS = [*CLIENTS, "gemini-cli"]


def _hung(uuid: str, parent: str) -> JsonObject:
    """Return a record of Claude Code that is carried whole and hangs on another."""
    return {**ask(uuid, parent), "type": "progress", "message": None, "data": {"type": "hook_progress"}}


@contextmanager
def _without_short_cuts() -> Iterator[None]:
    def messages(self: Lift, events: list[JsonObject], _: Json, line: int) -> list[Item]:
        return [*self._messages(events, line)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lift, "_one", messages)
        patch.setattr(Pairing, "passes", lambda *_: False)
        for client in CLIENTS:
            relatives = relatives_of(adapter(client))
            assert relatives is not None
            patch.setattr(relatives.OUTLINE, "watched_labels", None)
            patch.setattr(relatives.OUTLINE, "overhears", lambda *_: False)
        yield


def _told(made: Made) -> tuple[dict[str, bytes], list[JsonObject], list[str]]:
    files = {str(file.relative_to(made.folder)): file.read_bytes() for file in made.files}
    return files, [loss.as_json() for loss in made.losses], [str(fault) for fault in made.report.faults]


def _both_ways(file: Path, to: str, client: str | None, folder: Path) -> Made:
    short = convert(file, to, folder / "short", client)
    with _without_short_cuts():
        long = convert(file, to, folder / "long", client)
    assert _told(short) == _told(long)
    return short


@pytest.mark.parametrize("file", fixture_files(), ids=str)
def test_fixtures_come_out_the_same_without_short_cuts(file: SessionFile, tmp_path: Path) -> None:
    made = _both_ways(file.path, OTHER[file.client], file.client, tmp_path / "there")
    for number, middle in enumerate(made.files):
        _both_ways(middle, file.client, made.client, tmp_path / f"back-{number}")


@pytest.mark.parametrize("to", CLIENTS)
@given(data=st.data())
def test_invented_sessions_come_out_the_same_without_short_cuts(to: str, data: st.DataObject) -> None:
    events = data.draw(st.sampled_from([a for a in AGENTS if a != to]).flatmap(sessions))
    with scratch() as folder:
        _both_ways(write_events(events, folder / "in"), to, CANONICAL, folder)


@pytest.mark.parametrize(("name", "events"), [*islice(spoilt(), 0, None, 7), *arranged()])
@pytest.mark.parametrize("to", CLIENTS)
def test_broken_events_come_out_the_same_without_short_cuts(
    name: str, events: list[JsonObject], to: str, tmp_path: Path
) -> None:
    _both_ways(write_events(events, tmp_path / "in"), to, CANONICAL, tmp_path)


def test_a_prompt_that_hangs_on_a_carried_record_goes_back_to_its_turn(tmp_path: Path) -> None:
    """Carried records are heard without being read; each belongs to the turn of the prompt before it all the same."""
    rows = [
        ask("1", None, gitBranch="main"), _hung("c1", "1"), reply("2", "c1"), _hung("c2", "2"), ask("3", "c2"),
        reply("4", "3"), _hung("c4", "4"), ask("5", "c4"), reply("6", "5"), ask("7", "c4"), reply("8", "7"),
    ]  # fmt: skip
    lines = [encode(row) for row in rows]  # spelled as clients do: only such records are heard so
    last = live(to_codex(tmp_path / "one", *lines))
    assert [text for text in last if text.startswith("ask")] == ["ask 1", "ask 3", "ask 7"]
    early = live(to_codex(tmp_path / "two", *lines, ask("9", "c1"), reply("10", "9")))
    assert [text for text in early if text.startswith("ask")] == ["ask 1", "ask 9"]
