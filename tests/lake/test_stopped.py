"""An ingest that is asked to stop, and one that loses a reading process."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pond.codec.workers import DIED, Pool
from pond.sessions.lake import opened
from tests.cli.command import finish, pond, start
from tests.lake import crash
from tests.lake.logs import Logs
from tests.lake.sound import Content, content, differences, unsound

LIMIT = 60.0  # seconds


def _begin(sources: Logs, lake: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start an ingest with two reading processes, in a group of its own."""
    variables = {"POND_INGEST_ROWS_PER_COMMIT": str(crash.ROWS)}
    arguments: list[str | Path] = ["ingest", "--lake", lake, "--jobs", "2", *words, sources.root]
    return start(*arguments, before=os.setsid, variables=variables)


def _wait_for(path: Path) -> None:
    end = time.monotonic() + LIMIT
    while not path.exists():
        assert time.monotonic() < end, f"{path} does not come"
        time.sleep(0.001)


def _children(process: int) -> list[int]:
    """List the processes that a process has started, oldest first."""
    found = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = (map(int, line.split()) for line in found.splitlines())
    return sorted(own for own, parent in pairs if parent == process)


def _nobody_is_left(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("table", ["sessions", "ledger"])  # at the first table, and when the rows begin to come
@pytest.mark.parametrize(
    ("how", "words"),
    [(signal.SIGINT, ()), (signal.SIGTERM, ()), (signal.SIGTERM, ("--",))],
    ids=["interrupt", "terminate", "terminate, read by typer"],
)
def test_an_ingest_that_is_stopped_ends_its_readers_and_leaves_a_sound_lake(
    sources: Logs, whole: Content, tmp_path: Path, how: signal.Signals, words: tuple[str, ...], table: str
) -> None:
    lake = tmp_path / "lake"
    process = _begin(sources, lake, *words)
    _wait_for(lake / f"{table}.lance")
    # Ctrl-C reaches the whole group; a service manager speaks to the one process it knows.
    (os.killpg if how is signal.SIGINT else os.kill)(process.pid, how)
    done = finish(process)
    assert (done.code, done.err) == (128 + how, "pond: interrupted\n")
    assert _nobody_is_left(process.pid)
    assert unsound(opened(crash.settings(lake)), whole) == []
    crash.take_in(lake, sources.root)
    assert differences(content(opened(crash.settings(lake))), whole) == []


def test_a_reading_process_that_is_killed_costs_one_file_for_now(sources: Logs, whole: Content, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    process = _begin(sources, lake)
    readers = _two_readers(process)
    # The first gets the largest file, and does not begin with it.
    os.kill(readers[-1], signal.SIGSTOP)
    _wait_for(lake / "ledger.lance")
    time.sleep(0.3)
    os.kill(readers[-1], signal.SIGKILL)
    done = finish(process)
    largest = max(sources.whole, key=lambda file: len(sources.whole[file]))
    assert done.code == 1
    assert [(fault.file, fault.reason) for fault in done.errors] == [(str(largest), "the process that read it crashed")]
    assert unsound(opened(crash.settings(lake)), whole) == []
    again = pond("ingest", sources.root, "--lake", lake, "--jobs", "2")
    assert again.code == 0
    assert b"1 new" in again.out
    assert differences(content(opened(crash.settings(lake))), whole) == []


def _two_readers(process: subprocess.Popen[bytes]) -> list[int]:
    end = time.monotonic() + LIMIT
    while len(found := _children(process.pid)) < 2:
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.001)
    return found


# --- the pool itself -------------------------------------------------------------------------------------------------


def _work(task: str) -> Iterator[str]:
    if task == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if task == "fail":
        raise ZeroDivisionError("a mistake of ours")
    yield f"{task} done"


def _run(tasks: list[str]) -> list[tuple[str, object]]:
    with contextlib.closing(Pool(_work, 1)) as pool:
        return list(pool.run(iter(tasks)))


def test_a_process_that_died_is_stood_in_for() -> None:
    assert _run(["a", "die", "b"]) == [("a", "a done"), ("a", None), ("die", DIED), ("b", "b done"), ("b", None)]


@pytest.mark.parametrize("before", [[], ["die"]], ids=["in a process", "in its stand-in"])
def test_a_mistake_of_ours_costs_its_own_task(before: list[str]) -> None:
    caught: list[tuple[str, object]] = []
    # One that waits for ever shall not keep the tests.
    thread = threading.Thread(target=lambda: caught.extend(_run([*before, "fail", "b"])), daemon=True)
    thread.start()
    thread.join(LIMIT / 6)
    (task, error), *rest = caught[len(before) :]
    assert (task, str(error), type(error)) == ("fail", "a mistake of ours", ZeroDivisionError)
    assert rest == [("fail", None), ("b", "b done"), ("b", None)]
