"""Work in other processes: every result comes, in order, and no process outlives the one that asked."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pond.codec.workers import DIED, spread
from tests.house.tree import ROOT


def test_results_come_in_the_order_of_their_numbers() -> None:
    def work(number: int) -> tuple[int, bytes]:
        time.sleep(0.002 * (number % 3))
        return number, b"x" * (number * 5_000)  # longer than a pipe holds at once

    found = list(spread(work, list(reversed(range(40))), 3))
    assert found == [(number, b"x" * (number * 5_000)) for number in range(40)]


def test_the_work_is_begun_in_the_order_given(tmp_path: Path) -> None:
    def work(number: int) -> None:
        with open(tmp_path / "begun", "a") as file:
            file.write(f"{number} ")

    assert list(spread(work, [2, 0, 3, 1], 1)) == [None] * 4
    assert (tmp_path / "begun").read_text() == "2 0 3 1 "


def test_a_process_that_is_killed_takes_only_its_own_work_along() -> None:
    def work(number: int) -> int:
        if number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    assert list(spread(work, range(8), 2)) == [0, 1, 2, DIED, 4, 5, 6, 7]


def test_where_all_are_killed_the_rest_is_told_too() -> None:
    def work(number: int) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return number

    assert list(spread(work, range(5), 2)) == [DIED] * 5


def test_a_fault_of_the_work_is_raised_here() -> None:
    def work(number: int) -> int:
        if number == 1:
            raise ZeroDivisionError("by number 1")
        return number

    results = spread(work, range(4), 2)
    assert next(results) == 0
    with pytest.raises(ZeroDivisionError, match="by number 1"):
        next(results)


def test_whoever_stops_asking_stops_the_processes(tmp_path: Path) -> None:
    def work(number: int) -> int:
        if number:
            (tmp_path / str(os.getpid())).touch()
            time.sleep(60)
        return number

    results = spread(work, range(3), 2)
    assert next(results) == 0
    while len(list(tmp_path.iterdir())) < 2:
        time.sleep(0.005)
    begun = time.monotonic()
    results.close()
    assert time.monotonic() - begun < 30
    for process in tmp_path.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(process.name), 0)


_STOPPED_AT_BIRTH = """
import os, signal
from pond.codec import workers

fork = os.fork

def fork_and_stop():
    process = fork()
    if not process:
        os.kill(os.getpid(), signal.SIGINT)
    return process

os.fork = fork_and_stop
assert list(workers.spread(str, range(3), 2)) == [workers.DIED] * 3
"""


def test_a_process_that_is_stopped_as_it_begins_says_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", _STOPPED_AT_BIRTH], capture_output=True, timeout=60, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
