"""Run `pond` as a person does, in a process of its own, and read what it says."""

import ctypes
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pond.diagnostics.codes import CODES
from tests.cli.warm import Hangs, Request, is_warm, run
from tests.house.tree import ROOT

POND = [sys.executable, "-m", "pond.cli.main"]
PATIENCE = 120.0  # seconds; only a hang is that slow

_FAULT = re.compile(r"(?P<file>.*?)(?::(?P<line>\d+))?(?::\d+)?: (?P<code>[a-z]+(?:-[a-z]+)*): (?P<reason>.+)")
# What the interpreter prints when an exception reaches no handler, on the way up or on the way out.
_CRASH = ("Traceback (most recent call last)", "Exception ignored", "Fatal Python error")


@dataclass(frozen=True)
class Fault:
    """One line of stderr: `file:line: code: reason`."""

    file: str
    line: int | None
    code: str
    reason: str


@dataclass(frozen=True)
class Done:
    """What a finished `pond` left behind."""

    code: int
    out: bytes
    err: str

    @property
    def faults(self) -> list[Fault]:
        """List the typed faults of stderr, in order; a line of another form is none."""
        found = (_FAULT.fullmatch(line) for line in self.err.splitlines())
        return [
            Fault(m["file"], int(m["line"]) if m["line"] else None, m["code"], m["reason"])
            for m in found
            if m and m["code"] in CODES
        ]

    @property
    def errors(self) -> list[Fault]:
        """List the faults that make the exit code non-zero."""
        return [fault for fault in self.faults if CODES[fault.code].severity == "error"]

    def places(self) -> list[tuple[str, int | None, str]]:
        """List (file name, line, code) of each error."""
        return [(Path(fault.file).name, fault.line, fault.code) for fault in self.errors]


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment with the project importable from any working directory."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("POND_", "PYTHON"))}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def shown(controller: int) -> bytes:
    """Return all that a pseudo-terminal was sent, once its other end is closed; a single `read` may return a part."""
    sent = b""
    try:
        while chunk := os.read(controller, 1 << 16):
            sent += chunk
    except OSError:  # Linux says EIO once the other end is closed
        pass
    os.close(controller)
    return sent


def start(
    *arguments: str | Path,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.PIPE,
    before: Callable[[], None] | None = None,
    cwd: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start `pond` and return at once; `before` runs in the child just before it becomes pond."""

    def prepare() -> None:
        # A test run in the background ignores SIGINT, and its children would inherit that.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if before is not None:
            before()

    return subprocess.Popen(
        command(arguments),
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=environment(**(variables or {})),
        cwd=cwd,
        preexec_fn=prepare,
    )


def finish(process: subprocess.Popen[bytes], stdin: bytes | None = None) -> Done:
    """Wait for `process` and check what holds for every run: no traceback reaches a person."""
    try:
        out, err = process.communicate(stdin, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise AssertionError(f"hangs: {process.args!r}") from None
    return _judged(process.returncode, out or b"", err)


def _judged(code: int, out: bytes, err: bytes) -> Done:
    done = Done(code, out, err.decode("utf-8", "surrogateescape"))
    for crash in _CRASH:
        assert crash not in done.err, done.err
    return done


def pond(
    *arguments: str | Path,
    stdin: bytes | None = None,
    stdout: int = subprocess.PIPE,
    before: Callable[[], None] | None = None,
    cwd: Path | None = None,
    umask: int | None = None,
    variables: Mapping[str, str] | None = None,
) -> Done:
    """Run `pond` to its end; without a start of its own where nothing is said about that start."""
    if before is None and stdout == subprocess.PIPE and is_warm(variables or {}):
        words = [str(word) for word in arguments]
        return _warm(Request(words, environment(**(variables or {})), str(cwd or Path.cwd()), umask), stdin)
    assert umask is None, "a process with a start of its own sets it in `before`"
    source = subprocess.DEVNULL if stdin is None else subprocess.PIPE
    return finish(start(*arguments, stdin=source, stdout=stdout, before=before, cwd=cwd, variables=variables), stdin)


def _warm(request: Request, stdin: bytes | None) -> Done:
    try:
        return _judged(*run(request, stdin, PATIENCE))
    except Hangs:
        raise AssertionError(f"hangs: {request.arguments!r}") from None


def command(arguments: Sequence[str | Path]) -> list[str]:
    """Return the words that start `pond` with `arguments`."""
    return [*POND, *map(str, arguments)]


def obey_permissions() -> None:
    """Make file permissions count for this process even where it runs as root; for use as `before`."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    drop_from_bounding_set = 24
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        if libc.prctl(drop_from_bounding_set, capability, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "cannot give up the right to ignore permissions")
