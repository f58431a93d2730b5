"""What a person or a script gets to see: diagnostics, summaries, progress."""

import os
import sys
import time
from typing import Any, TextIO

from pond.cli.terminal import visible
from pond.codec.report import Report
from pond.diagnostics.diagnostic import PondError, UsageError
from pond.diagnostics.render import as_json, one_line
from pond.model.json_text import encode

_MOST_WARNINGS = 20
_MOST_DRIFT = 12


def refuse(error: PondError) -> int:
    """Print why a request was refused; return the exit code."""
    for diagnostic in error.diagnostics:
        help = f" ({diagnostic.help})" if diagnostic.help else ""
        text = f"{'' if diagnostic.span else 'pond: '}{one_line(diagnostic)}{help}"
        print(visible(text).replace("\n", "\\n"), file=sys.stderr)  # an id may hold anything
    return 2 if isinstance(error, UsageError) else 1


def show_faults(report: Report) -> None:
    """Print every fault as `file:line: code: reason`, then what was carried without a name in the mapping."""
    faults = report.faults
    errors = [d for d in faults if d.severity == "error"]
    warnings = [d for d in faults if d.severity != "error"]
    for diagnostic in errors + warnings[:_MOST_WARNINGS]:
        help = f" ({diagnostic.help})" if diagnostic.help else ""
        print(one_line(diagnostic) + help, file=sys.stderr)
    if len(warnings) > _MOST_WARNINGS:
        print(f"pond: {len(warnings) - _MOST_WARNINGS} more warnings (--json has all)", file=sys.stderr)
    if report.drift:
        print(f"pond: carried, not named by the mapping: {drift_line(report.drift)}", file=sys.stderr)


def drift_line(drift: dict[str, int]) -> str:
    """Return the most frequent unnamed kinds and fields in one line."""
    most = sorted(drift.items(), key=lambda item: (-item[1], item[0]))
    shown = ", ".join(f"{name} ({count})" for name, count in most[:_MOST_DRIFT])
    return shown + (f" and {len(most) - _MOST_DRIFT} more" if len(most) > _MOST_DRIFT else "")


def summary(report: Report) -> dict[str, Any]:
    """Return the report as a JSON object with stable names."""
    return {
        "files": report.files,
        "sessions": report.sessions,
        "records": report.records,
        "repeats": report.repeats,
        "faults": [as_json(d) for d in report.faults],
        "drift": dict(sorted(report.drift.items())),
        "moved": report.moved,
        "losses": dict(sorted(report.loss_counts().items())),
        "resume": [{"client": r.client, "place": r.place, "command": r.command} for r in report.resumes],
    }


def print_json(value: Any, stream: TextIO) -> None:
    """Print one JSON value on one line."""
    stream.write(encode(value).decode("utf-8") + "\n")


class Progress:
    """A line on a terminal that says how far long work is; silent in a pipe."""

    def __init__(self, total: int, what: str) -> None:
        self._total, self._what = max(total, 1), what
        self._on = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._began = self._last = time.monotonic()
        self._shown = False
        self._counted = ""

    def of(self, done: int, total: int, counted: str) -> None:
        """Say that `done` of so many bytes are behind us, and what was counted on the way."""
        self._total, self._counted = max(total, 1), f"  {counted}"
        self.at(done)

    def at(self, done: int) -> None:
        """Say that `done` of the total is behind us; redraws a few times a second at most."""
        now = time.monotonic()
        if self._on and now - self._last > 0.1:
            self._last, self._shown = now, True
            percent = min(100, done * 100 // self._total)
            size = f"{done / 1e6:.0f} of {self._total / 1e6:.0f} MB"
            print(
                f"\r{self._what}: {percent:3d} %  {size}{self._counted}{self._pace(done, now)}",
                end="\x1b[K",
                file=sys.stderr,
                flush=True,
            )

    def _pace(self, done: int, now: float) -> str:
        """Return how fast it goes and how long it will take at that rate; nothing before there is a rate."""
        rate = done / (now - self._began)
        if now - self._began < 1 or not rate:
            return ""
        left = int((self._total - done) / rate)
        return f"  {rate / 1e6:.0f} MB/s  {left // 60}:{left % 60:02d} left"

    def end(self) -> None:
        """Clear the line."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class Doing:
    """A line on a terminal that says what is being done; silent in a pipe, and gone in the end."""

    def __init__(self) -> None:
        self._on = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def __enter__(self) -> "Doing":
        return self

    def now(self, what: str) -> None:
        """Say what is being done now."""
        if self._on:
            print(f"\r{what}", end="\x1b[K", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        self.now("\r")


def size(count: int) -> str:
    """Return a number of bytes as people read it."""
    for unit, bytes in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= bytes:
            return f"{count / bytes:.1f} {unit}"
    return f"{count} B"
