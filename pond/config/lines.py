"""Finds the line of each key in TOML text, which the standard library's parser does not report."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

# Enough to know where a statement ends: brackets count only outside of strings and comments.
_TOKEN = re.compile(
    r'''
      (?P<text> """(?:\\.|[^\\])*?"{3,5} | \'\'\'.*?\'{3,5} | "(?:\\.|[^"\\])*" | '[^']*' )
    | (?P<comment> \#[^\n]* )
    | (?P<open> [\[{] )
    | (?P<close> [\]}] )
    | (?P<newline> \n )
    | (?P<other> [^"'\#\[\]{}\n]+ )
    ''',
    re.VERBOSE | re.DOTALL,
)


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Return the line in which each key and each table first occurs; `text` must be valid TOML."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for line, statement in statements(text):
        # One statement is TOML on its own, so the parser itself says which keys it sets.
        values = tomllib.loads(statement)
        if statement.lstrip().startswith("["):
            table = heading(values)
            for depth in range(len(table)):  # `[a.b]` opens `a` too
                found.setdefault(table[: depth + 1], line)
        else:
            for path in _paths(values):
                found.setdefault((*table, *path), line)
    return found


def statements(text: str) -> Iterator[tuple[int, str]]:
    """Cut the text where a line ends outside of brackets; yield each piece with the number of its first line."""
    line = first = 1
    begin = depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"open": 1, "close": -1}.get(token.lastgroup or "", 0)
        line += token[0].count("\n")
        if token.lastgroup == "newline" and depth == 0:
            yield first, text[begin : token.end()]
            first, begin = line, token.end()
    yield first, text[begin:]


def heading(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the path that `[a.b]` or `[[a.b]]` opens."""
    path: tuple[str, ...] = ()
    while values:
        ((key, inner),) = values.items()
        path = (*path, key)
        values = inner[0] if isinstance(inner, list) else inner
    return path


def _paths(values: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in values.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from _paths(value, (*above, key))
