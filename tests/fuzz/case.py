"""One case: a store drawn from a number, put through all commands."""

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.fuzz.roads import Journey
from tests.fuzz.running import as_process, in_process
from tests.fuzz.stores import build

AS_PROCESS = 50  # each case of so many runs the real commands


@dataclass(frozen=True)
class Outcome:
    """What became of a case; `kept` is where its store is, where something is wrong."""

    number: int
    files: int
    records: int
    wrong: list[str]
    kept: str = ""


def examine(seed: int, number: int) -> Outcome:
    """Draw a store and put it through all commands."""
    dice = Random(f"{seed} {number}")
    room = Path(tempfile.mkdtemp(prefix=_name(seed, number)))
    # Here one process does it all: others would be forked from one in which Lance runs.
    run, jobs = (as_process, 2) if number % AS_PROCESS == AS_PROCESS - 1 else (in_process, 1)
    journey = Journey(build(dice), room, run, dice, jobs)
    wrong = journey.wrong()
    records = sum(source.records for source in journey.sources)
    if not wrong:
        remove(room)
    return Outcome(number, len(journey.sources), records, wrong, str(room) if wrong else "")


def rooms(seed: int, number: int) -> list[Path]:
    """Return where the store of a case is, or was left by a process that died."""
    return sorted(Path(tempfile.gettempdir()).glob(f"{_name(seed, number)}*"))


def _name(seed: int, number: int) -> str:
    return f"pond-fuzz-{seed}-{number}-"


def remove(room: Path) -> None:
    """Remove a room, locked folders and all."""
    for folder, _, _ in os.walk(room):
        os.chmod(folder, 0o700)
    shutil.rmtree(room)
