"""Texts and times as columns hold them: valid Unicode, and microseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

# --- text ------------------------------------------------------------------------------------------------------------

_ESCAPED = "\x01"


def to_stored(text: str) -> str:
    """Return a text that UTF-8 can hold, different for each text; nearly always `text` itself.

    JSON can spell half a surrogate pair, and UTF-8 cannot. It is written with Python's escapes, not JSON's: those
    cannot tell two adjacent halves from the character they would form.
    """
    if text[:1] != _ESCAPED:
        if text.isascii():
            return text
        try:
            text.encode("utf-8")
            return text
        except UnicodeEncodeError:
            pass
    return _ESCAPED + text.encode("unicode_escape").decode("ascii")


def from_stored(text: str) -> str:
    """Return the text that was passed to `to_stored`."""
    return text[1:].encode("ascii").decode("unicode_escape") if text[:1] == _ESCAPED else text


def stored_beginnings(text: str) -> tuple[str, str]:
    """Return the stored prefixes for texts that begin with `text`: unchanged, or with escapes."""
    return to_stored(text), _ESCAPED + text.encode("unicode_escape").decode("ascii")


# --- time ------------------------------------------------------------------------------------------------------------

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SEPARATORS = slice(4, 20, 3)
_CANONICAL = (24, 27)  # characters
# A time finer than a microsecond has a digit other than zero in the seventh place or later.
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6}0*)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_SECONDS = [f"{second:02}." for second in range(60)]
_MILLISECONDS = [f"{millisecond:03}Z" for millisecond in range(1000)]
_parse = datetime.fromisoformat


def to_micros(text: str) -> int | None:
    """Return the microseconds from 1970 to an RFC 3339 time; None if it is not one, or is finer than that."""
    try:
        if text[_SEPARATORS] == "--T::." and text[-1] == "Z" and len(text) in _CANONICAL:
            return (_parse(text) - _EPOCH) // _MICROSECOND
        return (_parse(text.upper()) - _EPOCH) // _MICROSECOND if _TIME.fullmatch(text) else None
    except (ValueError, OverflowError):
        return None


def from_micros(micros: int) -> str:
    """Return the canonical spelling of a time: UTC, milliseconds, or microseconds if they are not zero."""
    minute, rest = divmod(micros, 60_000_000)
    milliseconds, finer = divmod(rest, 1000)
    if finer:
        return f"{_minute(minute)}{rest // 1_000_000:02}.{rest % 1_000_000:06}Z"
    return _minute(minute) + _SECONDS[milliseconds // 1000] + _MILLISECONDS[milliseconds % 1000]


@lru_cache(maxsize=4096)
def _minute(minute: int) -> str:
    """Return the spelling up to the seconds. Neighbouring rows share it, and Python takes a microsecond to print it."""
    return (_EPOCH + timedelta(minutes=minute)).isoformat()[:17]
