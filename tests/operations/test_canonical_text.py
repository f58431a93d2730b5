"""Canonical text from outside: it passes the validator or is refused by name, and what is stored can be restored."""

import json
from pathlib import Path
from typing import Any

import pytest

from pond.codec.registry import clients
from pond.codec.request import ConversionRequest
from pond.model.json_text import JsonObject, encode_line
from pond.restore.restoring import OWN
from pond.sessions import load
from tests.cli.command import pond
from tests.house.tree import ROOT
from tests.lake.taking import events, store, take_in
from tests.operations.stored import restored

ID = "5f0c3a52-8a4e-4c0c-9d53-6f2f0a1b7c11"
TIME = "2026-01-02T03:04:05.678Z"


def session(id: str = ID, agent: str = "claude-code", **more: Any) -> JsonObject:
    return {"kind": "session", "id": id, "source_agent": agent, "project": "/home/ada/x", "options": {}, **more}


def message(id: str, role: str = "user", session_id: str = ID, **more: Any) -> JsonObject:
    return {
        "kind": "message",
        "role": role,
        "id": id,
        "session_id": session_id,
        "timestamp": TIME,
        "options": {},
        **more,
    }


def text(id: str, message_id: str, words: str, session_id: str = ID) -> JsonObject:
    return {
        "kind": "part", "id": id, "session_id": session_id, "message_id": message_id, "type": "text", "text": words,
        "provenance": "conversational", "options": {},
    }  # fmt: skip


def talk(agent: str, id: str = ID) -> list[JsonObject]:
    """Return a conversation that no adapter of pond has read: nothing says which records it came from."""
    return [
        session(id, agent),
        message("m1", session_id=id), text("m1:0", "m1", "Where is Saturn?", id),
        message("m2", "assistant", id), text("m2:0", "m2", "Behind the shed.", id),
    ]  # fmt: skip


def written(path: Path, stream: list[JsonObject]) -> Path:
    path.write_bytes(b"".join(map(encode_line, stream)))
    return path


REFUSED = {
    "a cut point without a parent": ([session(parent_message_id="x"), message("m")], 1, "parent_message_id"),
    "an unknown field of a session": ([session(surplus=1), message("m")], 1, "surplus"),
    "an unknown field of a message": ([session(), message("m", surplus=1)], 2, "surplus"),
    "a numeric parent": ([session(parent_session_id=7), message("m")], 1, "parent_session_id"),
    "a numeric start": ([session(created_at=7), message("m")], 1, "created_at"),
    "a session id twice": ([session(), message("m"), session(), message("n")], 3, "not unique"),
    "a message id twice": ([session(), message("m"), message("m")], 3, "not unique"),
    "a part id twice": ([session(), message("m"), text("p", "m", "a"), text("p", "m", "b")], 4, "not unique"),
}  # fmt: skip


@pytest.mark.rule("model-parent-pointer-coherence")
@pytest.mark.rule("adapter-integrity-no-silent-drops")
@pytest.mark.parametrize("what", REFUSED)
def test_what_the_validator_refuses_is_named_with_its_line(what: str, tmp_path: Path) -> None:
    stream, line, words = REFUSED[what]
    file = written(tmp_path / "events.jsonl", stream)
    faults = take_in(tmp_path / "lake", file).report.diagnostics
    assert [(fault.code, fault.span and fault.span.line) for fault in faults] == [("canonical-broken", line)]
    assert words in faults[0].message
    done = pond("convert", file, "--to", "canonical", "-o", tmp_path / "out.jsonl")
    assert (done.errors[0].line, done.errors[0].code) == (line, "canonical-broken")
    assert done.code in (1, 2)


def test_what_is_left_out_takes_its_record_along_and_no_other(tmp_path: Path) -> None:
    stream = [
        session(),
        message("a"),
        text("a:0", "a", "x"),
        message("b"),
        text("b:0", "b", "y"),
        text("b:0", "b", "z"),
    ]
    stream += [message("c"), session("bad", surplus=1), message("d", session_id="bad"), *talk("codex", "good")]
    summary = take_in(tmp_path / "lake", written(tmp_path / "events.jsonl", stream))
    assert (summary.new_sessions, summary.new_messages) == (2, 4)
    assert [group[0]["id"] for group in events(tmp_path / "lake", ID)] == ["a", "c"]
    assert len(summary.report.diagnostics) == 2


def test_a_part_of_a_message_that_names_another_session_is_reported(tmp_path: Path) -> None:
    stream = [*talk("claude-code"), message("m3", session_id="other"), text("m3:0", "m3", "Whose words?", ID)]
    summary = take_in(tmp_path / "lake", written(tmp_path / "events.jsonl", stream))
    assert [(d.code, d.span.line) for d in summary.report.faults if d.span] == [
        ("canonical-broken", 6), ("canonical-broken", 7),
    ]  # fmt: skip
    assert summary.new_parts == 2


