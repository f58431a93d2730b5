"""JSON text to values and back without changing a value.

In memory a JSON value is dict, list, str, int, finite float, bool or None; a number that Python's own types cannot hold
(1e400, NaN, an integer of 5,000 digits) is a `Numeral`. The fast library is used wherever it can be *proved* exact for
the line at hand: a line that re-encodes to its own bytes lost nothing. Everything else is read by a slower, exact
reader.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
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


class Numeral:
    """A number too large for a float, or with more digits than Python converts to an int, as its JSON text.

    Python refuses very long integers because its conversion takes quadratic time, and that limit belongs to the whole
    process. A text needs no conversion: it is exact, and its cost is its length. It is not a dataclass, because the
    fast encoder would write one as an object.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return type(other) is Numeral and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text

    @property
    def is_integer(self) -> bool:
        return self.text.lstrip("-").isdigit()


class _PlainFloats(dict[str, float]):
    """The floats that the encoder writes no longer than their text; a few are cached, because many repeat."""

    def __missing__(self, text: str) -> float:
        value = float(text)
        if isinf(value) or len(_fast_dumps(value)) > len(text):
            raise ValueError(text)
        if len(self) < _MOST_FLOATS:
            self[text] = value
        return value


_MOST_FLOATS = 1024
_plain_decoder = msgspec.json.Decoder(float_hook=_PlainFloats().__getitem__)

# Both fast libraries crash if memory runs out. Before a long line is decoded there must be room for its value, and then
# room to write it: orjson asks for eight times the length of a text, rounded up to a power of two.
LONG, _DECODING, _WRITING = 16 << 20, 6, 18

NOT_PLAIN = object()  # the result of a fast reader for text it does not accept

# Far beyond any real record, and shallow enough that every recursive reader and writer of Python survives it.
MAX_DEPTH = 500
_NESTS = (dict, list)
EVENT_DEPTH = MAX_DEPTH + 12  # a record of MAX_DEPTH levels is a few levels deeper inside its event, and in the lake


class NotJson(ValueError):
    """The text is not one JSON value; `code` is the diagnostic code that says why."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code

    def __reduce__(self) -> tuple[type[NotJson], tuple[str, str]]:
        return NotJson, (self.code, str(self))  # it is sent between processes


def decode(line: bytes, duplicate_key: Callable[[str], None], max_depth: int = MAX_DEPTH) -> Json:
    """Return the exact value of `line`, or raise NotJson; call `duplicate_key` for a key that hides an earlier one."""
    if len(line) > LONG:
        return _decode_long(line, duplicate_key, max_depth)
    try:
        value = _fast_loads(line)
        # A line comes with its line feed; written with one, an exact reading gives the same bytes.
        if _fast_dumps(value, None, _NEWLINE) == line or _fast_dumps(value) == line:
            return value
    except (orjson.JSONDecodeError, TypeError, RecursionError):
        pass
    return _decode_exactly(line.strip(), duplicate_key, max_depth)


def _decode_exactly(line: bytes, duplicate_key: Callable[[str], None], max_depth: int) -> Json:
    try:
        # Integers of any size stay integers here; orjson would have turned them into floats.
        value = _exact_decoder.decode(line)
        if _key_count(value, max_depth) == _key_ends(line):
            return value
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return decode_strictly(line, duplicate_key, max_depth)


def _decode_long(line: bytes, duplicate_key: Callable[[str], None], max_depth: int) -> Json:
    try:
        if _has_room(line, _DECODING):
            value = _decode_exactly(line.strip(), duplicate_key, max_depth)
            if _has_room(line, _WRITING):
                return value
    except MemoryError:
        pass
    raise NotJson("source-too-large", f"{len(line)} bytes of JSON text need more memory than there is")


def _has_room(line: bytes, times: int) -> bool:
    """Tell whether there is memory for the next step with a long line: this many times its length."""
    try:
        mmap.mmap(-1, times * len(line)).close()  # it is never touched, so it costs nothing
        return True
    except OSError:
        return False


def decode_plain(line: bytes) -> Json:
    """Return the exact value of a line that `encode_plain` never makes longer; NOT_PLAIN for any other.

    The line has its line feed, and nothing else after its object: an id may be made from its bytes. Every spelling
    other than the encoder's own is longer, except for numbers (1e6 is written as 1000000.0, 1e-05 as 0.00001): a line
    with such a number is refused here. A duplicate key makes the output shorter. So if the output is as long as the
    line, there was no duplicate key.
    """
    if line[-2:] != b"}\n" or (len(line) > LONG and not _has_room(line, _DECODING + _WRITING)):
        return NOT_PLAIN
    try:
        return _plain_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, MemoryError):
        return NOT_PLAIN


def decode_unproved(line: bytes, duplicate_key: Callable[[str], None], max_depth: int = MAX_DEPTH) -> Json:
    """Return the exact value of `line`, but look for duplicate keys only if the fast reader does not accept it."""
    if len(line) > LONG:
        return _decode_long(line, duplicate_key, max_depth)
    try:
        return _exact_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return decode(line, duplicate_key, max_depth)


def decode_stored(text: str) -> Json:
    """Return the value of JSON text that pond wrote itself: it is nested deeper there than in its source."""
    return decode_unproved(text.encode(), _ignore, EVENT_DEPTH)


def decode_strictly(line: bytes, duplicate_key: Callable[[str], None], max_depth: int = MAX_DEPTH) -> Json:
    """Return the value as the standard library reads it: the slow reader that knows every trap."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotJson("source-encoding", f"expected UTF-8, found byte 0x{line[error.start]:02x}") from None
    try:
        try:
            value, twice = _loads(text, int)
        except json.JSONDecodeError:
            raise
        except ValueError:  # more digits than the interpreter converts; checking each number costs, so only now
            value, twice = _loads(text, _integer)
    except json.JSONDecodeError as error:
        raise NotJson("source-not-json", _why(error, text)) from None
    except RecursionError:
        raise NotJson("source-too-deep", "nested too deeply to be read") from None
    _key_count(value, max_depth)
    for key in twice:
        duplicate_key(key)
    return value


