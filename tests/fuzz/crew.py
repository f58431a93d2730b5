"""Processes that examine cases: what one of them dies of, or hangs on, is known by its number."""

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import asdict

from tests.cli.command import environment, obey_permissions
from tests.fuzz.case import Outcome, examine, rooms
from tests.house.tree import ROOT

PATIENCE = 240.0  # seconds for a case; only a hang is that slow


class Worker:
    """A process that examines one case after the other, for as long as it lives."""

    def __init__(self, seed: int, samples: str = "") -> None:
        self._seed, self._samples = seed, samples
        self._process: subprocess.Popen[bytes] | None = None
        self._home = tempfile.TemporaryDirectory(prefix="pond-fuzz-home-")  # no settings but the defaults

    def examine(self, number: int) -> Outcome:
        """Examine a case; where the process dies over it, that is what is wrong."""
        process = self._process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"%d\n" % number)
            process.stdin.flush()
        answered, _, _ = select.select([process.stdout], [], [], PATIENCE)
        line = process.stdout.readline() if answered else b""
        if line:
            return Outcome(**json.loads(line))
        what = f"the process died: exit {process.wait()}" if answered else f"no answer for {PATIENCE:.0f} seconds"
        self.stop()
        return Outcome(number, 0, 0, [what], ", ".join(map(str, rooms(self._seed, number))))

    def _started(self) -> subprocess.Popen[bytes]:
        variables = environment(HOME=self._home.name, POND_SAMPLES=self._samples)
        return subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.crew", str(self._seed)], cwd=ROOT, env=variables,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=obey_permissions,
        )  # fmt: skip

    def close(self) -> None:
        """Leave nothing behind."""
        self.stop()
        self._home.cleanup()

    def stop(self) -> None:
        """End the process, if there is one; the next case has a new one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def answers(seed: int, numbers: Iterator[str]) -> Iterator[str]:
    """Examine the cases asked for, one line each."""
    for number in numbers:
        yield json.dumps(asdict(examine(seed, int(number))))


if __name__ == "__main__":
    out = os.fdopen(os.dup(1), "w")  # commands run here print, too
    os.dup2(2, 1)
    warnings.filterwarnings("ignore", "lance is not fork-safe")  # only commands are forked here, and they start fresh
    for answer in answers(int(sys.argv[1]), iter(sys.stdin.readline, "")):
        print(answer, file=out, flush=True)
