"""Times as people write them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from pond.diagnostics.diagnostic import UsageError
from pond.lake.times import instant

NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC)),
        ("2026-05-01T10:00", datetime(2026, 5, 1, 10, tzinfo=UTC)),
        ("2026-05-01T10:00Z", datetime(2026, 5, 1, 10, tzinfo=UTC)),
        ("2026-05-01T10:00:00.25+02:00", datetime(2026, 5, 1, 10, 0, 0, 250_000, timezone(timedelta(hours=2)))),
        ("90m", NOW - timedelta(minutes=90)),
        ("12h", NOW - timedelta(hours=12)),
        ("7d", NOW - timedelta(days=7)),
        ("2w", NOW - timedelta(weeks=2)),
        ("0d", NOW),
        ("today", datetime(2026, 5, 4, tzinfo=UTC)),
        ("yesterday", datetime(2026, 5, 3, tzinfo=UTC)),
    ],
)
def test_a_time_is_understood(text: str, meant: datetime) -> None:
    assert instant(text, NOW) == round(meant.timestamp() * 1_000_000)


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "Today", "7", "d", "-1d", "7D", "1.5d", "999999999w", "2026-13-01", "٣d", "7d "]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        instant(text, NOW)
    assert [d.code for d in refused.value.diagnostics] == ["usage"]