def test_the_events_of_the_readers_are_read_by_the_short_way(tmp_path: Path) -> None:
    """What is refused there goes the long way, and nothing is said of it twice."""
    odd = {**message("m"), "options": {"big": 2**70, "half": "\ud83d", "deep": json.loads("[" * 300 + "]" * 300)}}
    spaced = json.dumps(text("m:0", "m", "x")).encode() + b"\n"
    file = tmp_path / "events.jsonl"
    file.write_bytes(encode_line(session()) + encode_line(odd) + spaced)
    summary = take_in(tmp_path / "lake", file)
    assert summary.report.diagnostics == []
    assert events(tmp_path / "lake", ID) == [[odd, text("m:0", "m", "x")]]


@pytest.mark.rule("adapter-lineage-complete-restore")
@pytest.mark.parametrize("agent", clients())
def test_a_conversation_goes_to_the_client_of_its_brand(agent: str, tmp_path: Path) -> None:
    take_in(tmp_path / "lake", written(tmp_path / "events.jsonl", talk(agent)))
    lake = store(tmp_path / "lake")
    out = restored(lake, load.sessions(lake, None), ConversionRequest(OWN), tmp_path / "out")
    assert out.report.errors == 0
    (data,) = out.files.values()
    assert all(words in data for words in (b"Where is Saturn?", b"Behind the shed."))
    again = take_in(tmp_path / "again", *out.paths.values())
    assert (again.new_sessions, again.report.errors) == (1, 0)


def test_a_brand_that_pond_does_not_write_needs_to_be_told_for_whom(tmp_path: Path) -> None:
    streams = [*talk("heron", "a"), *talk("codex", "b")]
    take_in(tmp_path / "lake", written(tmp_path / "events.jsonl", streams))
    done = pond("restore", "--all", "--lake", tmp_path / "lake", "-o", tmp_path / "out")
    assert done.code == 1
    assert [fault.code for fault in done.errors] == ["foreign-no-client"], done.err
    assert "--to" in done.err
    assert len([*(tmp_path / "out").rglob("*.jsonl")]) == 1
    told = pond("restore", "a", "--to", "codex", "--lake", tmp_path / "lake", "-o", tmp_path / "told")
    assert told.code == 0, told.err


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, ["foreign-empty"]), ({"pond": {"as": "no-such-kind", "seq": 0}}, ["output-empty"])],
    ids=["no-marks", "odd-marks"],
)
def test_no_empty_file_stays_behind(options: JsonObject, expected: list[str], tmp_path: Path) -> None:
    stream = [session(), message("m", "system", content="", options=options)]
    file = written(tmp_path / "events.jsonl", stream)
    take_in(tmp_path / "lake", file)
    done = pond("restore", "--all", "--lake", tmp_path / "lake", "-o", tmp_path / "out")
    assert [fault.code for fault in done.faults] == expected
    assert done.code == bool(done.errors)
    assert [*(tmp_path / "out").rglob("*.jsonl")] == []
    done = pond("convert", file, "--to", "claude-code", "-o", tmp_path / "one.jsonl")
    assert (done.code, (tmp_path / "one.jsonl").exists()) == (bool(done.errors), False)


@pytest.mark.parametrize(
    "marks", [None, [], {}, {"as": "no-such-kind"}, {"as": 7}, {"as": "user", "seq": "x"}, {"as": "user", "seq": -1}],
    ids=repr,
)  # fmt: skip
def test_what_could_not_be_written_back_is_refused_when_it_comes(marks: Any, tmp_path: Path) -> None:
    log = next((ROOT / "adapters/claude_code/fixtures/tour").rglob("*.jsonl"))
    whole = pond("convert", log, "--to", "canonical").out
    own = json.loads(whole.splitlines()[0])["id"]
    added = [message("added", session_id=own, options={} if marks is None else {"pond": marks})]
    added.append(text("added:0", "added", "written by hand", own))
    file = tmp_path / "events.jsonl"
    file.write_bytes(whole + b"".join(map(encode_line, added)))
    done = pond("ingest", file, "--lake", tmp_path / "lake")
    assert [fault.code for fault in done.errors] == ["canonical-broken"]
    assert pond("restore", "--all", "--lake", tmp_path / "lake", "-o", tmp_path / "out").code == 0
    (restored,) = (tmp_path / "out").rglob("*.jsonl")
    assert len(restored.read_bytes().splitlines()) == len(log.read_bytes().splitlines())


def test_repeated_records_are_counted(tmp_path: Path) -> None:
    lines = [
        {"type": "user", "uuid": "u1", "sessionId": ID, "cwd": "/home/ada/x", "timestamp": TIME, "parentUuid": None,
         "message": {"role": "user", "content": "Hello."}},
    ] * 3  # fmt: skip
    file = tmp_path / "projects" / "-home-ada-x" / f"{ID}.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"".join(map(encode_line, lines)))
    done = pond("ingest", file, "--lake", tmp_path / "lake")
    assert "repeats   2 records" in done.out.decode()
    told = json.loads(pond("ingest", file, "--lake", tmp_path / "other", "--json").out)
    assert told["repeats"] == 2


