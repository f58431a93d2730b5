"""What a command takes, with every process it starts. Run as a program it watches one, and prints that as JSON."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
POND = [sys.executable, "-m", "pond.cli.main"]
_PAUSE, _RARELY = 0.05, 10  # seconds between two looks, and how many of them to a look at shared pages


@dataclass(frozen=True)
class Taken:
    """Time in seconds, memory in MB."""

    wall: float
    cpu: float  # of all processes
    largest: float  # the peak of the largest process
    peaks: float  # the sum of all processes' own peaks; 0 where the system does not show them
    together: float  # the greatest sum at one moment, with pages that processes share counted once
    output: str = ""


def watched(words: Sequence[str], environment: Mapping[str, str] | None = None) -> Taken:
    """Run `words` to a successful end; return what it took, and what it printed."""
    # Without PYTHON* variables: one of them forbids to keep compiled modules, which nobody's installation does.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    # A child's peak counts the memory of the process it was forked from, up to the moment it becomes another program;
    # so the fork is made by a process that has hardly any.
    done = subprocess.run(
        [sys.executable, "-S", "-E", __file__, *words], env={**kept, **(environment or {}), "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    *printed, last = done.stdout.splitlines()
    code, taken = json.loads(last)
    if code != 0:
        raise RuntimeError(f"exit code {code} from {' '.join(words)}\n{done.stderr}")
    return Taken(**taken | {"output": "\n".join(printed)})


def _watch(words: list[str]) -> tuple[int, Taken]:
    start = time.perf_counter()
    child = os.posix_spawn(words[0], words, os.environ)
    peaks: dict[int, float] = {}
    together, looks = 0.0, 0
    while True:
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            break
        family = _family(child)
        for process in family:
            peaks[process] = max(peaks.get(process, 0.0), _kilobytes(process, "status", "VmHWM:"))
        if looks % _RARELY == 0:
            together = max(together, sum(_kilobytes(process, "smaps_rollup", "Pss:") for process in family))
        looks += 1
        time.sleep(_PAUSE)
    wall = time.perf_counter() - start
    largest = used.ru_maxrss / 1024 if sys.platform == "darwin" else used.ru_maxrss
    code = os.waitstatus_to_exitcode(status)
    cpu = used.ru_utime + used.ru_stime  # of its children too, since it waited for them
    return code, Taken(wall, cpu, largest / 1000, sum(peaks.values()) / 1000, together / 1000)


def _family(process: int) -> list[int]:
    """Return a process and all that descend from it; only itself where the system does not tell."""
    found = [process]
    try:
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text().split():
                found += _family(int(child))
    except OSError:
        pass  # it ended meanwhile, or there is no /proc
    return found


def _kilobytes(process: int, file: str, name: str) -> float:
    try:
        with Path(f"/proc/{process}/{file}").open() as lines:
            return next((float(line.split()[1]) for line in lines if line.startswith(name)), 0.0)
    except OSError:
        return 0.0


if __name__ == "__main__":
    code, taken = _watch(sys.argv[1:])
    print(json.dumps([code, asdict(taken)]))
