"""Optimizing makes a lake smaller and quicker, and changes nothing that it holds."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from pond.diagnostics.diagnostic import UsageError
from pond.lake.optimize import duration, optimize
from pond.sessions.tables import SESSIONS, TABLES
from pond.substrate import upkeep
from tests.lake.build import SUBAGENTS, TOURS, in_pieces
from tests.lake.taking import contents, store


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake into which sessions came one by one."""
    place = tmp_path_factory.mktemp("lakes") / "used"
    in_pieces(place, *TOURS, *SUBAGENTS)
    return place


@pytest.fixture
def place(used: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(used, tmp_path / "lake"))


@pytest.mark.rule("lance-index-maintenance")
def test_a_lake_gets_smaller_and_holds_what_it_held(place: Path) -> None:
    before = contents(place)
    said: list[str] = []
    done = {table.name: table for table in optimize(store(place), timedelta(0), said.append)}
    assert list(done) == [table.name for table in TABLES]
    for table in TABLES[:3]:
        found = done[table.name]
        assert found.fragments[0] > found.fragments[1] == 1
        assert found.versions[0] > found.versions[1] == 1
        assert found.bytes[0] > found.bytes[1] > 0
        assert found.indexes == [index.name for index in table.indexes]
        assert {index.unindexed for index in upkeep.health(store(place), table).indexes} == {0}
    assert contents(place) == before
    assert said[:3] == ["indexing sessions", "compacting sessions", "cleaning sessions"]


def test_a_second_time_there_is_nothing_to_do(place: Path) -> None:
    optimize(store(place), timedelta(0))
    versions = {table.name: store(place).handle(table).version for table in TABLES}
    for table in optimize(store(place), timedelta(0)):
        assert (table.indexes, table.bytes[0]) == ([], table.bytes[1])
    assert {table.name: store(place).handle(table).version for table in TABLES} == versions


def test_young_versions_stay(place: Path) -> None:
    done = optimize(store(place), timedelta(hours=1))
    assert all(table.versions[1] >= table.versions[0] for table in done)


def test_what_somebody_is_writing_stays(place: Path) -> None:
    data = place / "parts.lance" / "data"
    writing = data / "0101.lance"
    shutil.copyfile(next(data.glob("*.lance")), writing)
    optimize(store(place), timedelta(0))
    assert writing.exists()


def test_tables_that_are_not_there_are_left_out(tmp_path: Path) -> None:
    there = store(tmp_path)
    there.made(SESSIONS)
    assert [table.name for table in optimize(there, timedelta(0))] == ["sessions"]


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("0s", timedelta(0)),
        ("90m", timedelta(minutes=90)),
        ("12h", timedelta(hours=12)),
        ("7d", timedelta(days=7)),
        ("2w", timedelta(weeks=2)),
    ],
)
def test_times(text: str, time: timedelta) -> None:
    assert duration(text) == time


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1.5h", "7 d", "7y", "\u0667d", "9999999d"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageError, match="expected a time"):
        duration(text)
