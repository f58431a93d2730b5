"""What a session is called, and which records of its file have a say in that: stored rows depend on it."""

from pathlib import Path

import pytest

from pond.codec.lines import HEAD
from pond.codec.openfile import OpenFile
from pond.codec.opening import open_input
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.source import BEGINNING
from pond.model.json_text import JsonObject

META = (
    '{"timestamp":"2026-04-02T00:00:00.000Z","type":"session_meta",'
    '"payload":{"id":"way","timestamp":"2026-04-02T00:00:00.000Z","cwd":"/home/ada/orrery"%s}}'
)
EVENT = '{"timestamp":"2026-04-02T00:00:01.000Z","type":"event_msg","payload":{"type":"agent_message","message":"%s"}}'
PLAIN = ',"forked_from_id":"elder"'
ESCAPED = ',"forked_from_\\u0069d":"elder"'


def row(path: Path, *lines: str) -> JsonObject:
    """Return the session row of a Codex file."""
    file = path / "rollout-2026-04-02T00-00-00-way.jsonl"
    file.write_text("\n".join((*lines, "")), encoding="utf-8", newline="")
    with file.open("rb") as source:
        (session,) = open_input(OpenFile(source, "way.jsonl", file), ConversionRequest("canonical"), Report()).sessions
        return session.row


def parent(path: Path, *lines: str) -> object:
    return row(path, META % "", *lines).get("parent_session_id")


def events(count: int, size: int = 6) -> list[str]:
    return [EVENT % ("Saturn" + "." * (size - 6))] * count


@pytest.mark.parametrize("spelling", [PLAIN, ESCAPED], ids=["plain", "escaped"])
@pytest.mark.parametrize("place", [1, BEGINNING - 1])
@pytest.mark.parametrize("size", [6, HEAD], ids=["short", "long"])
def test_the_first_few_records_are_looked_at_as_they_are(size: int, place: int, spelling: str, tmp_path: Path) -> None:
    assert parent(tmp_path, *events(place - 1, size), META % spelling) == "elder"


def test_a_later_record_of_the_head_counts(tmp_path: Path) -> None:
    assert parent(tmp_path, *events(BEGINNING - 1), META % PLAIN) == "elder"
    assert parent(tmp_path, *events(60), META % PLAIN, *events(60)) == "elder"


def test_the_first_of_several_counts(tmp_path: Path) -> None:
    assert parent(tmp_path, *events(20), META % PLAIN, META % ',"forked_from_id":"other"') == "elder"


def test_a_later_record_with_an_escaped_key_does_not_count(tmp_path: Path) -> None:
    assert parent(tmp_path, *events(BEGINNING - 1), META % ESCAPED) is None


def test_a_record_behind_the_head_does_not_count(tmp_path: Path) -> None:
    assert parent(tmp_path, *events(BEGINNING + 1, HEAD // BEGINNING), META % PLAIN) is None


def test_of_a_record_that_goes_on_behind_the_head_only_its_beginning_counts(tmp_path: Path) -> None:
    long = f',"base":"{"." * HEAD}"'
    assert parent(tmp_path, *events(20), META % (PLAIN + long)) == "elder"
    assert parent(tmp_path, *events(20), META % (long + PLAIN)) is None


def test_the_words_in_a_text_are_no_value(tmp_path: Path) -> None:
    said = EVENT % '\\"session_meta\\" \\"forked_from_id\\":\\"elder\\"'
    kept = EVENT.replace('"message"', '"forked_from_id":"elder","message"') % "session_meta"
    assert parent(tmp_path, said, kept, *events(20), said, kept) is None


def test_what_a_session_must_have_is_looked_for_to_the_end(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    small = '{"type":"summary","sessionId":"way","leafUuid":"a","summary":"%s"}'
    lines = [small % ("." * HEAD)] * 12
    lines.append('{"type":"user","uuid":"a","cwd":"/home/ada/orrery","timestamp":"2026-04-02T00:00:01Z"}')
    file.write_text("\n".join((*lines, "")))
    with file.open("rb") as source:
        (session,) = open_input(OpenFile(source, "log.jsonl", file), ConversionRequest("canonical"), Report()).sessions
    assert (session.row["project"], session.row["created_at"]) == ("/home/ada/orrery", "2026-04-02T00:00:01.000Z")
