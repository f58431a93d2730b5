"""What an independent reader sees in session files, and whether all of it came back or was told about.

It shares no code with pond: the standard library's JSON reader, numbers that no double holds kept by their digits.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import md5
from math import isinf
from typing import Any

_BOM = b"\xef\xbb\xbf"
_NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")
_ODD = "\0number "  # before a number that is kept as text
_DIGITS = 4000  # of an integer that Python reads gladly


@dataclass(frozen=True)
class Line:
    """A line that is not blank: `value` is its value, None if it has none; `whole` includes hidden keys."""

    number: int
    value: bytes | None
    whole: bytes | None

    @property
    def hides(self) -> bool:
        """Tell whether it has a duplicate key with different values."""
        return self.value != self.whole


def lines(data: bytes, place: str = "") -> list[Line]:
    """Return the lines of a session file; a document is one."""
    text = data.removeprefix(_BOM)
    if place.endswith(".json") and (value := _line(1, text)).value is not None:
        return [value]
    return [_line(number, line) for number, line in enumerate(text.split(b"\n"), 1) if line.strip()]


def _line(number: int, text: bytes) -> Line:
    hidden: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(items)
        # A duplicate key with the same value hides none.
        if len(value) != len(items) and len({(key, json.dumps(each)) for key, each in items}) != len(value):
            hidden.append(json.dumps(items, sort_keys=True))
        return value

    try:
        value = json.loads(
            text.decode("utf-8"), object_pairs_hook=pairs, parse_float=_float, parse_int=_int, parse_constant=_constant
        )
        digest = md5(json.dumps(value, sort_keys=True).encode(), usedforsecurity=False)
    except (ValueError, RecursionError):
        return Line(number, None, None)
    last = digest.digest()
    for each in hidden:
        digest.update(each.encode())
    return Line(number, last, digest.digest())


def _int(text: str) -> int | str:
    return int(text) if len(text) < _DIGITS else _ODD + text


def _float(text: str) -> float | str:
    return _ODD + _spelled(text) if isinf(value := float(text)) else value


def _constant(text: str) -> str:
    return _ODD + text


def _spelled(text: str) -> str:
    """Return a number in the one way that all its spellings share."""
    found = _NUMBER.fullmatch(text)
    assert found is not None
    sign, before, after, power = found[1], found[2], found[3] or "", int(found[4] or 0)
    digits = (before + after).lstrip("0")
    shorter = digits.rstrip("0")
    return f"{sign}{shorter}e{power - len(after) + len(digits) - len(shorter)}"


# --- what was told ---------------------------------------------------------------------------------------------------


@dataclass
class Told:
    """What a command said about one file: lines, the whole, and how many it only counted."""

    lines: set[int] = field(default_factory=set)
    whole: bool = False
    counted: int = 0


# A file about which one of these is said has no records for pond, or may not have them: the line does not matter.
_WHOLE = ("source-unrecognised", "source-empty", "source-no-id", "source-no-project", "output-exists", "lake-immutable")


def told(faults: Iterable[dict[str, Any]]) -> dict[str, Told]:
    """Return what was told about each file: a warning about a value that is kept excuses no loss."""
    found: dict[str, Told] = defaultdict(Told)
    for fault in faults:
        if fault["severity"] != "error" and fault["code"] not in _WHOLE:
            continue
        about = found[fault.get("file", "")]
        about.counted += fault.get("count", 1) - 1
        if "line" in fault and fault["code"] not in _WHOLE:
            about.lines.add(fault["line"])
        else:
            about.whole = True
    return found


# --- what came back --------------------------------------------------------------------------------------------------


def missing(source: list[Line], restored: list[Line], about: Told) -> Iterator[str]:
    """Say which records of a file neither came back, in their order, nor were told about; and what nobody wrote."""
    at, counted = 0, about.counted
    for line in source:
        back = restored[at] if at < len(restored) else None
        came = line.value is not None and back is not None and back.value == line.value
        at += came
        lost = not came or (line.hides and back is not None and back.whole != line.whole)
        if not lost or line.number in about.lines:
            continue
        if counted:
            counted -= 1
            continue
        what = "is no JSON" if line.value is None else "hides a value" if came else "did not come back"
        yield f"line {line.number} {what}, and nobody says so"
    if at < len(restored):
        yield f"{MORE} from line {restored[at].number} on"


MORE = "more came back than the file holds,"


def begins(source: list[Line], restored: list[Line], about: Told) -> bool:
    """Tell whether what came back begins with all of a file, or what was told of it."""
    return all(each.startswith(MORE) for each in missing(source, restored, about))
