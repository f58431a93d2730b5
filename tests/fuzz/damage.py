"""What happens to session files: to one record, to the lines of a file, to the bytes."""

import json
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import ClassVar

from tests.fuzz.values import Json, Odd, Twice, objects, text

_IDS = ("uuid", "parentUuid", "sessionId", "id", "call_id", "tool_use_id", "requestId", "messageId", "turn_id")
_LINES = [
    b"\n", b"   \t\n", b"\r\n", b"null\n", b"3\n", b'"text"\n', b"[]\n", b"[1,{}]\n", b"{}\n", b"true\n", b"{\n",
    b"}\n",
    b"\x00" * 64 + b"\n", b"\x00\n", b"not json\n", b"\xff\xfe\n", b"\xef\xbb\xbf{}\n", b"\x1a\n", b"NaN\n", b"-0.0\n",
    b'{"a":1}{"b":2}\n', b'{"a":1},\n', b"'a'\n", b'{"a":1} // no\n', b"\xc3(\n", b'{"a":"\x01"}\n', b"\x0c\n",
]  # fmt: skip

_MOST_NESTED = 300  # brackets of a line that is taken apart: the tools here are recursive, too

Lines = list[bytes]


class Damage:
    """Does something to the lines of a file; `others` are lines of the store that may stray in."""

    def __init__(self, dice: Random, others: Lines) -> None:
        self._dice, self._odd, self._others = dice, Odd(dice), others

    def done_to(self, lines: Lines) -> bytes:
        """Return the bytes of a file to which a few things happened."""
        lines = list(lines)
        for _ in range(self._dice.choice([1, 1, 1, 2, 3, 6, 12])):
            self._dice.choice(self._kinds)(self, lines)
        return self._as_bytes(lines)

    # --- one record ----------------------------------------------------------------------------------------------

    def _record(self, lines: Lines) -> None:
        """Change the value of a record in one place or more."""
        at, record = self._drawn(lines)
        if record is None:
            return
        for _ in range(self._dice.choice([1, 1, 2, 4])):
            self._dice.choice(
                [self._put, self._put, self._put, self._drop, self._rename, self._transplant, self._repeat_id]
            )(record)
        lines[at] = text(record).encode("utf-8", "surrogatepass") + b"\n"

    def _drawn(self, lines: Lines) -> tuple[int, dict[str, Json] | None]:
        if not lines:
            return 0, None
        at = self._dice.randrange(len(lines))
        if lines[at].count(b"[") + lines[at].count(b"{") > _MOST_NESTED:
            return at, None
        try:
            value = json.loads(lines[at])
        except (ValueError, RecursionError):
            return at, None
        return at, value if isinstance(value, dict) else None

    def _place(self, record: dict[str, Json]) -> tuple[dict[str, Json], str]:
        inside = self._dice.choice([each for each in objects(record) if each] or [record])
        return inside, self._dice.choice([*inside] or [""])

    def _put(self, record: dict[str, Json]) -> None:
        inside, key = self._place(record)
        inside[key if self._dice.random() < 0.8 else self._odd.key()] = self._odd.value()

    def _drop(self, record: dict[str, Json]) -> None:
        inside, key = self._place(record)
        inside.pop(key, None)

    def _rename(self, record: dict[str, Json]) -> None:
        inside, key = self._place(record)
        inside[self._odd.key()] = inside.pop(key, None)

    def _transplant(self, record: dict[str, Json]) -> None:
        """Copy a value of the record to another place in it."""
        (one, first), (other, second) = self._place(record), self._place(record)
        one[first] = deepcopy(other.get(second))

    def _repeat_id(self, record: dict[str, Json]) -> None:
        """Give it an id of a record elsewhere."""
        other = self._other_record()
        for inside in objects(record):
            for key in _IDS:
                if key in inside and isinstance(other.get(key), str) and self._dice.random() < 0.5:
                    inside[key] = other[key]

    def _other_record(self) -> dict[str, Json]:
        try:
            value = json.loads(self._dice.choice(self._others))
        except (ValueError, RecursionError, IndexError):
            return {}
        return value if isinstance(value, dict) else {}

    def _twice(self, lines: Lines) -> None:
        """Give an object a duplicate key."""
        at, record = self._drawn(lines)
        if not record:
            return
        inside, key = self._place(record)
        first = self._odd.value() if self._dice.random() < 0.5 else inside.get(key)
        if inside is record:
            lines[at] = text(Twice(inside, key, first)).encode("utf-8", "surrogatepass") + b"\n"
            return
        copy = dict(inside)
        inside.clear()
        inside["\0here"] = None
        whole = text(record).replace(text(inside), text(Twice(copy, key, first)), 1)
        lines[at] = whole.encode("utf-8", "surrogatepass") + b"\n"

    def _deep(self, lines: Lines) -> None:
        at, record = self._drawn(lines)
        if record is not None:
            inside, key = self._place(record)
            inside[key] = self._odd.nested(inside.get(key))
            lines[at] = text(record).encode("utf-8", "surrogatepass") + b"\n"

    # --- lines ---------------------------------------------------------------------------------------------------

    def _insert(self, lines: Lines) -> None:
        lines.insert(self._dice.randint(0, len(lines)), self._dice.choice(_LINES))

    def _stray(self, lines: Lines) -> None:
        """Insert lines of another file, perhaps of another client."""
        if self._others:
            start = self._dice.randrange(len(self._others))
            at = self._dice.choice([0, len(lines), self._dice.randint(0, len(lines))])
            lines[at:at] = self._others[start : start + self._dice.choice([1, 1, 3, 8])]

    def _repeat(self, lines: Lines) -> None:
        if lines:
            start = self._dice.randrange(len(lines))
            again = lines[start : start + self._dice.choice([1, 1, 2, 10])]
            at = self._dice.choice([start, len(lines)])
            lines[at:at] = again

    def _lose(self, lines: Lines) -> None:
        start = self._dice.randint(0, len(lines))
        del lines[start : start + self._dice.choice([1, 1, 3, len(lines)])]

    def _exchange(self, lines: Lines) -> None:
        if lines:
            a, b = self._dice.randrange(len(lines)), self._dice.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]

    def _cut(self, lines: Lines) -> None:
        """Cut a line in its midst: its end is gone, or its line feed, or it is the end of the file."""
        if not lines:
            return
        at = self._dice.randrange(len(lines))
        line = lines[at]
        kept = line[: self._dice.randint(0, len(line))]
        match self._dice.randrange(3):
            case 0:
                lines[at] = kept + b"\n"
            case 1:
                lines[at] = kept
            case _:
                lines[at:] = [kept]

    def _bytes(self, lines: Lines) -> None:
        if lines:
            at = self._dice.randrange(len(lines))
            line = bytearray(lines[at])
            for _ in range(self._dice.choice([1, 1, 3])):
                at_byte = self._dice.randrange(len(line))
                line[at_byte : at_byte + 1] = bytes([self._dice.choice(b'\x00\xff\xc3"\\{}[],:\x1b\r e0')])
            lines[at] = bytes(line)

    _kinds: ClassVar[list[Callable[..., None]]] = [
        _record, _record, _record, _record, _twice, _deep, _insert, _insert, _stray, _repeat, _lose, _exchange, _cut,
        _bytes,
    ]  # fmt: skip

    # --- the whole -----------------------------------------------------------------------------------------------

    def _as_bytes(self, lines: Lines) -> bytes:
        data = b"".join(lines)
        match self._dice.randrange(16):
            case 0:
                return b"\xef\xbb\xbf" + data
            case 1:
                return data.replace(b"\n", b"\r\n")
            case 2:
                return data.rstrip(b"\n")
            case 3:
                return data + b"\x00" * self._dice.choice([1, 4096])
            case 4:
                return data.replace(b"\n", b"\n\n")
            case _:
                return data
