"""Value equality: the exact meaning of "lossless" (same JSON type and value at the same path)."""

from __future__ import annotations

import orjson
import xxhash

from pond.model.json_text import Json, Numeral, encode_exactly


def same(left: Json, right: Json) -> bool:
    """Tell whether two JSON values are equal: 1 is not 1.0, true is not 1, -0.0 is not 0.0; key order is not data."""
    try:
        return orjson.dumps(left, option=orjson.OPT_SORT_KEYS) == orjson.dumps(right, option=orjson.OPT_SORT_KEYS)
    except (TypeError, RecursionError):
        return first_difference(left, right) is None


def fingerprint(value: Json) -> bytes:
    """Return a digest that equal values share and others do not (except by a negligible chance)."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, RecursionError):
        text = encode_exactly(_sorted(value)).encode("utf-8")
    return xxhash.xxh3_128_digest(text)


def _sorted(value: Json) -> Json:
    """Return a value whose objects have their keys in order."""
    # Loops, not comprehensions: those need a second frame per level, and a record may be as deep as the stack allows.
    if type(value) is dict:
        members: Json = {}
        for key in sorted(value):
            members[key] = _sorted(value[key])
        return members
    if type(value) is list:
        items = []
        for item in value:
            items.append(_sorted(item))
        return items
    return value


def first_difference(left: Json, right: Json, path: str = "$") -> str | None:
    """Return the JSON path of the first difference with both values shortened, or None if the values are equal."""
    if type(left) is not type(right):
        return f"{path}: {_kind(left)} became {_kind(right)}"
    if isinstance(left, dict):
        for key, value in left.items():
            if key not in right:
                return f"{path}.{key}: lost ({_short(value)})"
            if found := first_difference(value, right[key], f"{path}.{key}"):
                return found
        extra = [key for key in right if key not in left]
        return f"{path}.{extra[0]}: added ({_short(right[extra[0]])})" if extra else None
    if isinstance(left, list):
        for index, (a, b) in enumerate(zip(left, right, strict=False)):
            if found := first_difference(a, b, f"{path}[{index}]"):
                return found
        return None if len(left) == len(right) else f"{path}: {len(left)} items became {len(right)}"
    equal = left.hex() == right.hex() if isinstance(left, float) else left == right
    return None if equal else f"{path}: {_short(left)} became {_short(right)}"


def _kind(value: Json) -> str:
    if type(value) is Numeral:
        return "integer" if value.is_integer else "number"
    names = {dict: "object", list: "array", str: "string", int: "integer", float: "number", bool: "boolean"}
    return names.get(type(value), "null")


def _short(value: Json) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."
