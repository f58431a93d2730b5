"""`kill -9` of a command and all it started, at a chosen point of its work.

A clock alone would put most points into the start of the interpreter. So the work done is counted from outside - names
that come and go below a directory, requests that reach a proxy - and a point is a count and a little time after it.
"""

import contextlib
import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

LIMIT = 60.0  # seconds that a command may take
_POLL = 0.001
_PROCESSES = Path("/proc")  # where the system shows them

Progress = Callable[[], int]  # how much has been done since it was made; never less than before


@dataclass(frozen=True)
class Point:
    """When to kill: `seconds` after `count` of the work has been seen."""

    count: int
    seconds: float


@dataclass(frozen=True)
class Ending:
    """How a command ended: its exit code, None when it was killed; what had been done, and how long that took."""

    code: int | None
    done: int
    seconds: float  # since the first thing was done, or since the start where nothing was
    output: str

    @property
    def killed(self) -> bool:
        """Say whether it was killed, not ended by itself."""
        return self.code is None


class Tree:
    """Count the names that have come or gone below a directory, which need not exist yet."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names = set(_names(str(root)))
        self._count = 0

    def __call__(self) -> int:
        names = set(_names(str(self._root)))
        self._count += len(names ^ self._names)
        self._names = names
        return self._count


def _names(directory: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(directory))
    except (FileNotFoundError, NotADirectoryError):  # not there yet, or gone while it was looked at
        return
    for entry in entries:
        yield entry.path
        if entry.is_dir(follow_symlinks=False):
            yield from _names(entry.path)


def run(
    command: list[str],
    progress: Progress,
    point: Point | None = None,
    environment: Mapping[str, str] | None = None,
    limit: float = LIMIT,
) -> Ending:
    """Run `command` in a process group of its own, to its end or to `point`; nothing of it is left running."""
    with tempfile.TemporaryFile() as out:  # a pipe that nobody empties would stop a command that says much
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            done, taken = _watch(process, progress, point, limit)
        finally:
            _end(process)
        out.seek(0)
        output = out.read().decode("utf-8", "replace")
    killed = process.returncode == -signal.SIGKILL
    return Ending(None if killed else process.returncode, done, taken, output)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what there is of the group, also what a command that has ended left behind, and wait until it is dead."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        end = time.monotonic() + LIMIT
        while _runs(process.pid):
            if time.monotonic() > end:
                raise TimeoutError(f"process group {process.pid} does not die")
            time.sleep(_POLL)


def _runs(group: int) -> bool:
    """Say whether a thread of the group is not dead; the dead may wait long for the system's first process."""
    os.killpg(group, 0)  # no such process: nobody is left at all
    if not _PROCESSES.is_dir():
        return True
    return any(state not in "ZX" for state in _states(group))


def _states(group: int) -> Iterator[str]:
    for each in _PROCESSES.glob("[0-9]*/task/*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            state, _, its_group = each.read_text(errors="replace").rpartition(")")[2].split()[:3]
            if int(its_group) == group:
                yield state


def _watch(
    process: subprocess.Popen[bytes], progress: Progress, point: Point | None, limit: float
) -> tuple[int, float]:
    """Wait until the command has ended or `point` is reached; return the work done and the time it took."""
    start = time.monotonic()
    first = reached = None
    while process.poll() is None:
        done, now = progress(), time.monotonic()
        if first is None and done:
            first = now
        if reached is None and point is not None and done >= point.count:
            reached = now
        if point is not None and reached is not None and now >= reached + point.seconds:
            return done, now - (first or start)
        if now > start + limit:
            raise TimeoutError(f"{process.args!r} was still running after {limit} seconds")
        time.sleep(_POLL)
    return progress(), time.monotonic() - (first or start)


def points(whole: Ending, count: int, seed: int) -> list[Point]:
    """Draw `count` points, spread evenly over the work of a run that was not killed, in random order.

    Each of the equal slices of the work gets one point; within a slice it lies anywhere. What a point has beyond a
    whole step is waited for, as that share of the mean time of a step.
    """
    drawn = random.Random(seed)
    places = [(each + drawn.random()) * whole.done / count for each in range(count)]
    drawn.shuffle(places)
    return [Point(int(place), place % 1 * whole.seconds / max(whole.done, 1)) for place in places]
