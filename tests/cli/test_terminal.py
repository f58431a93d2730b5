"""What a terminal shows while something is being done."""

import fcntl
import pty
import re
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from pond.cli.show import Watching
from pond.diagnostics.progress import Progress
from tests.cli.command import shown

_STEERING = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@contextmanager
def _terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> Iterator[Callable[[], str]]:
    """Make standard error a terminal of so many columns; give what it was sent."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    stream = open(terminal, "w", encoding="utf-8")  # noqa: SIM115 - closed below
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("COLUMNS", raising=False)

    def seen() -> str:
        stream.close()
        return shown(controller).decode()

    yield seen


def _lines(seen: str) -> list[str]:
    """Return each state of the line, without what moves the cursor."""
    return [_STEERING.sub("", text) for text in seen.split("\r")]


@pytest.mark.parametrize("columns", [20, 60, 79])
def test_progress_stays_on_its_line(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with _terminal(monkeypatch, columns) as seen:
        watching = Watching()
        watching._began = time.monotonic() - 1000
        with watching as watch:
            counted = "123456 sessions, 12345678 messages, 12345678 parts"
            watch(Progress("ingesting", 5_000_000_000, 9_999_000_000, counted))
        lines = _lines(seen())
    assert max(map(len, lines)) < columns
    assert any(line.startswith("ingesting:  50 %") for line in lines)
    assert lines[-1] == ""


def test_what_is_being_done_stays_on_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with _terminal(monkeypatch, 30) as seen:
        with Watching() as watch:
            watch(Progress("putting the small files of `messages` together\n\x1b[2J 界" * 9))
        text = seen()
    assert "\x1b[2J" not in text
    assert "\n" not in text
    assert max(map(len, _lines(text))) < 30
