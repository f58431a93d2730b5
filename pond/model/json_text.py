"""JSON text to values and back without changing a value.

In memory a JSON value is dict, list, str, int, finite float, bool or None; a number that no double can hold (1e400,
NaN, Infinity) is a `Decimal`. The fast library is used wherever it can be *proved* exact for the line at hand: a line
that re-encodes to its own bytes lost nothing. Everything else takes a slower, exact road.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from math import isinf
from typing import Any, TypeAlias

import msgspec
import orjson

Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]

_fast_loads = orjson.loads
_fast_dumps = orjson.dumps
_NEWLINE = orjson.OPT_APPEND_NEWLINE
_exact_decoder = msgspec.json.Decoder()


class _PlainFloats(dict[str, float]):
    """The floats that are spelled as the encoder spells them, by their text; a few are remembered: many come again."""

    def __missing__(self, text: str) -> float:
        value = float(text)
        if repr(value) != text:  # Python's spelling is the encoder's, or longer
            raise ValueError(text)
        if len(self) < _MOST_FLOATS:
            self[text] = value
        return value


_MOST_FLOATS = 1024
_plain_decoder = msgspec.json.Decoder(float_hook=_PlainFloats().__getitem__)

NOT_PLAIN = object()  # what a fast road gives for text it does not take

# Far beyond any real record, and shallow enough that every recursive reader and writer of Python survives it.
MAX_DEPTH = 500
_EVENT_DEPTH = 12  # a record of MAX_DEPTH levels lies a few levels deeper inside its event


class NotJson(ValueError):
    """The text is not one JSON value; `code` is the diagnostic code that says why."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def decode(line: bytes, duplicate_key: Callable[[str], None], max_depth: int = MAX_DEPTH) -> Json:
    """Return the exact value of `line`, or raise NotJson; call `duplicate_key` for a key that hides an earlier one."""
    try:
        value = _fast_loads(line)
        # A line comes with its line feed; written with one, an exact reading gives the same bytes.
        if _fast_dumps(value, None, _NEWLINE) == line or _fast_dumps(value) == line:
            return value
    except (orjson.JSONDecodeError, TypeError, RecursionError):
        pass
    line = line.strip()
    try:
        # Integers of any size stay integers here; orjson would have made floats of them.
        value = _exact_decoder.decode(line)
        if _key_count(value, max_depth) == _key_ends(line):
            return value
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    value = decode_strictly(line, duplicate_key)
    _key_count(value, max_depth)
    return value


def decode_plain(line: bytes) -> Json:
    """Return the exact value of a line that `encode_plain` never makes longer than it was; NOT_PLAIN for any other.

    The line has its line feed, and nothing else after its object: an id may be made from its bytes. Every spelling but
    the encoder's own is longer than that, except for numbers (1e6 is written as 1000000.0): a line with such a number
    is refused here. A key that stands twice makes what is written shorter. So where what is written is as long as the
    line, no key stood twice.
    """
    if line[-2:] != b"}\n":
        return NOT_PLAIN
    try:
        return _plain_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return NOT_PLAIN


def decode_unproved(line: bytes, duplicate_key: Callable[[str], None]) -> Json:
    """Return the exact value of `line`, but look for duplicate keys only where the fast road does not take it."""
    try:
        return _exact_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return decode(line, duplicate_key)


def decode_strictly(line: bytes, duplicate_key: Callable[[str], None]) -> Json:
    """Return the value as the standard library reads it: the road that knows every trap and takes its time."""

    def pairs(items: list[tuple[str, Json]]) -> JsonObject:
        out = dict(items)
        if len(out) != len(items):
            seen: set[str] = set()
            for key, _ in items:
                if key in seen:
                    duplicate_key(key)
                seen.add(key)
        return out

    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotJson("source-encoding", f"expected UTF-8, found byte 0x{line[error.start]:02x}") from None
    try:
        return json.loads(text, object_pairs_hook=pairs, parse_float=_number, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise NotJson("source-not-json", _why(error, text)) from None
    except RecursionError:
        raise NotJson("source-too-deep", "nested too deeply to be read") from None
    except ValueError as error:  # an integer beyond the interpreter's digit limit
        raise NotJson("source-not-json", str(error)) from None


def encode(value: Json) -> bytes:
    """Return the compact JSON text of `value`, valid UTF-8 for any value `decode` can return."""
    try:
        return _fast_dumps(value)
    except (TypeError, RecursionError):  # big integers, Decimals, lone surrogates, deep nesting
        return encode_exactly(value).encode("utf-8")


def encode_plain(value: Json) -> bytes | None:
    """Return what `encode_line` gives, or None where that would have to spell it in its longer way."""
    try:
        return _fast_dumps(value, None, _NEWLINE)
    except (TypeError, RecursionError):
        return None


def encode_line(value: Json) -> bytes:
    """Return `encode(value)` with its line end."""
    try:
        return _fast_dumps(value, None, _NEWLINE)
    except (TypeError, RecursionError):
        return encode_exactly(value).encode("utf-8") + b"\n"


def encode_exactly(value: Json, depth: int = 0) -> str:
    """Return JSON text for values the fast encoder refuses; escapes all but ASCII. Raise NotJson on bottomless ones."""
    if depth > MAX_DEPTH + _EVENT_DEPTH:
        raise NotJson("source-too-deep", f"nested deeper than {MAX_DEPTH} levels")
    kind = type(value)
    if kind is dict:
        members = []
        for key, member in value.items():
            members.append(f"{json.dumps(key)}:{encode_exactly(member, depth + 1)}")
        return "{" + ",".join(members) + "}"
    if kind is list:
        items = []
        for item in value:
            items.append(encode_exactly(item, depth + 1))
        return "[" + ",".join(items) + "]"
    if kind is Decimal:
        return str(value) if value.is_finite() else ("NaN" if value.is_nan() else ("-" * (value < 0)) + "Infinity")
    return json.dumps(value)


def _number(text: str) -> float | Decimal:
    value = float(text)
    return Decimal(text) if isinf(value) else value


def _constant(name: str) -> Decimal:
    return Decimal(name)


def _why(error: json.JSONDecodeError, text: str) -> str:
    if not text.strip():
        return "expected a JSON object, found an empty line"
    if error.pos >= len(text.rstrip()):
        return "cut off: the JSON text ends in the middle of a value"
    if "\x00" in text[:64]:
        return "expected JSON text, found binary data"
    return f"{error.msg[0].lower()}{error.msg[1:]} at column {error.colno}"


def _key_ends(line: bytes) -> int:
    """Count the key ends in JSON text; -1 where spelling makes the count unsure."""
    if b'\\\\":' in line or b'" :' in line or b'"\t:' in line or b'"\n' in line or b'"\r' in line:
        return -1
    return line.count(b'":') - line.count(b'\\":')


def _key_count(value: Json, max_depth: int) -> int:
    """Count the keys of all objects in `value`, level by level; raise NotJson below `max_depth` levels."""
    count = depth = 0
    level = [value]
    while level:
        depth += 1
        below: list[Json] = []
        for item in level:
            if type(item) is dict:
                count += len(item)
                below.extend(item.values())
            elif type(item) is list:
                below.extend(item)
        if depth > max_depth:
            raise NotJson("source-too-deep", f"nested deeper than {max_depth} levels")
        level = below
    return count
