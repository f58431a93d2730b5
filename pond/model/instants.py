"""Instants as RFC 3339 spells them, and the one spelling that canonical has for each."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from pond.model._tables import TIME, TIMES
from pond.model.json_text import JsonObject
from pond.model.marks import POND, SPELLING

_OFFSET_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ](?!24)\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:[0-5]\d)", re.ASCII)
_parse_time = datetime.fromisoformat
_SEPARATORS = slice(4, 20, 3)

is_canonical = re.compile(TIME).fullmatch


def instant(text: str) -> str | None:
    """Return the canonical spelling of an RFC 3339 time, or None if the text is not one."""
    if text[_SEPARATORS] == "--T::." and len(text) == 24 and text[23] == "Z":  # already in the canonical spelling
        try:
            _parse_time(text)
            return text
        except ValueError:
            return None
    if not _OFFSET_TIME.fullmatch(text):
        return None
    try:
        # Python reads at most microseconds; finer digits stay in the spelling.
        when = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text.upper().replace(" ", "T")))
        return print_instant(when.astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def print_instant(when: datetime) -> str:
    """Return the one canonical spelling: UTC, milliseconds, or microseconds if they are not zero."""
    return when.isoformat(timespec="microseconds" if when.microsecond % 1000 else "milliseconds")[:-6] + "Z"


def normalise(event: JsonObject) -> None:
    """Give the times of an event from outside their canonical spelling, and keep their own spelling in its marks.

    What is not an RFC 3339 time, or has no place to keep its spelling, does not change: the validator reports it.
    """
    for name in TIMES:
        spelled = event.get(name)
        if type(spelled) is str and not is_canonical(spelled):
            found = instant(spelled)
            if found is not None and _keep(event, name, spelled, found):
                event[name] = found


def _keep(event: JsonObject, name: str, spelled: str, found: str) -> bool:
    """Note how a time was spelled, unless the event already says how its source did; tell whether it could be noted."""
    bag = event.get("options")
    for key in (POND, SPELLING):
        bag = bag.setdefault(key, {}) if type(bag) is dict else None
    if type(bag) is not dict:
        return False
    earlier = bag.get(name)
    if type(earlier) is not str or instant(earlier) != found:
        bag[name] = spelled
    return True
