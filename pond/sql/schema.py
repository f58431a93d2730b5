"""A description of the tables, columns, keys and examples, as text."""

from __future__ import annotations

from collections.abc import Iterator

from pond.sql.examples import EXAMPLES
from pond.sql.gate import FEW, MOST
from pond.sql.tables import View, views

_KEYS = (
    "messages.session_id = sessions.id",
    "parts.session_id = messages.session_id AND parts.message_id = messages.id",
    "sessions.parent_session_id = sessions.id of the parent",
)


def described() -> str:
    """Return the description of the tables, with examples."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "One SELECT or WITH query in DuckDB's dialect, or EXPLAIN [ANALYZE] of one. Times are UTC."
    yield "Columns with * have an index: prefer conditions on them."
    for view in views().values():
        yield ""
        yield from _table(view)
    yield ""
    yield "search('words', n)"
    yield "  What `pond search` finds, as a table: rank, session_id, message_id, score, match."
    yield f"  n is how many messages at most: {FEW} where it is left out, {MOST} at most."
    yield "  The words may hold phrases and conditions, as in `pond search`."
    yield ""
    yield "Joins"
    yield from (f"  {key}" for key in _KEYS)
    yield ""
    yield "JSON: options->>'$.a.b' is a text, options->'$.a' is JSON, json_each(options, '$.list') is a table."
    for title, query in EXAMPLES:
        yield ""
        yield f"-- {title}"
        yield f"{query};"


def _table(view: View) -> Iterator[str]:
    names = [f"{column.name}{'*' if column.indexed else ''}" for column in view.columns]
    widest = max(map(len, names))
    kinds = max(len(column.type) for column in view.columns)
    yield view.name
    for name, column in zip(names, view.columns, strict=True):
        yield f"  {name:<{widest}}  {column.type:<{kinds}}  {column.meaning}"
