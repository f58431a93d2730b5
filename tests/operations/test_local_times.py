"""Times as people type them: in the zone of the machine, and across a change of the clocks."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from pond.diagnostics.diagnostic import UsageError
from pond.lake.times import instant, micros

NOW = datetime(2026, 7, 20, 1, 30, tzinfo=UTC)  # half past three in Berlin


@pytest.fixture
def berlin() -> Iterator[None]:
    before = os.environ["TZ"]
    os.environ["TZ"] = "Europe/Berlin"
    time.tzset()
    yield
    os.environ["TZ"] = before
    time.tzset()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2026-07-14", "2026-07-13T22:00Z"),
        ("2026-01-14", "2026-01-13T23:00Z"),  # an hour less, in winter
        ("2026-07-14T09:26", "2026-07-14T07:26Z"),
        ("2026-07-14 09:26", "2026-07-14T07:26Z"),
        ("2026-07-14T09:26Z", "2026-07-14T09:26Z"),
        ("2026-07-14T09:26-04:00", "2026-07-14T13:26Z"),
        ("09:26", "2026-07-20T07:26Z"),
        ("today", "2026-07-19T22:00Z"),
        ("yesterday", "2026-07-18T22:00Z"),
        ("0001-01-01", "0001-01-01T00:00Z"),
        ("90m", "2026-07-20T00:00Z"),
        ("7d", "2026-07-13T01:30Z"),
        ("2w", "2026-07-06T01:30Z"),
    ],
)
def test_what_names_no_zone_is_local(berlin: None, typed: str, meant: str) -> None:
    assert instant(typed, NOW) == micros(datetime.fromisoformat(meant))


@pytest.mark.parametrize("typed", ["", "soon", "2026-02-30", "25:00", "7", "-3d", "7 d"])
def test_what_is_no_time(typed: str) -> None:
    with pytest.raises(UsageError, match="expected a time"):
        instant(typed, NOW)
