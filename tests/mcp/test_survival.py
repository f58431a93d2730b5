"""Servers are killed at any moment, lose their pipes, run beside each other and a sync: nothing is left or lost."""

import json
import os
import random
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tests.mcp.talking import GREETING, PATIENCE, Talk, conversation, start, store, talking
from tests.size import size

_REQUESTS = [
    {"method": "initialize", "params": GREETING},
    {"method": "tools/list", "params": {}},
    {"method": "tools/call", "params": {"name": "pond_search", "arguments": {"query": "lamp"}}},
    {"method": "tools/call", "params": {"name": "pond_get", "arguments": {"session_id": "oak"}}},
    {
        "method": "tools/call",
        "params": {"name": "pond_sql_query", "arguments": {"query": "select 1", "output": "ndjson"}},
    },
    {"method": "resources/read", "params": {"uri": "stats://pond"}},
]
_LINES = b"".join(json.dumps({"jsonrpc": "2.0", "id": n, **each}).encode() + b"\n" for n, each in enumerate(_REQUESTS))


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("survival") / "lake"
    store(place, conversation("oak", 5))
    return place


def _files(place: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in place.rglob("*") if file.is_file()}


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(PATIENCE)
    finally:
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue


def _ends(place: Path) -> None:
    """Show that the next reader finds the lake as it was."""
    with talking(place) as talk:
        talk.greet()
        assert "=== session [1]" in talk.call("pond_search", query="lamp")
        assert "messages 1-10 of 10" in talk.call("pond_get", session_id="oak")


def test_kills_at_any_moment_leave_nothing_behind(lake: Path) -> None:
    before, choose = _files(lake), random.Random(17)
    for number in range(size(200, 14)):
        process = start(lake)
        assert process.stdin is not None
        process.stdin.write(_LINES)
        process.stdin.flush()
        time.sleep(choose.uniform(0, 3.0 if number % 3 else 0.3))
        process.send_signal(choose.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        _wait(process)
        assert process.stderr is not None
        # 143 and 130: it was told to stop while it was still starting, as any command.
        ends = (0, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, 143, 130)
        assert process.returncode in ends, process.returncode
    assert _files(lake) == before
    _ends(lake)


def test_a_signal_ends_it_without_a_word(lake: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with talking(lake) as talk:
            talk.greet()
            talk.call("pond_search", query="lamp")
            talk.process.send_signal(number)
            assert talk.process.wait(PATIENCE) == 0
            assert talk.process.stderr is not None
            assert talk.process.stderr.read() == b""


def test_pipes_that_break_end_it(lake: Path) -> None:
    choose = random.Random(18)
    for number in range(size(60, 6)):
        process = start(lake)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(_LINES)
        process.stdin.flush()
        for _ in range(choose.randint(0, 3)):
            process.stdout.readline()
        process.stdout.close()
        if number % 2:
            process.stdin.close()
        else:  # it finds out when it answers
            process.stdin.write(_LINES)
            process.stdin.flush()
        assert process.stderr is not None
        told = process.stderr.read()
        _wait(process)
        assert told == b""
        assert process.returncode == 0
    _ends(lake)


def _children(pid: int) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry))
        except (OSError, ValueError):
            continue
    return found


def test_no_process_outlives_it(lake: Path) -> None:
    with talking(lake) as talk:
        talk.greet()
        talk.call("pond_sql_query", query="select count(*) from messages")
        children = _children(talk.process.pid)
        assert children
        talk.process.kill()
        talk.process.wait()
    until = time.monotonic() + PATIENCE
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_client_that_never_reads_standard_error_is_answered(lake: Path, tmp_path: Path) -> None:
    """Every call fails in a way that nobody expected, and pond says so; but only a few times, in few words."""
    script = tmp_path / "sitecustomize.py"
    script.write_text(
        "import sys\nclass Broken:\n    def find_spec(self, name, *more):\n"
        "        if name == 'pond.sessions.lake': raise ZeroDivisionError('x' * 5000)\n"
        "sys.meta_path.insert(0, Broken())\n"
    )
    with talking(lake, PYTHONPATH=f"{tmp_path}:{ROOT}") as talk:
        talk.greet()
        for _ in range(60):
            with pytest.raises(Exception, match="internal: an unexpected error: ZeroDivisionError"):
                talk.call("pond_get", session_id="oak")
        talk.end()
        assert talk.process.stderr is not None
        told = talk.process.stderr.read()
    assert 1 <= len(told.splitlines()) <= 5
    assert len(told) < 2_000


@pytest.fixture
def growing(tmp_path: Path) -> Path:
    place = tmp_path / "lake"
    store(place, conversation("oak", 5))
    return place


def test_two_servers_and_a_sync_on_one_lake(growing: Path) -> None:
    rounds, failures = size(30, 5), list[str]()

    def use(talk: Talk) -> None:
        try:
            talk.greet()
            for number in range(2 * rounds):
                assert "=== session [1]" in talk.call("pond_search", query="lamp"), number
                assert "messages 1-10 of 10" in talk.call("pond_get", session_id="oak"), number
                assert "end." in talk.call("pond_sql_query", query="select count(*) as n from messages"), number
        except BaseException as error:
            failures.append(repr(error))

    with talking(growing) as first, talking(growing) as second:
        threads = [threading.Thread(target=use, args=(talk,)) for talk in (first, second)]
        for thread in threads:
            thread.start()
        for number in range(rounds):
            store(growing, conversation(f"elm{number}", 2, text=f"a beacon {number} of {{n}}"))
        for thread in threads:
            thread.join()
        assert failures == []
        for talk in (first, second):  # what was stored meanwhile is there
            assert "messages 1-" in talk.call("pond_get", session_id=f"elm{rounds - 1}")
            assert "=== session" in talk.call("pond_search", query=f'"beacon {rounds - 1}"')


def test_many_calls_at_once_are_all_answered(lake: Path) -> None:
    with talking(lake) as talk:
        talk.greet()
        for number in range(40):
            asked = _REQUESTS[2 + number % 4]
            talk.send({"jsonrpc": "2.0", "id": f"call-{number}", **asked})
        answers = [talk.line() for _ in range(40)]
    assert sorted(each["id"] for each in answers) == sorted(f"call-{number}" for number in range(40))
    assert [each for each in answers if "error" in each] == []
