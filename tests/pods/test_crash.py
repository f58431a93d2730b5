"""Pods survive `kill -9` at any point. Here they are asked at a few points, by `make torture` at hundreds."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pods import crash
from tests.size import size


@pytest.mark.parametrize(("build", "count"), [(crash.changing, 5), (crash.restoring, 3)], ids=["changes", "restore"])
def test_a_killed_writer_loses_nothing_that_was_acknowledged_and_the_next_ends_its_work(
    build: Callable[[Path], crash.Work], count: int, tmp_path: Path
) -> None:
    outcomes = list(crash.crashes(build(tmp_path), tmp_path, size(4 * count, count), seed=5))
    assert [outcome.wrong for outcome in outcomes] == [[]] * len(outcomes)
    assert any(outcome.killed for outcome in outcomes)
