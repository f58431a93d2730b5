"""The size limit of values: one that no store can hold becomes a marker with its size."""

from __future__ import annotations

from collections.abc import Callable

from pond.model.json_text import Json

# Arrow's text columns address 2^31 bytes; half of that leaves room for JSON escapes.
MAX_TEXT = 1 << 30


def bound(value: Json, limit: int, truncated: Callable[[int], None]) -> Json:
    """Return `value` with every text longer than `limit` bytes replaced by a sentinel (adapter-bounded-values)."""
    if type(value) is str:
        size = len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
        if size <= limit:
            return value
        truncated(size)
        return f"[pond: value of {size} bytes not kept]"
    if type(value) is list:
        return [bound(item, limit, truncated) for item in value]
    if type(value) is dict:
        return {bound(key, limit, truncated): bound(item, limit, truncated) for key, item in value.items()}
    return value