def _loads(text: str, parse_int: Callable[[str], int | Numeral]) -> tuple[Json, list[str]]:
    """Return the value of JSON text, and the keys that hide an earlier one."""
    twice: list[str] = []

    def pairs(items: list[tuple[str, Json]]) -> JsonObject:
        out = dict(items)
        if len(out) != len(items):
            seen: set[str] = set()
            for key, _ in items:
                if key in seen:
                    twice.append(key)
                seen.add(key)
        return out

    value = json.loads(
        text, object_pairs_hook=pairs, parse_float=_float, parse_int=parse_int, parse_constant=Numeral
    )  # fmt: skip
    return value, twice


def encode(value: Json) -> bytes:
    """Return the compact JSON text of `value`, valid UTF-8 for any value `decode` can return."""
    try:
        return _fast_dumps(value)
    except (TypeError, RecursionError):  # big integers, numerals, lone surrogates, deep nesting
        return encode_exactly(value).encode("utf-8")


def encode_plain(value: Json) -> bytes | None:
    """Return what `encode_line` gives, or None if it needs the slow spelling."""
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
    """Return JSON text for values that the fast encoder refuses, in ASCII. Raise NotJson for endless nesting."""
    if depth > EVENT_DEPTH:
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
    return str(value.text) if kind is Numeral else json.dumps(value)


def _float(text: str) -> float | Numeral:
    value = float(text)
    return Numeral(_spelled(text)) if isinf(value) else value


def _spelled(text: str) -> str:
    """Return one spelling per precision for a number beyond all floats; it never looks like an integer."""
    try:
        spelled = str(Decimal(text))
    except InvalidOperation:  # an exponent of nineteen digits
        return text
    return spelled if "." in spelled or "E" in spelled else f"{spelled}.0"


def _integer(text: str) -> int | Numeral:
    try:
        return int(text)
    except ValueError:  # more digits than the interpreter converts
        return Numeral(text)


def _ignore(_: str) -> None:
    """Take the last of two keys: what pond wrote has each only once."""


def _why(error: json.JSONDecodeError, text: str) -> str:
    if not text.strip():
        return "expected a JSON object, found an empty line"
    if error.pos >= len(text.rstrip()):
        return "cut off: the JSON text ends in the middle of a value"
    if "\x00" in text[:64]:
        return "expected JSON text, found binary data"
    return f"{error.msg[0].lower()}{error.msg[1:].removesuffix(' at')} at column {error.colno}"


def nests_deeper(value: Json, levels: int) -> bool:
    """Tell whether objects and lists are nested more than this many levels deep."""
    level = [value] if type(value) in _NESTS else []
    for _ in range(levels):
        if not level:
            return False
        level = [
            member
            for item in level
            for member in (item.values() if type(item) is dict else item)
            if type(member) in _NESTS
        ]
    return bool(level)


def _key_ends(line: bytes) -> int:
    """Count the key ends in JSON text; -1 if the spelling makes the count unsafe."""
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
