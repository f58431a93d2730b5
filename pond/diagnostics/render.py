"""Diagnostics as text with a caret, as one line, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable

from pond.diagnostics.diagnostic import Diagnostic
from pond.diagnostics.visible import one_line_of, visible

_LONG, _AROUND = 240, 60  # length of a line that is shown only in part, and the length shown around the place


def one_line(diagnostic: Diagnostic) -> str:
    """Return `file:line: code: reason`, without the line if none is meant; it is complete without the source line.

    It contains names and values from files: whatever they hold, it is one line and cannot control a terminal.
    """
    where = f"{diagnostic.span}: " if diagnostic.span else ""
    path = f" (at {diagnostic.path})" if diagnostic.path else ""
    times = f" [{diagnostic.count} times]" if diagnostic.count > 1 else ""
    return one_line_of(f"{where}{diagnostic.code}: {diagnostic.message}{path}{times}")


def with_help(diagnostic: Diagnostic) -> str:
    """Return the line, and what helps."""
    return one_line(diagnostic) + (one_line_of(f" ({diagnostic.help})") if diagnostic.help else "")


def as_json(diagnostic: Diagnostic) -> dict[str, object]:
    """Return the diagnostic as a JSON object with stable field names."""
    out: dict[str, object] = {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
    }
    if diagnostic.span:
        out["file"] = diagnostic.span.file
        if diagnostic.span.line:
            out["line"] = diagnostic.span.line
        if diagnostic.span.column:
            out["column"] = diagnostic.span.column
    for name in ("path", "help", "rule"):
        if value := getattr(diagnostic, name):
            out[name] = value
    if diagnostic.count > 1:
        out["count"] = diagnostic.count
    return out


def picture(diagnostic: Diagnostic, source: str) -> str:
    """Return the compiler-style rendering: message, place, source line with caret, help and rule."""
    lines = [one_line_of(f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}")]
    span = diagnostic.span
    if span:
        lines.append(one_line_of(f"  --> {span}"))
        text = source.splitlines()
        if 0 < span.line <= len(text) and span.column:
            number = str(span.line)
            pad = " " * len(number)
            shown, caret = _pointed_at(text[span.line - 1], span.column - 1, max(1, span.length))
            lines += [f" {pad} |", f" {number} | {shown}", f" {pad} | {caret}"]
    if diagnostic.help:
        lines.append(one_line_of(f"   = help: {diagnostic.help}"))
    if diagnostic.rule:
        lines.append(f"   = rule: {diagnostic.rule}")
    return "\n".join(lines)


def _pointed_at(line: str, begin: int, length: int) -> tuple[str, str]:
    """Return a line (for a long one the part around the place) and the line of carets under it."""
    first = max(0, begin - _AROUND) if len(line) > _LONG else 0
    end = begin + min(length, _AROUND)
    last = end + _AROUND if len(line) > _LONG else len(line)
    before = ("…" if first else "") + visible(line[first:begin])
    behind = visible(line[end:last]) + ("…" if last < len(line) else "")
    pointed = visible(line[begin:end])
    return before + pointed + behind, " " * len(before) + "^" * max(1, len(pointed))


def pictures(diagnostics: Iterable[Diagnostic], source: str) -> str:
    """Return the renderings of several diagnostics of one file, separated by blank lines."""
    return "\n\n".join(picture(d, source) for d in diagnostics)
