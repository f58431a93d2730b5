"""An error that ends the work on one file: it is reported for that file, and the other files continue."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from pond.codec.report import Report
from pond.diagnostics.diagnostic import Diagnostic, PondError
from pond.diagnostics.interrupt import interrupt_behind
from pond.diagnostics.span import Span
from pond.model.json_text import NotJson

_REPORT_IT = "this is a bug in pond; please report it with this line and, if you can share it, the file"
_LONGEST = 200  # characters of an error's own text


@contextmanager
def contained(report: Report, name: str, *through: type[Exception]) -> Iterator[None]:
    """Do the work on one file; errors go into the report, except those that must come `through`."""
    try:
        yield
    except through:
        raise
    except Exception as error:
        report.diagnostics += told(error, name)


def told(error: Exception, name: str) -> tuple[Diagnostic, ...]:
    """Return the report of an error that ended the work on a file; an interrupt is raised instead."""
    if (stop := interrupt_behind(error)) is not None:
        raise stop from None
    where = Span(name, 0)
    match error:
        case PondError():
            return error.diagnostics
        case NotJson():
            return (Diagnostic(error.code, str(error), where),)
        case OSError():
            return (Diagnostic("source-unreadable", (error.strerror or str(error)).lower(), where),)
        case MemoryError():
            return (Diagnostic("source-too-large", "there is not enough memory", where),)
    return (Diagnostic("internal", f"an unexpected error: {_brief(error)}", where, help=_REPORT_IT),)


def _brief(error: Exception) -> str:
    """Return an error in one line that a developer can use and a terminal can show."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(error)).split())[:_LONGEST]
    raised = error.__traceback__
    while raised is not None and raised.tb_next is not None:
        raised = raised.tb_next
    line = f" ({os.path.basename(raised.tb_frame.f_code.co_filename)}:{raised.tb_lineno})" if raised is not None else ""
    return f"{type(error).__name__}{': ' if text else ''}{text}{line}"
