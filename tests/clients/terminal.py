"""A program at a pseudo-terminal: what it shows is read from a screen in memory, keys are sent to it."""

import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.clients.screen import Screen

_READ = 1 << 16
_STILL = 0.8  # seconds without a change: the picture stands
LONGEST = 90.0


class Terminal:
    """A running program and its screen."""

    def __init__(self, pid: int, handle: int, rows: int, columns: int) -> None:
        self.pid, self._handle = pid, handle
        self.screen = Screen(rows, columns, self._send)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.ended = False

    def _send(self, data: bytes) -> None:
        try:
            os.write(self._handle, data)
        except OSError:
            self.ended = True

    def press(self, keys: str) -> None:
        """Send keys as a terminal does."""
        self._send(keys.encode())

    def _read(self, timeout: float) -> bool:
        """Take what the program writes; tell whether there was anything."""
        if self.ended or not select.select([self._handle], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self._handle, _READ)
        except OSError:
            data = b""
        if not data:
            self.ended = True
            return False
        self.screen.feed(self._decoder.decode(data))
        return True

    def wait(self, until: Callable[[str], bool], longest: float = LONGEST) -> bool:
        """Read until the text says so and the picture stands; tell whether it came to that."""
        end, last, changed = time.monotonic() + longest, "", time.monotonic()
        while time.monotonic() < end and not self.ended:
            self._read(0.2)
            text = self.screen.text()
            if text != last:
                last, changed = text, time.monotonic()
            elif until(text) and time.monotonic() - changed > _STILL:
                return True
        return until(self.screen.text())


@contextmanager
def running(
    command: list[str], environment: dict[str, str], work: Path, rows: int = 50, columns: int = 200
) -> Iterator[Terminal]:
    """Run a program at a terminal of its own; it and all it started are ended in the end."""
    pid, handle = pty.fork()
    if pid == 0:
        os.chdir(work)
        os.execve(command[0], command, environment)
    fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    try:
        yield Terminal(pid, handle, rows, columns)
    finally:
        for end in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(pid, end)
            except ProcessLookupError:
                break
            time.sleep(0.3)
        os.waitpid(pid, 0)
        os.close(handle)
