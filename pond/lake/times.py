"""Times as people type them: a date, a time, or how long ago; what names no zone is in the zone of this machine."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from pond.diagnostics.diagnostic import Diagnostic, UsageError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_AGO = re.compile(r"(?P<count>[0-9]{1,9})(?P<unit>[mhdw])", re.ASCII)
_CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}", re.ASCII)
_DAYS = {"today": 0, "yesterday": 1}  # how many days ago they began
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
FORMS = "a date (2026-03-14), a time (2026-03-14T09:26 or 09:26), today, yesterday, or how long ago: 90m, 12h, 7d, 2w"


def instant(text: str, now: datetime) -> int:
    """Return the microseconds from 1970 to the time meant; one without a zone is local time."""
    try:
        return micros(_meant(text, now))
    except (ValueError, OverflowError):
        raise UsageError(Diagnostic("usage", f"expected a time, found `{text}`", help=FORMS)) from None


def _meant(text: str, now: datetime) -> datetime:
    if ago := _AGO.fullmatch(text):
        return now - timedelta(**{_UNITS[ago["unit"]]: int(ago["count"])})
    today = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    if text in _DAYS:
        return (today - timedelta(days=_DAYS[text])).astimezone()
    if _CLOCK.fullmatch(text):
        hour, minute = map(int, text.split(":"))
        return today.replace(hour=hour, minute=minute).astimezone()
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else _local(found)


def _local(time: datetime) -> datetime:
    try:
        return time.astimezone()
    except (ValueError, OverflowError):  # the first and last days of the calendar have no other zone
        return time.replace(tzinfo=UTC)


def local(timestamp: str) -> datetime:
    """Return a time of canonical text (RFC 3339, UTC) on this machine's clock."""
    return datetime.fromisoformat(timestamp).astimezone()


def micros(time: datetime) -> int:
    """Return the microseconds from 1970 to an instant."""
    return (time - _EPOCH) // timedelta(microseconds=1)
