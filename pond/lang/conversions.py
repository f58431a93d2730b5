"""Named conversion pairs between a source value and canonical values.

`read` gives the canonical values, or None where the source value does not fit. `write` gives the source value back.
Where `write(read(s))` is not `s`, `mark` says what to remember (the *spelling*), and `write` takes that mark. The law,
for every s that fits: `write(read(s), mark(s)) == s`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from pond.model.instants import instant, print_instant
from pond.model.json_text import Json, NotJson, decode_strictly, encode

NO_MARK = object()
_fast_loads, _fast_dumps = orjson.loads, orjson.dumps


@dataclass(frozen=True, slots=True)
class Conversion:
    """One named pair. `gives` are the canonical types, one for each target; `write` is None for a one-way reader."""

    name: str
    gives: tuple[str, ...]
    read: Callable[[Json, str | None], tuple[Json, ...] | None]
    mark: Callable[[Json, tuple[Json, ...], str | None], Json]
    write: Callable[[tuple[Json, ...], Json, str | None], Json] | None
    takes_argument: bool = False
    quick: Callable[[Json, str | None], tuple[Json, ...] | None] | None = None  # `take`, short for common values

    def take(self, value: Json, argument: str | None) -> tuple[Json, ...] | None:
        """Return the values that `read` gives and after them the `mark`, or None where the value does not fit."""
        values = self.read(value, argument)
        return None if values is None else (*values, self.mark(value, values, argument))

    @property
    def taker(self) -> Callable[[Json, str | None], tuple[Json, ...] | None]:
        """The fastest function that does what `take` does."""
        return self.quick or self.take


# --- time ------------------------------------------------------------------------------------------------------------


def _read_rfc3339(value: Json, _: str | None) -> tuple[Json, ...] | None:
    found = instant(value) if type(value) is str else None
    return None if found is None else (found,)


def _epoch(per_second: int) -> Conversion:
    def read(value: Json, _: str | None) -> tuple[Json, ...] | None:
        if type(value) is not int and type(value) is not float:
            return None
        try:
            return (print_instant(datetime.fromtimestamp(value / per_second, UTC)),)
        except (ValueError, OverflowError, OSError):
            return None

    def write(values: tuple[Json, ...], mark: Json, _: str | None) -> Json:
        if mark is not NO_MARK:
            return mark
        moment = datetime.fromisoformat(values[0])
        return round(moment.timestamp() * per_second)

    return Conversion(f"epoch_{'ms' if per_second == 1000 else 's'}", ("timestamp",), read, _spelling(write), write)


# --- JSON inside a string --------------------------------------------------------------------------------------------


def _json_styles() -> dict[str, Callable[[Json], str]]:
    return {
        "spaced": lambda value: json.dumps(value, ensure_ascii=False),
        "ascii": lambda value: json.dumps(value),
        "indented": lambda value: json.dumps(value, ensure_ascii=False, indent=2),
    }


class _Duplicate(Exception):
    pass


def _refuse_duplicate(key: str) -> None:
    raise _Duplicate(key)


def _read_json_text(value: Json, _: str | None) -> tuple[Json, ...] | None:
    if type(value) is not str:
        return (value,)
    try:
        return (decode_strictly(value.encode("utf-8"), _refuse_duplicate),)
    except (NotJson, _Duplicate, UnicodeEncodeError):
        return (value,)  # text that is not JSON is its own value; the mark says so


def _take_json_text(value: Json, argument: str | None) -> tuple[Json, ...] | None:
    """Take text that re-encodes to itself at once: it was read exactly, and is spelled the way `write` spells it."""
    try:
        found = _fast_loads(value)
        if _fast_dumps(found) == value.encode("utf-8"):
            return found, NO_MARK
    except (ValueError, TypeError, AttributeError):
        pass
    return CONVERSIONS["json_text"].take(value, argument)


def _mark_json_text(value: Json, values: tuple[Json, ...], _: str | None) -> Json:
    """Say how the text was spelled: nothing (compact), a style name, `value`/`text`, or as a last resort the text."""
    if type(value) is not str:
        return "value"
    if values[0] is value:
        return "text"
    if _safe(encode, values[0]) == value.encode("utf-8"):
        return NO_MARK
    for name, style in _json_styles().items():
        if _safe(style, values[0]) == value:
            return name
    return {"text": value}


def _write_json_text(values: tuple[Json, ...], mark: Json, _: str | None) -> Json:
    if mark is NO_MARK:
        try:
            return _fast_dumps(values[0]).decode("utf-8")
        except TypeError:
            return encode(values[0]).decode("utf-8")
    if mark == "value" or mark == "text":
        return values[0]
    return mark["text"] if type(mark) is dict else _json_styles()[mark](values[0])


def _safe(style: Callable[[Json], Json], value: Json) -> Json:
    try:
        return style(value)
    except (ValueError, TypeError):
        return None


# --- a list of text items as one text --------------------------------------------------------------------------------


def _read_texts(value: Json, kind: str | None) -> tuple[Json, ...] | None:
    if type(value) is not list:
        return None
    for item in value:
        if type(item) is not dict or len(item) != 2 or item.get("type") != kind or type(item.get("text")) is not str:
            return None
    return ("".join(item["text"] for item in value),)


def _mark_texts(value: Json, values: tuple[Json, ...], _: str | None) -> Json:
    """Remember where the items end, unless one item (or none, for an empty text) says it all."""
    lengths = [len(item["text"]) for item in value]
    return NO_MARK if len(lengths) == (1 if values[0] else 0) else lengths


def _write_texts(values: tuple[Json, ...], mark: Json, kind: str | None) -> Json:
    text = values[0]
    lengths = ([len(text)] if text else []) if mark is NO_MARK else mark
    items, start = [], 0
    for length in lengths:
        items.append({"type": kind, "text": text[start : start + length]})
        start += length
    return items


# --- data: URLs ------------------------------------------------------------------------------------------------------

_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)


def _read_data_url(value: Json, _: str | None) -> tuple[Json, ...] | None:
    found = _DATA_URL.fullmatch(value) if type(value) is str else None
    return (found[1], found[2]) if found else None


def _write_data_url(values: tuple[Json, ...], mark: Json, _: str | None) -> Json:
    return f"data:{values[0]};base64,{values[1]}"


# --- the table -------------------------------------------------------------------------------------------------------


def _no_mark(value: Json, values: tuple[Json, ...], _: str | None) -> Json:
    return NO_MARK


def _spelling(
    write: Callable[[tuple[Json, ...], Json, str | None], Json],
) -> Callable[[Json, tuple[Json, ...], str | None], Json]:
    """Return a `mark` that keeps the source value itself wherever plain writing would give another one."""

    def mark(value: Json, values: tuple[Json, ...], argument: str | None) -> Json:
        printed = write(values, NO_MARK, argument)
        return NO_MARK if type(printed) is type(value) and printed == value else value

    return mark


def _write_first(values: tuple[Json, ...], mark: Json, _: str | None) -> Json:
    return values[0] if mark is NO_MARK else mark


def _read_basename(value: Json, _: str | None) -> tuple[Json, ...] | None:
    return (value.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1],) if type(value) is str else None


CONVERSIONS: dict[str, Conversion] = {
    c.name: c
    for c in (
        Conversion("rfc3339", ("timestamp",), _read_rfc3339, _spelling(_write_first), _write_first),
        _epoch(1000),
        _epoch(1),
        Conversion("json_text", ("any",), _read_json_text, _mark_json_text, _write_json_text, quick=_take_json_text),
        Conversion("texts", ("string",), _read_texts, _mark_texts, _write_texts, takes_argument=True),
        Conversion("data_url", ("string", "string"), _read_data_url, _no_mark, _write_data_url),
        Conversion("basename", ("string",), _read_basename, _no_mark, None),
    )
}
