"""What the command line promises: detection, pipes, outputs, summaries, help, quiet, and a quick start."""

import json
import os
import pty
import resource
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pond.diagnostics.codes import CODES
from tests.cli.command import POND, Done, command, environment, pond, shown
from tests.cli.exact import exact, values, values_of
from tests.cli.sessions import CLAUDE_CODE, CLIENTS, CODEX, Client, dumps, session_id
from tests.size import size

both_clients = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
lossless = pytest.mark.rule("adapter-native-restore-lossless")


def _events(done: Done) -> list[dict[str, Any]]:
    """Return canonical events, after checking the exit code."""
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def _tree(directory: Path) -> dict[str, bytes]:
    return {
        file.relative_to(directory).as_posix(): file.read_bytes() for file in directory.rglob("*") if file.is_file()
    }


# --- convert: what comes out --------------------------------------------------------------------------------------


@both_clients
def test_the_client_is_detected_from_content(client: Client, tmp_path: Path) -> None:
    plain = tmp_path / "unnamed.txt"
    plain.write_bytes(client.session(tmp_path / "in", "detected").read_bytes())
    assert _events(pond("convert", plain, "--to", "canonical"))[0]["source_agent"] == client.name
    assert (
        _events(pond("convert", "-", "--to", "canonical", stdin=plain.read_bytes()))[0]["source_agent"] == client.name
    )


def test_foreign_content_is_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_text('{"planet":"Saturn","moons":274}\n{"planet":"Mars","moons":2}\n')
    done = pond("convert", foreign, "--to", "canonical")
    assert (done.code, done.out) == (2, b"")
    assert [(Path(f.file).name, f.code) for f in done.errors] == [("foreign.jsonl", "source-unrecognised")], done.err


@pytest.mark.rule("adapter-integrity-event-ordering")
@both_clients
def test_canonical_text_is_one_event_a_line_in_order(client: Client, tmp_path: Path) -> None:
    events = _events(pond("convert", client.session(tmp_path, "ordered"), "--to", "canonical"))
    kinds = [event["kind"] for event in events]
    assert kinds[0] == "session"
    assert kinds.count("session") == 1
    message = ""
    for event in events[1:]:
        assert event["kind"] in ("message", "part")
        if event["kind"] == "message":
            message = event["id"]
        else:
            assert event["message_id"] == message
    said = [event["text"] for event in events if event.get("type") == "text"]
    assert any("where is Saturn" in text for text in said)
    assert {event.get("type") for event in events} >= {"text", "reasoning", "tool_call", "tool_result"}


