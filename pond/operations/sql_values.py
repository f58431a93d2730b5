"""Arrow values in JSON: times as RFC 3339, and nothing rounded."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from pond.model.json_text import Json
from pond.sessions.stored_text import from_micros

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_LARGEST = 1 << 53  # larger integers are not exact for every reader of JSON


def plain(column: pa.Array) -> list[Json]:
    """Return the values of a column."""
    if pa.types.is_timestamp(column.type):
        micros = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64()).to_pylist()
        return [None if each is None else _time(each) for each in micros]
    values: list[Any] = column.to_pylist()
    if pa.types.is_string(column.type) or pa.types.is_boolean(column.type):
        return values
    return [_value(each) for each in values]


def _value(value: Any) -> Json:
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if -_LARGEST <= value <= _LARGEST else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case Decimal():
            return _value(int(value)) if value == value.to_integral_value() else str(value)
        case datetime():
            return _time(((value if value.tzinfo else value.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND)
        case date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case dict():
            return {str(name): _value(each) for name, each in value.items()}
        case pa.MonthDayNano():
            return f"{value.months} months {value.days} days {value.nanoseconds / 1e9:g} seconds"
        case list() | tuple():
            return [_value(each) for each in value]
        case _:
            return str(value)


def _time(micros: int) -> str:
    try:
        return from_micros(micros)
    except (ValueError, OverflowError):  # beyond the years that Python supports
        return str(micros)
