"""What is wrong with a query, in its author's terms: where, which names there are, and which was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable

import duckdb

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.span import Span
from pond.sql.tables import views

NAME = "query"  # the name of a query in error messages
_MESSAGE = re.compile(r"^[A-Z][A-Za-z ]+ Error: (?P<said>.*?)(?=\n\n|\nLINE |\nCandidate|\n\* |$)", re.S)
_PLACE = re.compile(r"^LINE (?P<line>\d+): (?P<text>.*)\n(?P<space> *)\^", re.M)
_COLUMN = re.compile(r'(?:Referenced column|column) "(?P<name>[^"]+)"|does not have a column named "(?P<other>[^"]+)"')


def refused(message: str, help: str = "") -> UsageError:
    """Return the refusal of a query that may not run."""
    return UsageError(Diagnostic("sql-refused", message, help=help))


def unknown_table(name: str, known: list[str], text: str, byte: int) -> UsageError:
    """Return the refusal of a table that does not exist."""
    help = near(name, known) or f"the tables are {', '.join(known)}"
    return UsageError(Diagnostic("sql-unknown", f"there is no table `{name}`", _at(text, byte), help=help))


def from_duckdb(error: duckdb.Error, text: str) -> UsageError:
    """Return what DuckDB found wrong with a query."""
    said = _MESSAGE.match(str(error))
    message = " ".join((said["said"] if said else str(error)).split())
    span, help = _place(str(error)), ""
    match error:
        case duckdb.ParserException() | duckdb.SyntaxException():
            code = "sql-syntax"
        case duckdb.BinderException() if missing := _COLUMN.search(message):
            name = missing["name"] or missing["other"]
            code, message, help = "sql-unknown", f"there is no column `{name}`", _columns(name, text)
        case _:
            code = "sql-failed"
    return UsageError(Diagnostic(code, message[:1].lower() + message[1:], span, help=help))


def near(name: str, known: Iterable[str]) -> str:
    """Return which of the known names may have been meant, as a sentence; empty if none is similar."""
    from difflib import get_close_matches  # only for mistakes

    found = get_close_matches(name.lower(), list(known), 3, 0.7)
    return f"did you mean {' or '.join(f'`{each}`' for each in found)}?" if found else ""


def _columns(missing: str, text: str) -> str:
    """Return which columns the tables of a query have; a near miss first."""
    used = [view for view in views().values() if re.search(rf"\b{view.name}\b", text, re.I)]
    close = near(missing, {name for view in used for name in view.names})
    lists = [f"{view.name} has {', '.join(view.names)}" for view in used]
    return " ".join(filter(None, (close, "; ".join(lists))))


def _place(message: str) -> Span | None:
    found = _PLACE.search(message)
    if found is None:
        return None
    column = len(found["space"]) - len(f"LINE {found['line']}: ") + 1
    # DuckDB shows only a part of a long line: then the column is unknown.
    whole = "..." not in (found["text"][:3], found["text"][-3:])
    return Span(NAME, int(found["line"]), column if whole and column > 0 else 0)


def _at(text: str, byte: int) -> Span | None:
    written = text.encode()
    if not 0 <= byte < len(written):
        return None
    before = written[:byte].decode("utf-8", "replace")
    return Span(NAME, before.count("\n") + 1, len(before) - before.rfind("\n"))
