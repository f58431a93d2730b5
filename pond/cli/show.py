"""What a person or a script gets to see: diagnostics, summaries, progress."""

import sys
import time
from collections.abc import Iterator
from typing import Any, TextIO

from pond.cli import manners
from pond.cli.continuing import as_told
from pond.cli.hints import helped
from pond.cli.terminal import StatusLine, say_pieces, warn
from pond.codec.continuing import resumable
from pond.codec.report import Report
from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError
from pond.diagnostics.progress import Progress, Watch
from pond.diagnostics.render import as_json, picture, with_help
from pond.diagnostics.visible import in_json, one_line_of
from pond.model.json_text import encode

_MOST_WARNINGS = 20
_MOST_DRIFT = 12
_EVERY = 0.1  # seconds between two states of a line


def refuse(error: PondError) -> int:
    """Print why a request was refused, as JSON where a program asked for that; return the exit code."""
    if manners.current.json:
        print_json({"errors": [as_json(helped(each)) for each in error.diagnostics]}, sys.stderr)
    else:
        for diagnostic in map(helped, error.diagnostics):
            warn_of(diagnostic)
    return 2 if isinstance(error, UsageError) or _is_unusable(error) else 1


def _is_unusable(error: PondError) -> bool:
    """Tell whether what was named is no archive to take anything from: the request cannot be carried out."""
    return all(each.code.startswith("archive-") for each in error.diagnostics)


def refuse_query(error: UsageError, query: str) -> int:
    """Print what is wrong with a query, and where in it; return the exit code."""
    if manners.current.json or error.diagnostics[0].span is None:
        return refuse(error)
    warn(picture(error.diagnostics[0], query))
    return 2


def warn_of(diagnostic: Diagnostic) -> None:
    """Print a diagnostic on standard error, `file:line: code: reason`."""
    where = "" if diagnostic.span else "pond: "
    text = with_help(diagnostic)
    start = text.find(f"{diagnostic.code}: ")
    style = "red" if diagnostic.severity == "error" else "yellow"
    behind = start + len(diagnostic.code)
    say_pieces([(where + text[:start], ""), (text[start:behind], style), (text[behind:], "")], sys.stderr)


def show_faults(report: Report) -> None:
    """Print every fault as `file:line: code: reason`, then what was carried without a name in the mapping."""
    faults = list(map(helped, report.faults))
    errors = [d for d in faults if d.severity == "error"]
    warnings = [d for d in faults if d.severity != "error"]
    shown = [] if manners.current.quiet else warnings[: None if manners.current.verbose else _MOST_WARNINGS]
    for diagnostic in errors + shown:
        warn_of(diagnostic)
    if manners.current.quiet:
        return
    if len(warnings) > len(shown):
        warn(f"pond: {len(warnings) - len(shown)} more warnings (-v shows all)")
    if report.drift:
        warn(f"pond: kept, though the mapping does not name it: {drift_line(report.drift)}")


def drift_line(drift: dict[str, int]) -> str:
    """Return the most frequent unnamed kinds and fields in one line."""
    most = sorted(drift.items(), key=lambda item: (-item[1], item[0]))
    limit = len(most) if manners.current.verbose else _MOST_DRIFT
    shown = ", ".join(f"{one_line_of(name)} ({count})" for name, count in most[:limit])
    return shown + (f" and {len(most) - limit} more" if len(most) > limit else "")


def problem_lines(problems: list[dict[str, Any]], title: str) -> Iterator[str]:
    """Yield problems that were noted when their files were read, the first ones one a line."""
    if problems:
        yield f"{title}{sum(problem.get('count', 1) for problem in problems)}"
    for problem in problems[:_MOST_WARNINGS]:
        where = f"{problem['file']}:{problem['line']}" if "line" in problem else problem["file"]
        yield one_line_of(f"  {where}: {problem['code']}: {problem['message']}")
    if len(problems) > _MOST_WARNINGS:
        yield f"  and {len(problems) - _MOST_WARNINGS} more (--json has all)"


def summary(report: Report) -> dict[str, Any]:
    """Return the report as a JSON object with stable names."""
    return {
        "files": report.files,
        "sessions": report.sessions,
        "records": report.records,
        "repeats": report.repeats,
        "faults": [as_json(helped(d)) for d in report.faults],
        "drift": dict(sorted(report.drift.items())),
        "moved": report.moved,
        "losses": dict(sorted(report.loss_counts().items())),
        "resume": [as_told(each) for each in resumable(report.resumes)],
    }


def print_json(value: Any, stream: TextIO) -> None:
    """Print one JSON value on one line, exact, in characters that steer no terminal."""
    stream.write(in_json(encode(value).decode("utf-8")) + "\n")


class Watching:
    """A line on a terminal that says how far long work is; silent in a pipe, and gone in the end."""

    def __init__(self) -> None:
        self._line = StatusLine()
        self._what, self._began = "", time.monotonic()
        self._last = float("-inf")

    def __enter__(self) -> Watch:
        return self.show

    def __exit__(self, *_: object) -> None:
        self._line.clear()

    def show(self, progress: Progress) -> None:
        """Show how far it is; redraws a few times a second at most, and what is being done now at once."""
        if not self._line.on:
            return
        now = time.monotonic()
        if self._what and progress.what != self._what:  # the next stage has a pace of its own
            self._began = now
        self._what = progress.what
        if not progress.total:
            self._line.draw(progress.what)
        elif now - self._last > _EVERY and now - self._began > _EVERY:
            self._last = now
            self._line.draw(self._how_far(progress, now))

    def _how_far(self, progress: Progress, now: float) -> str:
        percent = min(100, progress.done * 100 // progress.total)
        size = f"{progress.done / 1e6:.0f} of {progress.total / 1e6:.0f} MB"
        if progress.unit:
            size = f"{progress.done} of {progress.total} {progress.unit}"
        counted = f"  {progress.counted}" if progress.counted else ""
        return f"{progress.what}: {percent:3d} %  {size}{counted}{self._pace(progress, now)}"

    def _pace(self, progress: Progress, now: float) -> str:
        """Return how fast it goes and how long it will take at that rate; nothing before there is a rate."""
        rate = progress.done / (now - self._began)
        if now - self._began < 1 or not rate:
            return ""
        left = int((progress.total - progress.done) / rate)
        pace = f"{rate:.0f}/s" if progress.unit else f"{rate / 1e6:.0f} MB/s"
        return f"  {pace}  {left // 60}:{left % 60:02d} left"


def counted(count: int, what: str) -> str:
    """Return a number of things in words: `1 session`, `2 sessions`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def size(count: int) -> str:
    """Return a number of bytes as people read it."""
    for unit, bytes in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= bytes:
            return f"{count / bytes:.1f} {unit}"
    return f"{count} B"
