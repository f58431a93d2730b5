"""Named conversion pairs between a source value and canonical values.

`read` returns the canonical values, or None if the source value does not fit. `write` returns the source value. If
`write(read(s))` is not `s`, `spelling` says what to remember, and `write` uses that. For every s that fits:
`write(read(s), spelling(s)) == s`.
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
from pond.model.lineage import KINDS

NO_SPELLING = object()
_fast_loads, _fast_dumps = orjson.loads, orjson.dumps


@dataclass(frozen=True, slots=True)
class ValueConversion:
    """One named pair. `gives` are the canonical types, one per target; `write` is None for a one-way reader."""

    name: str
    gives: tuple[str, ...]
    read: Callable[[Json, str | None], tuple[Json, ...] | None]
    spelling: Callable[[Json, tuple[Json, ...], str | None], Json]
    write: Callable[[tuple[Json, ...], Json, str | None], Json] | None
    takes_argument: bool = False
    quick: Callable[[Json, str | None], tuple[Json, ...] | None] | None = None  # `take`, short for common values

    def take(self, value: Json, argument: str | None) -> tuple[Json, ...] | None:
        """Return the values of `read` followed by the `spelling`, or None if the value does not fit."""
        values = self.read(value, argument)
        return None if values is None else (*values, self.spelling(value, values, argument))

    @property
    def taker(self) -> Callable[[Json, str | None], tuple[Json, ...] | None]:
        """The fastest function that does what `take` does."""
        return self.quick or self.take


# --- time ------------------------------------------------------------------------------------------------------------


def _read_rfc3339(value: Json, _: str | None) -> tuple[Json, ...] | None:
    found = instant(value) if type(value) is str else None
    return None if found is None else (found,)


def _epoch(per_second: int) -> ValueConversion:
    def read(value: Json, _: str | None) -> tuple[Json, ...] | None:
        if type(value) is not int and type(value) is not float:
            return None
        try:
            return (print_instant(datetime.fromtimestamp(value / per_second, UTC)),)
        except (ValueError, OverflowError, OSError):
            return None

    def write(values: tuple[Json, ...], spelling: Json, _: str | None) -> Json:
        if spelling is not NO_SPELLING:
            return spelling
        moment = datetime.fromisoformat(values[0])
        return round(moment.timestamp() * per_second)

    return ValueConversion(
        f"epoch_{'ms' if per_second == 1000 else 's'}", ("timestamp",), read, _spelled_as_source(write), write
    )


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
        return (value,)  # text that is not JSON is its own value; the spelling says so


def _take_json_text(value: Json, argument: str | None) -> tuple[Json, ...] | None:
    """Accept text that re-encodes to itself at once: it was read exactly, and is spelled as `write` spells it."""
    try:
        found = _fast_loads(value)
        if _fast_dumps(found) == value.encode("utf-8"):
            return found, NO_SPELLING
    except (ValueError, TypeError, AttributeError):
        pass
    return CONVERSIONS["json_text"].take(value, argument)


def _spelling_of_json_text(value: Json, values: tuple[Json, ...], _: str | None) -> Json:
    """Return how the text was spelled: None (compact), a style name, `value`/`text`, or as a last resort the text."""
    if type(value) is not str:
        return "value"
    if values[0] is value:
        return "text"
    if _safe(encode, values[0]) == value.encode("utf-8"):
        return NO_SPELLING
    for name, style in _json_styles().items():
        if _safe(style, values[0]) == value:
            return name
    return {"text": value}


def _write_json_text(values: tuple[Json, ...], spelling: Json, _: str | None) -> Json:
    if spelling is NO_SPELLING:
        try:
            return _fast_dumps(values[0]).decode("utf-8")
        except TypeError:
            return encode(values[0]).decode("utf-8")
    if spelling == "value" or spelling == "text":
        return values[0]
    return spelling["text"] if type(spelling) is dict else _json_styles()[spelling](values[0])


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


def _spelling_of_texts(value: Json, values: tuple[Json, ...], _: str | None) -> Json:
    """Remember where the items end, unless there is only one item (or none, for an empty text)."""
    lengths = [len(item["text"]) for item in value]
    return NO_SPELLING if len(lengths) == (1 if values[0] else 0) else lengths


def _write_texts(values: tuple[Json, ...], spelling: Json, kind: str | None) -> Json:
    text = values[0]
    lengths = ([len(text)] if text else []) if spelling is NO_SPELLING else spelling
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


def _write_data_url(values: tuple[Json, ...], spelling: Json, _: str | None) -> Json:
    return f"data:{values[0]};base64,{values[1]}"


# --- the table -------------------------------------------------------------------------------------------------------


def _no_spelling(value: Json, values: tuple[Json, ...], _: str | None) -> Json:
    return NO_SPELLING


def _spelled_as_source(
    write: Callable[[tuple[Json, ...], Json, str | None], Json],
) -> Callable[[Json, tuple[Json, ...], str | None], Json]:
    """Return a `spelling` that keeps the source value itself wherever plain writing would give another one."""

    def spelling(value: Json, values: tuple[Json, ...], argument: str | None) -> Json:
        printed = write(values, NO_SPELLING, argument)
        return NO_SPELLING if type(printed) is type(value) and printed == value else value

    return spelling


def _write_first(values: tuple[Json, ...], spelling: Json, _: str | None) -> Json:
    return values[0] if spelling is NO_SPELLING else spelling


def _read_basename(value: Json, _: str | None) -> tuple[Json, ...] | None:
    return (value.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1],) if type(value) is str else None


def _lineage(kind: str) -> ValueConversion:
    """Return the reader for which it is enough that there is a value: the session comes from its parent so."""

    def read(value: Json, _: str | None) -> tuple[Json, ...] | None:
        return None if value is None else (kind,)

    return ValueConversion(kind, ("any",), read, _no_spelling, None)


CONVERSIONS: dict[str, ValueConversion] = {
    c.name: c
    for c in (
        ValueConversion("rfc3339", ("timestamp",), _read_rfc3339, _spelled_as_source(_write_first), _write_first),
        _epoch(1000),
        _epoch(1),
        ValueConversion(
            "json_text", ("any",), _read_json_text, _spelling_of_json_text, _write_json_text, quick=_take_json_text
        ),
        ValueConversion("texts", ("string",), _read_texts, _spelling_of_texts, _write_texts, takes_argument=True),
        ValueConversion("data_url", ("string", "string"), _read_data_url, _no_spelling, _write_data_url),
        ValueConversion("basename", ("string",), _read_basename, _no_spelling, None),
        *map(_lineage, KINDS),
    )
}
