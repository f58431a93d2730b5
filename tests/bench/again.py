"""What a lake costs day by day: nothing has changed, or a session has grown by a few records."""

import random
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import orjson

from tests.bench.corpus import CLIENTS, SEED, Session, Texts, path_of, records
from tests.bench.figures import Figure
from tests.bench.lakes import Lakes, ingest
from tests.bench.watch import Taken, watched

UNCHANGED_LIMIT, GROWN_LIMIT = 2.0, 1.5
_RECORDS = 10
_SHORT = 0.1  # MB
# The least that anything over Lance must do to see that nothing has changed.
_LOOK = """
import lance, os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        os.stat(os.path.join(folder, name))
"""


def unchanged(lakes: Lakes, rounds: int) -> list[Figure]:
    """Measure a second ingest of many files that are as they were."""
    lake = lakes.tiny_lake.lake
    runs = [ingest(lakes.tiny, lake).taken.cpu for _ in range(rounds)]
    looks = [watched([sys.executable, "-c", _LOOK, str(lakes.tiny)]).cpu for _ in range(rounds)]
    detail = {"x import lance and stat": min(runs) / min(looks), "import lance and stat": min(looks)}
    detail["first time"] = lakes.tiny_lake.taken.cpu
    name = f"{lakes.scale.files} files again"
    return [Figure(name, min(runs), "CPU s", UNCHANGED_LIMIT, at_least=False, detail=detail)]


class _Growing:
    """A session file that grows."""

    def __init__(self, client: str, megabytes: float, directory: Path) -> None:
        dice = random.Random(f"{SEED}/{client}/growing")
        session = Session(Texts(dice), 0)
        self._lines = (orjson.dumps(record) + b"\n" for record in records(client, session, dice))
        self.file = directory / f"growing-{client}-{megabytes:g}" / path_of(client, session)
        self.file.parent.mkdir(parents=True)
        self._write(_up_to(self._lines, megabytes * 1e6))

    def grow(self) -> None:
        """Add a few records."""
        self._write(islice(self._lines, _RECORDS))

    def _write(self, lines: Iterator[bytes]) -> None:
        with self.file.open("ab") as out:
            out.writelines(lines)


def _up_to(lines: Iterator[bytes], size: float) -> Iterator[bytes]:
    written = 0
    while written < size:
        line = next(lines)
        written += len(line)
        yield line


def grown(lakes: Lakes, rounds: int) -> list[Figure]:
    """Measure ingest after ten records were added to a long file, against ten added to a short one."""
    detail: dict[str, float] = {}
    for client in CLIENTS:
        short, long = (_added(client, size, lakes, rounds) for size in (_SHORT, lakes.scale.grown))
        detail |= {client: long.cpu / short.cpu, f"{client} CPU s": long.cpu, f"{client} wall": long.wall / short.wall}
    worst = max(detail[client] for client in CLIENTS)
    name = f"ten more in {lakes.scale.grown:g} MB"
    return [Figure(name, worst, "x in 100 KB", GROWN_LIMIT, at_least=False, detail=detail)]


def _added(client: str, megabytes: float, lakes: Lakes, rounds: int) -> Taken:
    growing = _Growing(client, megabytes, lakes.directory)
    lake = lakes.fresh(f"growing-{client}-{megabytes:g}")
    ingest(growing.file, lake)
    runs = []
    for _ in range(2 * rounds):
        growing.grow()
        run = ingest(growing.file, lake)
        assert run.rows > 0, "nothing was new"
        runs.append(run.taken)
    growing.file.unlink()
    return min(runs, key=lambda taken: taken.cpu)
