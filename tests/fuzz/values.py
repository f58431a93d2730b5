"""Values nobody expects, and the text of records that hold them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

Json: TypeAlias = Any


@dataclass(frozen=True)
class Raw:
    """JSON text that goes out as it is."""

    text: str


@dataclass(frozen=True)
class Twice:
    """An object with a duplicate key."""

    value: dict[str, Json]
    key: str
    first: Json


def text(value: Json) -> str:
    """Return compact JSON text of a value that may hold what Python has no value for."""
    match value:
        case Raw():
            return value.text
        case Twice():
            members = [(value.key, value.first), *value.value.items()]
            return _object(members)
        case dict():
            return _object(list(value.items()))
        case list():
            return "[" + ",".join(map(text, value)) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False) if _is_plain(value) else json.dumps(value)


def _object(members: list[tuple[str, Json]]) -> str:
    return "{" + ",".join(f"{json.dumps(key)}:{text(member)}" for key, member in members) + "}"


def _is_plain(value: Json) -> bool:
    return not isinstance(value, str) or not any("\ud800" <= each <= "\udfff" for each in value)


_NUMBERS = [
    "1e400", "-1e400", "NaN", "Infinity", "-Infinity", "-0.0", "-0", "0.0", "1e-05", "0.00001", "1e-400", "5e-324",
    "1E+2", "1.0", "100000000000000000000", "-9223372036854775809", "18446744073709551616", "1e22", "123456789.10",
    "0.1e1", "1e9999999999999999999", "1e-9999999999999999999", "7" * 400, "7" * 5000, "-" + "7" * 5000,
    "0." + "3" * 5000, "1e16", "1e15", "9007199254740993",
]  # fmt: skip
_TEXTS = [
    "", " ", "\ud800", "\udfff tail", "emoji \U0001f33f", "\ud83c\udf3f", "\x00", "\x1b[31mred\x1b[0m", "\x1b]0;t\x07",
    "\u2028\u2029", "\ufeff", "line\nline\r\nline\r", "\\", '"', '":', '\\":', "a" * 70_000, "..", "../../x", "/", "~",
    "*", "?[a]", "'; --", "%s", "{stem}", "2026-13-45T99:99:99Z", "2026-03-14T08:26:55.939123456Z", "1e5", "null",
    "<task-notification>", "data:image/png;base64,AAAA", "AAAA", "AAA=", "A" * 4000, "é", "é",
]  # fmt: skip
_KEYS = [
    "", "pond", "options", "source", "kind", "type", "id", "uuid", "sessionId", "cwd", "timestamp", "payload",
    "message", "content", "role", "__proto__", "a.b", "$", "\ud800", "\x1b[2J", "0", "pond_origin",
]  # fmt: skip
_DEPTHS = [3, 60, 120, 400, 470, 485, 488, 490, 495, 496, 498, 499, 500, 501, 505, 520, 700, 900, 1100, 6000, 50_000]


class Odd:
    """Draws values."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def value(self) -> Json:
        """Draw anything: a number, a text, a shape."""
        dice = self._dice
        match dice.randrange(10):
            case 0 | 1 | 2:
                return Raw(dice.choice(_NUMBERS))
            case 3 | 4 | 5:
                return dice.choice(_TEXTS)
            case 6:
                return dice.choice([None, True, False, [], {}, [[]], [None], {"": {}}])
            case 7:
                return self.nested(dice.choice(["x", 1, Raw("1e400"), "\ud800"]))
            case 8:
                return {dice.choice(_KEYS): self._leaf() for _ in range(dice.randrange(4))}
            case _:
                return [self._leaf() for _ in range(dice.randrange(4))]

    def _leaf(self) -> Json:
        return Raw(self._dice.choice(_NUMBERS)) if self._dice.random() < 0.5 else self._dice.choice(_TEXTS)

    def key(self) -> str:
        return self._dice.choice(_KEYS)

    def nested(self, inner: Json) -> Raw:
        """Return a value many levels deep."""
        depth, opening = self._dice.choice(_DEPTHS), self._dice.choice(["[", '{"a":', '{"type":'])
        return Raw(opening * depth + text(inner) + ("]" if opening == "[" else "}") * depth)


def objects(value: Json) -> Iterator[dict[str, Json]]:
    """Yield every object in a value, the outermost first."""
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from objects(member)
    elif isinstance(value, list):
        for item in value:
            yield from objects(item)
