"""Several processes write one lake at once, without a coordinator: nothing is lost, nothing comes twice."""

from pathlib import Path

import pytest

from pond.config.settings import Settings
from tests.lake import crash
from tests.lake.crowd import crowd
from tests.lake.logs import Logs
from tests.lake.s3 import Store
from tests.lake.sound import Content


def _agrees(sources: Logs, settings: Settings, count: int, whole: Content) -> None:
    result = crowd(sources, settings, count, whole, seed=3)
    assert result.wrong == []
    # A writer that loses every race says so and stops; the next one completes it.
    assert all(done.code == 0 or [f.code for f in done.errors] == ["lake-conflict"] for done in result.ended)
    assert any(done.code == 0 for done in result.ended)


@pytest.mark.rule("lance-retry-jitter")
@pytest.mark.rule("adapter-integrity-dedup")
def test_four_processes_on_a_local_lake(sources: Logs, whole: Content, tmp_path: Path) -> None:
    _agrees(sources, crash.settings(tmp_path / "lake"), 4, whole)


def test_three_processes_on_an_object_store(sources: Logs, whole: Content, s3: Store) -> None:
    _agrees(sources, crash.settings(s3.uri, s3.storage_options), 3, whole)
