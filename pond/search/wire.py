"""The filters of a request as conditions, and the options of a command as filters of a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.search.query import values
from pond.search.query.query import Condition, Key
from pond.sessions.stored_text import to_micros

if TYPE_CHECKING:  # shapes only
    from pond.types import SearchExclusions, SearchFilters

_FIELDS: dict[Key, str] = {
    Key.ROLE: "role",
    Key.CLIENT: "source_agent",
    Key.PROJECT: "project",
    Key.SESSION: "session_id",
    Key.AFTER: "since",
    Key.BEFORE: "until",
    Key.AGENT: "agent",
    Key.TOOL: "tool",
    Key.FILE: "file",
    Key.HAS: "has",
    Key.FAILED: "failed",
    Key.SUBAGENTS: "subagents",
}
_SINGLE = (Key.AFTER, Key.BEFORE, Key.FAILED, Key.SUBAGENTS)


def conditions_of(filters: SearchFilters) -> tuple[Condition, ...]:
    """Return what the filters of a request ask for; raise UsageError, with its path, for an invalid one."""
    wanted = [*_conditions(filters, "$.filters"), *_conditions(filters.get("exclude", {}), "$.filters.exclude", True)]
    values.check_number(wanted)
    return tuple(wanted)


def without_of(filters: SearchFilters) -> tuple[str, ...]:
    """Return the phrases that a message must not contain."""
    return tuple(dict.fromkeys(filters.get("exclude", {}).get("phrases", ())))


def _conditions(filters: SearchFilters | SearchExclusions, path: str, negated: bool = False) -> Iterator[Condition]:
    given = cast("Mapping[str, Any]", filters)
    for key, name in _FIELDS.items():
        if name in given:
            found = given[name]
            for value in found if isinstance(found, list) else [found]:
                yield Condition(key, _value(key, value, f"{path}.{name}"), negated)


def _value(key: Key, value: Any, path: str) -> str:
    match key:
        case Key.FAILED:
            return "true" if value else "false"
        case Key.SUBAGENTS:
            return str(value)
        case Key.AFTER | Key.BEFORE:
            return _time(value, path)
        case _:
            return _placed(key, value, path, datetime.min)


def _time(value: str, path: str) -> str:
    if to_micros(value) is None:  # a day that no month has
        raise UsageError(Diagnostic("usage", f"expected a time, found `{value}`", path=path))
    return value


def filters_of(options: Mapping[Key, Sequence[str]], now: datetime) -> SearchFilters:
    """Return the values of options as filters of a request; raise UsageError, with the option, for a bad one.

    If an option that takes one value is repeated, the last one counts.
    """
    filters: dict[str, Any] = {}
    for key, typed in options.items():
        if given := [_placed(key, text, f"--{key}", now) for text in typed]:
            filters[_FIELDS[key]] = given[-1] if key in _SINGLE else given
    if "failed" in filters:
        filters["failed"] = filters["failed"] == "true"
    return cast("SearchFilters", filters)


def _placed(key: Key, typed: str, path: str, now: datetime) -> str:
    try:
        return values.read(key, typed, now)
    except UsageError as error:
        raise values.at(error, path=path) from None
