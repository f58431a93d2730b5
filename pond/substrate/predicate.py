"""Filters for Lance, with every value quoted: an id is data and cannot become part of the query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NOTHING = "false"  # a filter that no row meets

_LAST = "\U0010ffff"
_MICROSECONDS = "'Timestamp(Microsecond, Some(\"UTC\"))'"
# The separator between the labels of a row when they are compared as one text.
_BETWEEN = "\x1f"
_AT_ONCE = 10  # patterns of some hundred characters: Lance refuses a regular expression that grows too large
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_WILD = {"*": r"[^\x{1f}]*", "?": r"[^\x{1f}]"}


def text(value: str) -> str:
    """Return a string literal."""
    return "'" + value.replace("'", "''") + "'"


def literal(value: str | int) -> str:
    """Return a value as a filter or an update spells it."""
    return str(value) if isinstance(value, int) else text(value)


def equals(column: str, value: str) -> str:
    return f"{column} = {text(value)}"


def one_of(column: str, values: Iterable[str]) -> str:
    """Return a filter for these values; without any, no row meets it."""
    given = ", ".join(map(text, values))
    return f"{column} IN ({given})" if given else NOTHING


def is_null(column: str) -> str:
    return f"{column} IS NULL"


def is_not_null(column: str) -> str:
    return f"{column} IS NOT NULL"


def differs(column: str, value: str) -> str:
    """Return a filter for rows that have another value, or none."""
    return f"({column} IS NULL OR {column} <> {text(value)})"


def not_before(column: str, micros: int) -> str:
    """Return a filter for times from an instant on, in microseconds since 1970."""
    return f"{column} >= {_instant(micros)}"


def before(column: str, micros: int) -> str:
    """Return a filter for times before an instant, in microseconds since 1970."""
    return f"{column} < {_instant(micros)}"


def _instant(micros: int) -> str:
    return f"arrow_cast({int(micros)}, {_MICROSECONDS})"


def has_any(column: str, labels: Iterable[str]) -> str:
    """Return a filter for lists that hold one of the labels; without any, no row meets it."""
    given = ", ".join(map(text, labels))
    return f"array_has_any({column}, [{given}])" if given else NOTHING


def has_like(column: str, patterns: Sequence[str]) -> str:
    """Return a filter for lists that hold a label like one of the patterns: `*` is any text, `?` any character.

    No index is used: the labels of every row are read. That happens in the engine, in linear time.
    """
    chunks = (patterns[at : at + _AT_ONCE] for at in range(0, len(patterns), _AT_ONCE))
    return any_of(*(_is_like(column, chunk) for chunk in chunks))


def _is_like(column: str, patterns: Sequence[str]) -> str:
    like = "|".join("".join(_WILD.get(char) or _literal(char) for char in pattern) for pattern in patterns)
    edge = r"\x{1f}"
    return f"regexp_like(array_to_string({column}, {text(_BETWEEN)}), {text(f'(?:^|{edge})(?:{like})(?:$|{edge})')})"


def _literal(char: str) -> str:
    return char if char in _LETTERS else rf"\x{{{ord(char):x}}}"


def lacking(column: str, filter: str) -> str:
    """Return the opposite of a filter on one column; a row with null is never excluded."""
    return f"{column} IS NULL OR NOT ({filter})"


def says(column: str, words: Sequence[str], *, whole: bool = False) -> str:
    """Return a filter for texts with these words in a row, ignoring case and white space; `whole`: as whole words.

    No index is used: every text is read.
    """
    spelled = r"\s+".join("".join(map(_literal, word)) for word in words)
    edges = (r"\b" if whole and _at_edge(words[0][0]) else "", r"\b" if whole and _at_edge(words[-1][-1]) else "")
    return f"regexp_like({column}, {text(f'(?i){edges[0]}{spelled}{edges[1]}')})"


def _at_edge(char: str) -> bool:
    return char.isalnum()


def any_of(*filters: str) -> str:
    """Return a filter that is true if one of these is; without any, no row meets it."""
    return " OR ".join(f"({filter})" for filter in filters) or NOTHING


def numbered(row_ids: Iterable[int]) -> str:
    """Return a filter for the rows with these row ids, which stay the same while rows move."""
    return f"_rowid IN ({', '.join(map(str, row_ids))})"


def begins_with(column: str, start: str) -> str:
    """Return a filter for values with a prefix; as a range, which every scalar index can answer."""
    beyond = _first_beyond(start)
    return f"{column} >= {text(start)}" + (f" AND {column} < {text(beyond)}" if beyond else "")


def _first_beyond(start: str) -> str:
    """Return the smallest text that is greater than all with the prefix `start`; empty if there is none."""
    start = start.rstrip(_LAST)
    if not start:
        return ""
    # Halves of surrogate pairs are not characters: after U+D7FF comes U+E000.
    return start[:-1] + ("\ue000" if start[-1] == "\ud7ff" else chr(ord(start[-1]) + 1))


def all_of(*filters: str | None) -> str | None:
    """Return a filter that is true if all of these are; None filters nothing."""
    given = [f"({filter})" for filter in filters if filter]
    return " AND ".join(given) or None
