"""Shows which values of a row differ, by path, with a short piece of both."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from pond.model.equal import same
from pond.model.json_text import Json, JsonObject

_MOST = 60  # characters shown of a value
_LEAD = 12  # characters shown before the first difference of two long texts
_CUT = "…"
_PLAIN = re.compile(r"[\w-]+")
_WORDS = ("text", "params", "result", "data", "content")  # fields with what a reader wants to see, best first


class _Absent:
    """No value at all, which is different from null."""


_ABSENT: Final = _Absent()


def changed_fields(before: JsonObject, after: JsonObject, ignored: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Yield path, old and new value of each difference, both shortened; `ignored` are names of the first level."""
    for name in [*before, *(name for name in after if name not in before)]:
        if name not in ignored:
            yield from _walk(name, before.get(name, _ABSENT), after.get(name, _ABSENT))


def excerpt(event: JsonObject) -> str:
    """Return the beginning of what a row says."""
    value = next((event[name] for name in _WORDS if name in event), "")
    return _cut(_text(value), 0)


def visible(text: str) -> str:
    """Return `text` with everything escaped that would control a terminal or be invisible."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _walk(path: str, before: Json | _Absent, after: Json | _Absent) -> Iterator[tuple[str, str, str]]:
    if type(before) is dict and type(after) is dict:
        for name in [*before, *(name for name in after if name not in before)]:
            step = f".{name}" if _PLAIN.fullmatch(name) else f"[{visible(json.dumps(name, ensure_ascii=False))}]"
            yield from _walk(path + step, before.get(name, _ABSENT), after.get(name, _ABSENT))
    elif type(before) is list and type(after) is list and len(before) == len(after):
        for number, (was, now) in enumerate(zip(before, after, strict=True)):
            yield from _walk(f"{path}[{number}]", was, now)
    elif before is _ABSENT or after is _ABSENT or not same(before, after):
        yield path, *_both(_text(before), _text(after))


def _text(value: Json | _Absent) -> str:
    # Unquoted, so that it cannot be mistaken for the text "absent".
    return "absent" if value is _ABSENT else visible(json.dumps(value, ensure_ascii=False))


def _both(before: str, after: str) -> tuple[str, str]:
    """Shorten two texts so that their first difference is visible."""
    shared = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    start = shared - _LEAD if max(len(before), len(after)) > _MOST and shared > 2 * _LEAD else 0
    return _cut(before, start), _cut(after, start)


def _cut(text: str, start: int) -> str:
    end = start + _MOST
    return (_CUT if start else "") + text[start:end] + (_CUT if len(text) > end else "")
