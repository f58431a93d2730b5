"""Paths into records: look, take, put."""

from __future__ import annotations

from pond.lang.plan import Condition, Keys, dotted
from pond.lang.runtime import MISSING, Broken
from pond.model.json_text import Json, JsonObject


def get(record: Json, keys: Keys) -> Json:
    """Return the value at `keys`, or MISSING."""
    for key in keys:
        if type(record) is not dict or key not in record:
            return MISSING
        record = record[key]
    return record


def take(record: JsonObject, keys: Keys) -> None:
    """Remove the value at `keys`; the objects on the path stay, even if empty."""
    for key in keys[:-1]:
        record = record[key]
    del record[keys[-1]]


def put(record: JsonObject, keys: Keys, value: Json) -> None:
    """Set the value at `keys`, making missing objects."""
    for key in keys[:-1]:
        record = record.setdefault(key, {})
        if type(record) is not dict:
            raise Broken(f"expected an object at `{dotted(keys)}`")
    record[keys[-1]] = value


def prune(record: JsonObject, paths: list[Keys]) -> None:
    """Remove the objects that claims have emptied: writing those claims back makes them again."""
    for keys in sorted({p[:n] for p in paths for n in range(1, len(p))}, key=len, reverse=True):
        if get(record, keys) == {}:
            take(record, keys)


def holds(condition: Condition, record: JsonObject) -> bool:
    """Evaluate a test; true is not 1, and a path through something that is not an object is absent."""
    value = get(record, condition.keys)
    match condition.op:
        case "has":
            return value is not MISSING
        case "no":
            return value is MISSING
        case _:
            return any(type(value) is type(v) and value == v for v in condition.values)