@lossless
@both_clients
def test_a_pipe_through_canonical_gives_the_session_back(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path, "there and back")
    there, back = command(["convert", file, "--to", "canonical"]), command(["convert", "-", "--to", client.name])
    words = f"{shlex.join(there)} | {shlex.join(back)}"
    done = subprocess.run(["sh", "-c", words], env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert values(done.stdout) == values_of(file)


@lossless
@both_clients
def test_native_to_native_is_value_equal(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path, "native")
    done = pond("convert", file, "--to", client.name)
    assert done.code == 0, done.err
    assert values(done.out) == values_of(file)


@lossless
@both_clients
def test_a_store_goes_to_a_directory_in_its_own_layout(client: Client, tmp_path: Path) -> None:
    files = [client.session(tmp_path / "in", seed) for seed in ("a", "b", "c")]
    done = pond("convert", tmp_path / "in", "--to", client.name, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    names = {file.relative_to(tmp_path / "in").as_posix() for file in files}
    assert set(_tree(tmp_path / "out")) == names
    for name in names:
        assert values_of(tmp_path / "out" / name) == values_of(tmp_path / "in" / name)


@lossless
@both_clients
def test_several_sessions_in_a_stream_go_to_a_directory(client: Client, tmp_path: Path) -> None:
    files = [client.session(tmp_path / "in", seed) for seed in ("a", "b", "c")]
    stream = pond("convert", tmp_path / "in", "--to", "canonical")
    sessions = {event["id"] for event in _events(stream) if event["kind"] == "session"}
    assert len(sessions) == len(files)
    done = pond("convert", "-", "--to", client.name, "-o", f"{tmp_path}/out/", stdin=stream.out)
    assert done.code == 0, done.err
    key = lambda file: file.name  # noqa: E731
    written = sorted((tmp_path / "out").rglob("*.jsonl"), key=key)
    assert len(written) == len(files)
    assert [values_of(file) for file in written] == [values_of(file) for file in sorted(files, key=key)]


@lossless
def test_two_stores_at_once_keep_apart(tmp_path: Path) -> None:
    files = [client.session(tmp_path / "in" / client.name, "mixed") for client in CLIENTS]
    stream = pond("convert", *(tmp_path / "in" / client.name for client in CLIENTS), "--to", "canonical")
    agents = [event["source_agent"] for event in _events(stream) if event["kind"] == "session"]
    assert sorted(agents) == ["claude-code", "codex"]
    for client, file in zip(CLIENTS, files, strict=True):
        own = pond("convert", file, "--to", "canonical").out
        assert own in stream.out, client.name


def test_several_sessions_cannot_go_to_one_native_stream(tmp_path: Path) -> None:
    for seed in ("a", "b"):
        CODEX.session(tmp_path / "in", seed)
    done = pond("convert", tmp_path / "in", "--to", "codex")
    assert (done.code, done.out) == (2, b"")
    assert [f.code for f in done.errors] == ["output-several"], done.err


@pytest.mark.parametrize("option", ["--to", "--from"])
def test_an_unknown_client_is_refused_by_name(option: str, tmp_path: Path) -> None:
    file = CODEX.session(tmp_path, "unknown")
    other = [] if option == "--to" else ["--to", "canonical"]
    done = pond("convert", file, option, "abacus", *other)
    assert (done.code, done.out) == (2, b"")
    assert "abacus" in done.err
    assert "claude-code" in done.err, "a refusal lists what there is"


@pytest.mark.parametrize(
    "words", [["convert"], ["convert", "--to", "codex"], ["abacus"], ["convert", "x", "--size", "2"]]
)
def test_bad_usage_is_exit_2(words: list[str]) -> None:
    done = pond(*words)
    assert done.code == 2
    assert done.err
    assert done.out == b""


@pytest.mark.rule("model-project-non-empty")
def test_a_project_can_be_said(tmp_path: Path) -> None:
    records = CLAUDE_CODE.records(session_id("homeless"), 1)
    lines = b"\n".join(dumps([{k: v for k, v in record.items() if k != "cwd"} for record in records]))
    refused = pond("convert", "-", "--to", "canonical", stdin=lines)
    assert refused.code != 0
    assert "source-no-project" in [f.code for f in refused.errors], refused.err
    said = _events(pond("convert", "-", "--to", "canonical", "--project", "/srv/orrery", stdin=lines))
    assert said[0]["project"] == "/srv/orrery"
    back = pond("convert", "-", "--to", "claude-code", stdin=b"\n".join(dumps(said)))
    assert values(back.out) == values(lines), "what a person said is not what the client wrote"


@pytest.mark.rule("adapter-integrity-no-silent-drops")
@both_clients
def test_a_broken_canonical_event_is_named(client: Client, tmp_path: Path) -> None:
    good = pond("convert", client.session(tmp_path, "broken"), "--to", "canonical").out.splitlines()
    done = pond("convert", "-", "--to", client.name, stdin=b"\n".join([*good, b'{"kind":"planet","id":"x"}', b"{"]))
    assert done.code != 0
    assert {f.line for f in done.errors} >= {len(good) + 1, len(good) + 2}, done.err


# --- convert: what stays ------------------------------------------------------------------------------------------


def _stamps(directory: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(file): (file.stat().st_mtime_ns, file.stat().st_ino, file.read_bytes())
        for file in directory.rglob("*")
        if file.is_file()
    }


@both_clients
def test_a_second_run_changes_nothing(client: Client, tmp_path: Path) -> None:
    for seed in ("a", "b"):
        client.session(tmp_path / "in", seed)
    file = client.session(tmp_path / "in", "c")
    runs: list[list[str | Path]] = [
        ["convert", tmp_path / "in", "--to", client.name, "-o", tmp_path / "out"],
        ["convert", file, "--to", client.name, "-o", tmp_path / "out" / "one.jsonl"],
        ["convert", file, "--to", "canonical", "-o", tmp_path / "out" / "canonical.jsonl"],
    ]
    for words in runs:
        assert pond(*words).code == 0
        before = _stamps(tmp_path / "out")
        assert before
        again = pond(*words)
        assert (again.code, again.errors) == (0, []), again.err
        assert _stamps(tmp_path / "out") == before


@both_clients
def test_a_different_file_is_never_overwritten(client: Client, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("somebody's own notes\n")
    done = pond("convert", client.session(tmp_path / "in", "refused"), "--to", client.name, "-o", out)
    assert done.code == 1
    assert [(Path(f.file).name, f.code) for f in done.errors] == [("out.jsonl", "output-exists")], done.err
    assert out.read_text() == "somebody's own notes\n"


def test_in_a_directory_only_the_different_file_is_refused(tmp_path: Path) -> None:
    for seed in ("a", "b"):
        CODEX.session(tmp_path / "in", seed)
    taken, free = (tmp_path / "out" / CODEX.path(session_id(seed)) for seed in ("a", "b"))
    taken.parent.mkdir(parents=True)
    taken.write_text("somebody's own notes\n")
    done = pond("convert", tmp_path / "in", "--to", "codex", "-o", tmp_path / "out")
    assert done.code != 0
    assert [(Path(f.file).name, f.code) for f in done.errors] == [(taken.name, "output-exists")], done.err
    assert taken.read_text() == "somebody's own notes\n"
    assert values_of(free) == values_of(tmp_path / "in" / CODEX.path(session_id("b")))


@both_clients
def test_sources_are_never_touched(client: Client, tmp_path: Path) -> None:
    client.session(tmp_path / "in", "source")
    before = _stamps(tmp_path / "in")
    assert pond("convert", tmp_path / "in", "--to", client.name, "-o", tmp_path / "out").code == 0
    assert pond("verify", tmp_path / "in").code == 0
    assert _stamps(tmp_path / "in") == before


# --- summaries ----------------------------------------------------------------------------------------------------


def _summary(text: bytes | str) -> dict[str, Any]:
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


@both_clients
def test_the_json_summary_goes_where_the_output_does_not(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "summary")
    lines = len(file.read_bytes().splitlines())
    to_file = pond("convert", file, "--to", client.name, "-o", tmp_path / "out.jsonl", "--json")
    to_stdout = pond("convert", file, "--to", client.name, "--json")
    assert (to_file.code, to_stdout.code) == (0, 0)
    assert values(to_stdout.out) == values_of(file)
    for summary in (_summary(to_file.out), _summary(to_stdout.err)):
        assert (summary["files"], summary["records"], summary["sessions"]) == (1, lines, 1)
        assert summary["faults"] == []
        assert isinstance(summary["drift"], dict)


@both_clients
def test_the_json_summary_lists_typed_faults(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "faulty")
    with file.open("ab") as more:
        more.write(b"{]\n{\n")
    lines = len(file.read_bytes().splitlines())
    done = pond("convert", file, "--to", client.name, "-o", tmp_path / "out.jsonl", "--json")
    assert done.code == 1
    faults = _summary(done.out)["faults"]
    assert [(f["code"], f["severity"], Path(f["file"]).name, f["line"]) for f in faults] == [
        ("source-not-json", "error", file.name, lines - 1),
        ("source-not-json", "error", file.name, lines),
    ]
    assert all(f["message"] and f["code"] in CODES for f in faults)


@both_clients
def test_drift_is_reported_and_is_no_error(client: Client, tmp_path: Path) -> None:
    records = client.records(session_id("drift"), 1)
    inner = "message" if client is CLAUDE_CODE else "payload"
    new_kind = {**records[-1], "type": "brand-new"}
    said = next(record for record in records if "where is Saturn" in json.dumps(record))
    new_field = {**said, inner: {**said[inner], "brandNew": 1}}
    file = client.file(tmp_path / "in", session_id("drift"), dumps([*records, new_kind, new_field]))
    done = pond("convert", file, "--to", client.name, "-o", tmp_path / "out.jsonl", "--json")
    assert done.code == 0, done.err
    drift = json.dumps(_summary(done.out)["drift"])
    assert "brand-new" in drift
    assert "brandNew" in drift
    assert values_of(tmp_path / "out.jsonl") == values_of(file)


# --- verify, clients, map -----------------------------------------------------------------------------------------


@lossless
@both_clients
def test_verify_proves_and_counts(client: Client, tmp_path: Path) -> None:
    files = [client.session(tmp_path / "in", seed) for seed in ("a", "b")]
    records = sum(len(file.read_bytes().splitlines()) for file in files)
    done = pond("verify", tmp_path / "in")
    assert done.code == 0, done.err
    [row] = [line.split() for line in done.out.decode().splitlines() if line.split()[:1] == [client.name]]
    assert row[1:5] == ["2", str(records), str(records), "0"]
    assert _summary(pond("verify", tmp_path / "in", "--json").out)


@both_clients
def test_verify_finds_faults(client: Client, tmp_path: Path) -> None:
    file = client.session(tmp_path / "in", "faulty")
    file.write_bytes(file.read_bytes() + b"{\n")
    done = pond("verify", tmp_path / "in")
    assert done.code == 1
    # The faults are part of verify's report, so they are under its table.
    told = Done(done.code, b"", done.out.decode())
    assert told.places() == [(file.name, len(file.read_bytes().splitlines()), "source-not-json")]


_TAKERS = {"verify": [], "convert": ["--to", "canonical"], "ingest": ["--lake"]}


@pytest.mark.parametrize("verb", _TAKERS)
@pytest.mark.parametrize("holds", ["", "notes.txt", "journal.jsonl"])
def test_a_place_without_a_session_is_refused(verb: str, holds: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    if holds:
        (place / holds).write_text("{}\n")
    more = [*_TAKERS[verb], str(tmp_path / "lake")] if verb == "ingest" else _TAKERS[verb]
    done = pond(verb, place, *more)
    assert [(fault.file, fault.line, fault.code) for fault in done.errors] == [(str(place), None, "source-none")], (
        done.err
    )
    assert done.code == 2


def test_an_empty_place_beside_a_session_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    done = pond("verify", tmp_path / "place", CLAUDE_CODE.session(tmp_path / "in", "beside"))
    assert (done.code, done.errors) == (0, [])


@pytest.mark.parametrize("verb", ["convert", "verify", "ingest"])
@pytest.mark.rule("adapter-integrity-no-silent-drops")
def test_results_without_their_log_are_named(verb: str, tmp_path: Path) -> None:
    here = CLAUDE_CODE.session(tmp_path / "in", "whole")
    for session in (here.stem, session_id("gone")):
        (here.parent / session / "tool-results").mkdir(parents=True)
        (here.parent / session / "tool-results" / "toolu_01.txt").write_text("Saturn")
    more = {"convert": ["--to", "canonical"], "verify": [], "ingest": ["--lake", f"{tmp_path}/lake"]}
    done = pond(verb, tmp_path / "in", *more[verb])
    assert done.code == 0, done.err
    told = [line for line in (done.err + done.out.decode()).splitlines() if "source-orphan" in line]
    assert len(told) == 1
    assert told[0].startswith(str(here.parent / session_id("gone") / "tool-results"))
    assert told[0].endswith("toolu_01.txt")
    assert "did not have the type" not in done.out.decode()


def test_verify_of_what_nobody_recognises_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text('{"a":1}\n')
    done = pond("verify", tmp_path / "other.jsonl")
    assert b"source-unrecognised" in done.out
    assert done.code == 2
    beside = pond("verify", tmp_path / "other.jsonl", CLAUDE_CODE.session(tmp_path / "in", "beside"))
    assert beside.code == 1


def test_a_fault_of_a_whole_file_names_no_line(tmp_path: Path) -> None:
    taken = tmp_path / "loss.jsonl"
    taken.write_text("mine\n")
    file = CLAUDE_CODE.session(tmp_path / "in", "whole")
    asked: list[str | Path] = ["convert", file, "--to", "codex", "-o", f"{tmp_path}/out/", "--loss-report", taken]
    done = pond(*asked)
    assert done.code == 1
    (line,) = [line for line in done.err.splitlines() if "output-exists" in line]
    assert line.startswith(f"{taken}: output-exists: ")
    assert "another file" in line
    assert "to continue" in done.err  # what was converted is told all the same
    told = json.loads(pond(*asked, "--json").out)
    assert [("line" in fault, fault["file"]) for fault in told["faults"]] == [(False, str(taken))]
    assert taken.read_text() == "mine\n"


def test_verify_of_nothing_is_refused(tmp_path: Path) -> None:
    done = pond("verify", tmp_path / "absent")
    assert done.code == 2
    assert done.errors


def test_clients_are_listed() -> None:
    text = pond("clients")
    assert text.code == 0
    for client in CLIENTS:
        assert client.name in text.out.decode()
    listed = pond("clients", "--json")
    assert listed.code == 0
    assert {client.name for client in CLIENTS} <= set(_names(json.loads(listed.out)))


def _names(value: Any) -> list[str]:
    """Return every string in a JSON value, keys too."""
    if isinstance(value, dict):
        return [*value, *(name for member in value.values() for name in _names(member))]
    if isinstance(value, list):
        return [name for item in value for name in _names(item)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize(
    "words", [["--help"], ["convert", "--help"], ["verify", "--help"], ["clients", "--help"], ["map", "--help"]]
)
def test_help_says_what_there_is(words: list[str]) -> None:
    done = pond(*words)
    assert (done.code, done.err) == (0, "")
    text = done.out.decode()
    expected = {
        "--help": ["convert", "verify", "clients", "map"],
        "convert": ["--to", "--from", "-o", "--project", "--json", "canonical"],
        "verify": ["--json"],
        "clients": ["--json"],
        "map": ["check", "fmt", "explain"],
    }
    for word in expected[words[0]]:
        assert word in text, text
    assert max(map(len, text.splitlines())) <= 120


def test_the_version_is_told() -> None:
    done = pond("--version")
    assert done.code == 0
    from pond._version import __version__

    assert __version__ in done.out.decode()


# --- quiet and quick ----------------------------------------------------------------------------------------------


@both_clients
def test_a_healthy_convert_is_quiet_in_a_pipe(client: Client, tmp_path: Path) -> None:
    for n in range(30):
        client.session(tmp_path / "in", f"quiet {n}", turns=20)
    done = pond("convert", tmp_path / "in", "--to", client.name, "-o", tmp_path / "out")
    assert (done.code, done.out, done.errors) == (0, b"", [])
    first, *steps = done.err.splitlines()
    assert first == "pond: to continue:", done.err
    assert [line for line in steps if "resume" not in line and "cp -Rpn" not in line and "/home/mira" not in line] == [
        "pond: and 27 more sessions (--json has all)"
    ]


def test_a_long_convert_shows_progress_on_a_terminal(tmp_path: Path) -> None:
    for n in range(size(40, 16)):
        CODEX.session(tmp_path / "in", f"slow {n}", turns=1500)
    own, theirs = pty.openpty()
    process = subprocess.Popen(
        command(["convert", tmp_path / "in", "--to", "codex", "-o", tmp_path / "out"]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment(TERM="xterm"),
    )
    os.close(theirs)
    seen = shown(own)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out == b"", "progress goes to stderr"
    assert b"Traceback" not in seen
    assert seen.count(b"\r") > 1
    assert b"%" in seen


HEAVY = ("lance", "pyarrow", "pydantic", "lark", "rich")


@pytest.mark.parametrize("what", ["--help", "convert", "options", "canonical", "faulty"])
def test_what_a_convert_does_not_need_is_not_imported(what: str, tmp_path: Path) -> None:
    file = CLAUDE_CODE.session(tmp_path, "small")
    words: list[str | Path] = ["convert", file, "--to", "canonical"]
    if what == "--help":
        words = ["--help"]
    elif what == "options":
        words += ["--from", "claude-code", "-o", tmp_path / "out.jsonl", "--project", "p", "--json"]
    elif what == "canonical":
        canonical = tmp_path / "canonical.jsonl"
        canonical.write_bytes(pond(*words).out)
        words = ["convert", canonical, "--to", "claude-code"]
    elif what == "faulty":
        file.write_bytes(file.read_bytes() + b"{\n")
    watched = [sys.executable, "-X", "importtime", *POND[1:], *map(str, words)]
    done = subprocess.run(watched, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == (what == "faulty"), done.stderr[-2000:]
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "pond" in imported
    assert [name for name in sorted(imported) if name.split(".")[0] in HEAVY] == []


def _cpu(words: list[str], times: int) -> float:
    """Return the least CPU time, user and system, that `words` took."""
    least = float("inf")
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return least


@both_clients
def test_a_small_convert_costs_little_more_than_starting(client: Client, tmp_path: Path) -> None:
    """Compare with a neighbour measured at the same moment: seconds mean nothing on a machine that others use."""
    turns = 20
    while (file := client.session(tmp_path, "quick", turns)).stat().st_size < 100_000:
        turns += 4
    ratios = []
    for _ in range(5):
        start_up = _cpu([sys.executable, "-c", "import typer"], 5)
        convert = _cpu(command(["convert", file, "--to", "canonical"]), 5)
        ratios.append(round(convert / start_up, 2))
        if ratios[-1] <= 2.5:
            return
    pytest.fail(f"a 100 KB convert takes {ratios} times the CPU of `import typer`; at most 2.5 is promised")


def test_an_exact_value_is_what_the_tests_compare() -> None:
    """The oracle itself: what value-equal distinguishes and what it does not."""
    assert exact("1") != exact("1.0")
    assert exact("true") != exact("1")
    assert exact("-0.0") != exact("0.0")
    assert exact("1e400") != exact("1e401")
    assert exact("NaN") == exact("NaN")
    assert exact('{"a":1.0,"b":[1e3]}') == exact('{ "b":[1000.0], "a":1.00 }')


def test_sessions_of_one_name_come_back_where_they_were(tmp_path: Path) -> None:
    """Outside a store every file may have the same name; the directory tells them apart, there and back."""
    store = tmp_path / "in"
    for n in range(3):
        made = CLAUDE_CODE.session(tmp_path / f"made{n}", f"copy {n}")
        place = store / str(n) / "full.jsonl"
        place.parent.mkdir(parents=True)
        place.write_bytes(made.read_bytes())
    assert pond("convert", store, "--to", "canonical", "-o", tmp_path / "middle").code == 0
    assert pond("convert", tmp_path / "middle", "--to", "claude-code", "-o", tmp_path / "back").code == 0
    for n in range(3):
        assert values_of(tmp_path / "back" / str(n) / "full.jsonl") == values_of(store / str(n) / "full.jsonl")
