"""Times as people type them: a date, an instant, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from pond.diagnostics.diagnostic import Diagnostic, UsageError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_AGO = re.compile(r"(?P<count>[0-9]{1,9})(?P<unit>[mhdw])", re.ASCII)
_DAYS = {"today": 0, "yesterday": 1}  # how many days ago they began
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def instant(text: str, now: datetime) -> int:
    """Return the microseconds from 1970 to the time meant; without a zone it is in UTC, like everything pond shows."""
    try:
        if ago := _AGO.fullmatch(text):
            meant = now - timedelta(**{_UNITS[ago["unit"]]: int(ago["count"])})
        elif text in _DAYS:
            meant = datetime(now.year, now.month, now.day, tzinfo=UTC) - timedelta(days=_DAYS[text])
        else:
            meant = datetime.fromisoformat(text)
            meant = meant if meant.tzinfo else meant.replace(tzinfo=UTC)
        return micros(meant)
    except (ValueError, OverflowError):
        help = "a date (2026-03-14), a time (2026-03-14T09:26Z), today, yesterday, or how long ago: 90m, 12h, 7d, 2w"
        raise UsageError(Diagnostic("usage", f"expected a time, found `{text}`", help=help)) from None


def micros(time: datetime) -> int:
    """Return the microseconds from 1970 to an instant."""
    return (time - _EPOCH) // timedelta(microseconds=1)
