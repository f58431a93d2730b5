"""What hostile lines did to a whole run, each case once: now it is named, and everything else comes through."""

import json
import os
import resource
from pathlib import Path

import pytest

from tests.cli.command import Done, finish, pond, start
from tests.cli.exact import exact, values_of
from tests.cli.sessions import CLAUDE_CODE, CLIENTS, CODEX, Client, Record, dump, dumps, session_id
from tests.house.tree import ROOT
from tests.size import share

both_clients = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
no_silent_drops = pytest.mark.rule("adapter-integrity-no-silent-drops")
TIME = "2026-04-02T12:00:09.000Z"


def _deep(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


# --- members of the class --------------------------------------------------------------------------------------------


@no_silent_drops
@pytest.mark.parametrize("first_too", [True, False], ids=["both-deep", "the-second-deep"])
@pytest.mark.parametrize("target", ["claude-code", "canonical", "codex"])
def test_a_repeated_id_in_a_record_that_is_too_deep(target: str, first_too: bool, tmp_path: Path) -> None:
    bad, good = session_id("deep"), CLAUDE_CODE.session(tmp_path / "in", "good")
    lines = dumps(CLAUDE_CODE.records(bad, 2))
    record = next(line for line in lines if b'"type":"user"' in line)
    deep = record[:-1] + b',"more":' + _deep(600) + b"}"
    CLAUDE_CODE.file(tmp_path / "in", bad, [*lines, *[deep] * 2] if not first_too else [deep, deep, *lines])
    done = pond("convert", tmp_path / "in", "--to", target, "-o", tmp_path / "out")
    assert done.code == 1
    assert {fault.code for fault in done.errors} == {"source-too-deep"}, done.err
    assert len(done.errors) == 2
    assert len([*(tmp_path / "out").rglob("*.jsonl")]) == 2
    if target == "claude-code":
        (there,) = (tmp_path / "out").rglob(f"{bad}.jsonl")
        assert values_of(there) == [exact(line) for line in lines]
    assert good.exists()


CARRIED = {"type": "event_msg", "payload": {"type": "token_count", "info": {"total_tokens": 1}}}
TWICE = {
    "another-time": b'{"timestamp":"2026-04-02T12:00:08.000Z","timestamp":"' + TIME.encode() + b'",',
    "no-text": b'{"timestamp":"2026-04-02T12:00:08.000Z","timestamp":{"a":1},',
    "null": b'{"timestamp":"2026-04-02T12:00:08.000Z","timestamp":null,',
    "escaped": b'{"timestamp":"2026-04-02T12:00:08.000Z","\\u0074imestamp":"' + TIME.encode() + b'",',
    "injection": b'{"timestamp":"","role":"user","x":"zzz","timestamp":"' + TIME.encode() + b'",',
}


@no_silent_drops
@pytest.mark.parametrize("how", TWICE)
def test_a_carried_row_with_its_time_twice(how: str, tmp_path: Path) -> None:
    assert TWICE["injection"].index(b'","timestamp"') == TWICE["null"].index(b'","timestamp"'), "it ends as a time does"
    line = TWICE[how] + dump(CARRIED)[1:]
    session = session_id("twice")
    rows = dumps(CODEX.records(session, 1))
    file = CODEX.file(tmp_path / "in", session, [*rows, line])
    canonical = pond("convert", file, "--to", "canonical")
    assert canonical.places() == [(file.name, len(rows) + 1, "source-duplicate-key")], canonical.err
    events = [json.loads(text) for text in canonical.out.splitlines()]
    assert all(event.get("role") != "user" or event["options"].get("pond") for event in events)
    assert events[-1]["role"] == "system"
    back = pond("convert", "-", "--to", "codex", stdin=canonical.out)
    assert back.code == 0, back.err
    assert json.loads(back.out.splitlines()[-1]) == json.loads(line), "the last value is kept, as every reader does"


def _with_base(session: str, base: str) -> list[Record]:
    rows = CODEX.records(session, 1)
    rows[0]["payload"]["history_base"] = {"thread_id": base, "end_ordinal_exclusive": 10_000}
    return rows


@pytest.mark.rule("adapter-integrity-opaque-ids")
@pytest.mark.parametrize("base", ["*", "?" * 36, "[0-9a-f]*", session_id("secret")[-12:], "../" * 3 + "*", "**/*"])
def test_an_id_is_no_pattern(base: str, tmp_path: Path) -> None:
    """A pattern in a file pulled another session's text into the output."""
    first = tmp_path / "in/sessions/2026/01/01" / f"rollout-2026-01-01T12-00-00-{session_id('secret')}.jsonl"
    first.parent.mkdir(parents=True)
    first.write_bytes(CODEX.session(tmp_path, "secret").read_bytes().replace(b"Saturn", b"THE-SECRET"))
    asking = CODEX.file(tmp_path / "in", session_id("asking"), dumps(_with_base(session_id("asking"), base)))
    done = pond("convert", asking, "--to", "claude-code", "-o", tmp_path / "out.jsonl")
    assert done.code == 0, done.err
    assert b"THE-SECRET" not in (tmp_path / "out.jsonl").read_bytes()
    assert "earlier history is in another session" in done.err


def test_a_beginning_that_is_there_is_found(tmp_path: Path) -> None:
    CODEX.session(tmp_path / "in", "before")
    rows = _with_base(session_id("after"), session_id("before"))
    after = CODEX.file(tmp_path / "in", session_id("after"), dumps(rows))
    done = pond("convert", after, "--to", "claude-code", "-o", tmp_path / "out.jsonl")
    assert (done.code, "earlier history" in done.err) == (0, False), done.err


def test_things_that_are_no_files_among_the_rollouts(tmp_path: Path) -> None:
    file = CODEX.session(tmp_path / "in", "healthy")
    name = "rollout-2026-04-02T12-00-01-{}.jsonl"
    (file.parent / name.format(session_id("nowhere"))).symlink_to(tmp_path / "nowhere")
    (file.parent / name.format(session_id("folder"))).mkdir()
    os.mkfifo(file.parent / name.format(session_id("pipe")))
    done = pond("convert", file, "--to", "claude-code", "-o", tmp_path / "out.jsonl")
    assert done.code == 0, done.err
    assert (tmp_path / "out.jsonl").exists()


# --- a record that went in and never came out ------------------------------------------------------------------------


@pytest.mark.rule("model-lossless-projection")
@both_clients
@pytest.mark.parametrize("odd", [b'"\\ud83d"', b"1e400", b"7" * 5000, b"1e9999999999999999999"], ids=range(4))
def test_what_goes_in_at_the_limit_comes_out(client: Client, odd: bytes, tmp_path: Path) -> None:
    session = session_id("limit")
    lines = dumps(client.records(session, 1))
    levels = 499 - (1 if client is CLAUDE_CODE else 2)
    value = b"[" * levels + odd + b"]" * levels
    inner = b'"more":' + value
    lines.append(lines[-1][:-1] + b"," + inner + b"}")
    if client is CLAUDE_CODE:
        lines[-1] = lines[-1].replace(b'"uuid":"', b'"uuid":"other-')
    file = client.file(tmp_path / "in", session, lines)
    lake = tmp_path / "lake"
    assert pond("ingest", file, "--lake", lake).code == 0
    done = pond("restore", session, "--lake", lake, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    (there,) = (tmp_path / "out").rglob("*.jsonl")
    assert values_of(there) == values_of(file)
    assert pond("export", "--lake", lake, "-o", tmp_path / "a.pond").code == 0
    assert pond("import", tmp_path / "a.pond", "--lake", tmp_path / "other").code == 0


@no_silent_drops
def test_verify_stays_in_step_after_a_line_that_is_too_deep(tmp_path: Path) -> None:
    session = session_id("step")
    lines = dumps(CLAUDE_CODE.records(session, 2))
    file = CLAUDE_CODE.file(tmp_path, session, [*lines[:2], b'{"a":' + _deep(600) + b"}", *lines[2:]])
    done = pond("verify", file, "--json")
    told = json.loads(done.out)
    assert (told["clients"]["claude-code"]["records"], told["clients"]["claude-code"]["equal"]) == (len(lines),) * 2
    assert [(fault["code"], fault["line"]) for fault in told["faults"]] == [("source-too-deep", 3)]


# --- time and memory -------------------------------------------------------------------------------------------------


def _measured(*words: str | Path) -> tuple[Done, float]:
    """Return what `pond` did, and the CPU seconds it took: others use this machine, too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = finish(start(*words))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_a_repeated_id_after_a_very_long_line(tmp_path: Path) -> None:
    """Reading a line again took time that grew with the square of its length."""
    session = session_id("long")
    records = CLAUDE_CODE.records(session, 1)
    record = next(r for r in records if r["type"] == "user")
    long = dump({**record, "uuid": "long", "message": {"role": "user", "content": "x" * 60_000_000}})
    file = CLAUDE_CODE.file(tmp_path, session, [*dumps(records), long, long])
    done, seconds = _measured("convert", file, "--to", "claude-code", "-o", tmp_path / "out.jsonl")
    assert done.code == 0, done.err
    assert seconds < 12, f"{seconds:.0f} s"


@pytest.mark.parametrize("name", ["big.jsonl", "big.json"])
def test_a_large_file_that_is_nobodys_takes_little_memory(name: str, tmp_path: Path) -> None:
    line = dump({"nobody": "knows", "filling": "x" * 1000}) + b"\n"
    with open(tmp_path / name, "wb") as file:
        for _ in range(300):
            file.write(line * 1000)
    done = _limited(400, "convert", tmp_path / name, "--to", "canonical", "-o", tmp_path / "out.jsonl")
    assert {fault.code for fault in done.errors} == {"source-unrecognised"}, done.err


def _limited(megabytes: int, *words: str | Path) -> Done:
    """Run `pond` with so much memory and no more."""
    return finish(start(*words, before=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2)))


@no_silent_drops
@pytest.mark.parametrize("megabytes", share([600, 900, 1400, 2000], 2))
def test_a_very_long_line_under_a_memory_limit(megabytes: int, tmp_path: Path) -> None:
    session = session_id("limit")
    records = CLAUDE_CODE.records(session, 1)
    record = next(r for r in records if r["type"] == "user")
    long = dump({**record, "uuid": "long", "message": {"role": "user", "content": "x" * 150_000_000}})
    file = CLAUDE_CODE.file(tmp_path / "in", session, [*dumps(records), long])
    done = _limited(megabytes, "convert", file, "--to", "claude-code", "-o", tmp_path / "out.jsonl")
    assert done.code in (0, 1, 2), done.err
    assert {fault.code for fault in done.errors} <= {"source-too-large"}, done.err
    assert done.code == 0 or done.errors


def test_a_broken_line_behind_a_message_that_is_read_again_costs_that_line(tmp_path: Path) -> None:
    log = next((ROOT / "adapters/claude_code/fixtures/compaction").rglob("46d7bfb0*.jsonl"))
    lines = pond("convert", log, "--to", "canonical").out.splitlines(keepends=True)
    for number in (12, 13):  # the events behind a message that the summary keeps
        text = tmp_path / f"{number}.canonical.jsonl"
        text.write_bytes(b"".join([*lines[:number], lines[number][:99] + b"\n", *lines[number + 1 :]]))
        done = pond("convert", text, "--to", "codex", "-o", f"{tmp_path / str(number)}/")
        assert [fault.line for fault in done.errors] == [number + 1]
        assert list((tmp_path / str(number)).rglob("rollout-*.jsonl"))
