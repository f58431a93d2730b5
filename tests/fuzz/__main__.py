"""The second half of `make fuzz`: whole stores, damaged in every way, with every command; exits 1 on harm.

Each case is drawn from the seed and its number, so that it can be replayed.
"""

import argparse
import itertools
import os
import random
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

from tests.fuzz.case import Outcome
from tests.fuzz.crew import Worker

_MOST = 30  # findings that are shown in full
_EACH = 5  # lines about one
_TELL = 50_000  # records between two lines that say how far it is


@dataclass
class Tally:
    """What was examined so far, by all threads."""

    seed: int
    wanted: int
    cases: int = 0
    files: int = 0
    records: int = 0
    harmed: list[Outcome] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def numbers(self) -> Iterator[int]:
        """Yield the numbers of the cases that are left, each to one thread."""
        while self.records < self.wanted:
            yield next(self._numbers)

    def add(self, outcome: Outcome) -> None:
        with self._lock:
            before, self.records = self.records, self.records + outcome.records
            self.cases, self.files = self.cases + 1, self.files + outcome.files
            if outcome.wrong:
                self.harmed.append(outcome)
                if len(self.harmed) <= _MOST:
                    _show(self.seed, outcome)
            if before // _TELL != self.records // _TELL:
                print(f"{self.records:9} records, {len(self.harmed)} cases of {self.cases} with harm", flush=True)


def main() -> int:
    """Examine cases until so many records went through, or only the one asked for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000, help="stop when so many went through")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--case", type=int, help="examine this one alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    warnings.filterwarnings("ignore", "lance is not fork-safe")  # only commands are forked here, and they start fresh
    if given.case is not None:
        return _replay(given.seed, given.case)
    began, tally = time.monotonic(), Tally(given.seed, given.records)
    threads = [threading.Thread(target=_work, args=[tally]) for _ in range(given.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    print(f"seed {given.seed}: {tally.records} records of {tally.files} files in {tally.cases} stores, {seconds:.0f} s")
    print(f"{len(tally.harmed)} stores with harm" if tally.harmed else "nothing lost, nothing untold, no traceback")
    return 1 if tally.harmed else 0


def _replay(seed: int, number: int) -> int:
    with closing(_worker(seed)) as worker:
        outcome = worker.examine(number)
    _show(seed, outcome)
    return 1 if outcome.wrong else 0


def _work(tally: Tally) -> None:
    with closing(_worker(tally.seed)) as worker:
        for number in tally.numbers():
            tally.add(worker.examine(number))


def _worker(seed: int) -> Worker:
    return Worker(seed, os.environ.get("POND_SAMPLES", ""))


def _show(seed: int, outcome: Outcome) -> None:
    """Print what is wrong with a case, where its store is, and how to do it again."""
    if outcome.wrong:
        print("\n".join(f"  {ascii(each)[1:-1]}" for each in outcome.wrong[:_EACH]))  # nothing that steers a terminal
        print(f"  {len(outcome.wrong)} findings; store kept in {outcome.kept or 'nothing'}")
        print(f"  replay: .venv/bin/python -m tests.fuzz --seed {seed} --case {outcome.number}", flush=True)
    else:
        print(f"case {outcome.number}: {outcome.records} records of {outcome.files} files, nothing wrong")


if __name__ == "__main__":
    sys.exit(main())
