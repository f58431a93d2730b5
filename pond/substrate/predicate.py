"""Filters as Lance reads them, with every value quoted: an id is data and cannot become part of the question."""

from __future__ import annotations

from collections.abc import Iterable

_LAST = "\U0010ffff"


def text(value: str) -> str:
    """Return a string literal."""
    return "'" + value.replace("'", "''") + "'"


def literal(value: str | int) -> str:
    """Return a value as a filter or an update spells it."""
    return str(value) if isinstance(value, int) else text(value)


def equals(column: str, value: str) -> str:
    return f"{column} = {text(value)}"


def one_of(column: str, values: Iterable[str]) -> str:
    return f"{column} IN ({', '.join(map(text, values))})"


def begins_with(column: str, start: str) -> str:
    """Return a filter for values that begin with a text; as a range, which every scalar index can answer."""
    beyond = _first_beyond(start)
    return f"{column} >= {text(start)}" + (f" AND {column} < {text(beyond)}" if beyond else "")


def _first_beyond(start: str) -> str:
    """Return the least text that is greater than all that begin with `start`; empty where there is none."""
    start = start.rstrip(_LAST)
    if not start:
        return ""
    # The halves of surrogate pairs are no characters of their own: after U+D7FF comes U+E000.
    return start[:-1] + ("\ue000" if start[-1] == "\ud7ff" else chr(ord(start[-1]) + 1))


def all_of(*filters: str | None) -> str | None:
    """Return the filter that holds where all do; None filters nothing."""
    given = [f"({filter})" for filter in filters if filter]
    return " AND ".join(given) or None