SPELLED = {
    "2026-01-02T03:04:05Z": "2026-01-02T03:04:05.000Z",
    "2026-01-02T03:04:05.6Z": "2026-01-02T03:04:05.600Z",
    "2026-01-02T03:04:05.678901234Z": "2026-01-02T03:04:05.678901Z",
    "2026-01-02T08:34:05.678+05:30": "2026-01-02T03:04:05.678Z",
    "2026-01-01T22:04:05-05:00": "2026-01-02T03:04:05.000Z",
    "2026-01-02T03:04:05.678-00:00": TIME,
    "2026-01-02t03:04:05.678z": TIME,
}


def _spelled(agent: str, time: str) -> list[JsonObject]:
    """Return a conversation whose start and first message spell an instant so; its second message has marks."""
    stream = talk(agent)
    stream[0]["created_at"] = stream[1]["timestamp"] = stream[3]["timestamp"] = time
    stream[3]["options"] = {"pond": {"seq": 7, "spelling": {"other": 1}}}
    return stream


@pytest.mark.rule("adapter-integrity-no-silent-drops")
@pytest.mark.parametrize("time", SPELLED)
def test_an_instant_may_be_spelled_as_rfc_3339_allows(time: str, tmp_path: Path) -> None:
    """From then on it has the canonical spelling everywhere, and its own spelling is kept among the marks."""
    file = written(tmp_path / "events.jsonl", _spelled("claude-code", time))
    done = pond("convert", file, "--to", "canonical")
    assert (done.code, done.err) == (0, "")
    first, said, _, answered, _ = found = [json.loads(line) for line in done.out.splitlines()]
    assert [first["created_at"], said["timestamp"], answered["timestamp"]] == [SPELLED[time]] * 3
    assert first["options"] == {"pond": {"spelling": {"created_at": time}}}
    assert said["options"] == {"pond": {"spelling": {"timestamp": time}}}
    assert answered["options"] == {"pond": {"seq": 7, "spelling": {"other": 1, "timestamp": time}}}
    assert take_in(tmp_path / "lake", file).report.diagnostics == []
    lake = store(tmp_path / "lake")
    stored = [load.session(lake, ID), *(event for group in load.groups(lake, ID) for event in group)]
    assert stored == found
    again = pond("convert", written(tmp_path / "again.jsonl", found), "--to", "canonical")
    assert (again.out, again.err) == (done.out, "")


def test_a_client_gets_a_time_as_its_text_spelled_it(tmp_path: Path) -> None:
    """An event that says which record it was is written back with the spelling, as one that the client wrote is."""
    record = {
        "type": "user", "uuid": "u1", "sessionId": ID, "cwd": "/home/ada/x", "timestamp": "2026-01-02T03:04:05.6789Z",
        "parentUuid": None, "message": {"role": "user", "content": "Hello."},
    }  # fmt: skip
    source = written(tmp_path / "source.jsonl", [record])
    events_ = [json.loads(line) for line in pond("convert", source, "--to", "canonical").out.splitlines()]
    assert events_[1]["options"]["pond"]["spelling"] == {"timestamp": record["timestamp"]}
    for spelled, expected in (
        ("2026-01-02T03:04:05.678900Z", record["timestamp"]),  # the same instant: the record's own text stands
        ("2026-01-02T04:04:05.6789+01:00", record["timestamp"]),
        ("2026-02-03T04:05:06Z", "2026-02-03T04:05:06Z"),  # somebody changed it
    ):
        events_[1]["timestamp"] = spelled
        back = pond("convert", written(tmp_path / "events.jsonl", events_), "--to", "claude-code")
        assert json.loads(back.out)["timestamp"] == expected, back.err


@pytest.mark.parametrize(
    "time", ["2026-01-02", "2026-01-02T03:04:05", "2026-01-02T03:04Z", "2026-02-30T03:04:05Z", "2016-12-31T23:59:60Z",
             "2026-01-02T24:00:00Z", "2026-01-02T03:04:05+0100", "2026-01-02T03:04:05+01:75", "now", ""],
)  # fmt: skip
def test_what_is_no_instant_is_refused_by_name(time: str, tmp_path: Path) -> None:
    stream = [session(), message("m", timestamp=time)]
    done = pond("convert", written(tmp_path / "events.jsonl", stream), "--to", "canonical")
    assert [(fault.line, fault.code) for fault in done.errors] == [(2, "canonical-broken")]
    assert "`timestamp`: expected a time like 2026-01-02T03:04:05.678Z" in done.err


def test_a_time_that_cannot_keep_its_spelling_is_refused(tmp_path: Path) -> None:
    stream = [session(), message("m", timestamp="2026-01-02T03:04:05Z", options={"pond": {"spelling": 1}})]
    done = pond("convert", written(tmp_path / "events.jsonl", stream), "--to", "canonical")
    assert [(fault.line, fault.code) for fault in done.errors] == [(2, "canonical-broken")]
