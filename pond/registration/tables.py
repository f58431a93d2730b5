"""Tables of TOML text, set and removed in place: comments, order and layout of everything else stay as they are."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pond.config.lines import heading, statements

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parsed(text: str) -> dict[str, Any]:
    """Return the values of TOML text."""
    return tomllib.loads(text)


def with_table(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """Return the text with a table set, at the end."""
    rest, ends = without_table(text, path), "\r\n" if "\r\n" in text else "\n"
    if rest != text:
        if _found(text, path) == values:
            return text
        rest = rest.rstrip() + ends
    gap = "" if not rest.strip() else ends if rest.endswith("\n") else ends * 2
    return rest + gap + ends.join(_lines(path, values)) + ends


def _found(text: str, path: Sequence[str]) -> Any:
    value: Any = tomllib.loads(text)
    for step in path:
        value = value[step]
    return value


def without_table(text: str, path: Sequence[str]) -> str:
    """Return the text without a table and those below it; comments that follow it stay."""
    kept: list[str] = []
    dropped: list[str] = []
    inside = False
    for _, statement in statements(text):
        if statement.lstrip().startswith("["):
            kept += _afterwards(dropped)
            inside = heading(tomllib.loads(statement))[: len(path)] == tuple(path)
            dropped = []
        (dropped if inside else kept).append(statement)
    kept += _afterwards(dropped)
    return "".join(kept)


def _afterwards(dropped: list[str]) -> list[str]:
    """Return what stands after the last key of a table: it belongs to what follows."""
    last = max(
        (at for at, each in enumerate(dropped) if each.strip() and not each.lstrip().startswith("#")), default=-1
    )
    return dropped[last + 1 :]


def _lines(path: Sequence[str], values: Mapping[str, Any]) -> Iterator[str]:
    yield f"[{'.'.join(map(_key, path))}]"
    for name, value in values.items():
        if not isinstance(value, Mapping):
            yield f"{_key(name)} = {_value(value)}"
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield ""
            yield from _lines((*path, name), value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name)


def _value(value: Any) -> str:
    # A JSON string, number, switch or list of them reads the same in TOML.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
