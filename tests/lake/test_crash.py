"""A lake survives `kill -9` at any point. Here it is asked at a dozen points, by `make torture` at hundreds."""

from pathlib import Path

import pytest

from tests.lake import commands, crash, kill
from tests.lake.logs import Logs
from tests.size import size


@pytest.fixture(autouse=True)
def _complete(sources: Logs) -> None:
    sources.grow()


@pytest.fixture(scope="module")
def ingest(sources: Logs, tmp_path_factory: pytest.TempPathFactory) -> kill.Ending:
    """How much work a first ingest is; all that begin with no lake are about as much."""
    room = tmp_path_factory.mktemp("measured")
    return crash.measure(crash.fresh(sources, room), room)


def _survives(scenario: crash.Scenario, room: Path, measured: kill.Ending, count: int) -> None:
    outcomes = list(crash.crashes(scenario, room, measured, size(4 * count, count), seed=5))
    assert [outcome.wrong for outcome in outcomes] == [[]] * len(outcomes)
    assert any(outcome.killed for outcome in outcomes)


@pytest.mark.rule("adapter-integrity-additive-sync")
@pytest.mark.rule("lance-append-only")
def test_a_killed_ingest_leaves_whole_sessions_and_the_next_completes_them(
    sources: Logs, tmp_path: Path, ingest: kill.Ending
) -> None:
    _survives(crash.fresh(sources, tmp_path), tmp_path, ingest, 2)


def test_a_killed_ingest_of_grown_files_loses_nothing(sources: Logs, tmp_path: Path) -> None:
    scenario = crash.growing(sources, tmp_path, seed=2)
    _survives(scenario, tmp_path, crash.measure(scenario, tmp_path), 1)


def test_files_that_grow_after_a_kill_are_completed(sources: Logs, tmp_path: Path, ingest: kill.Ending) -> None:
    _survives(crash.then_growing(sources, tmp_path, seed=2), tmp_path, ingest, 2)


def test_two_writers_killed_at_once(sources: Logs, tmp_path: Path, ingest: kill.Ending) -> None:
    _survives(crash.two_killed(sources, tmp_path), tmp_path, ingest, 1)


def test_one_of_two_writers_killed(sources: Logs, tmp_path: Path, ingest: kill.Ending) -> None:
    _survives(crash.one_of_two_killed(sources, tmp_path), tmp_path, ingest, 1)


@pytest.mark.rule("lance-index-maintenance")
def test_a_killed_optimize_changes_no_answer(sources: Logs, tmp_path: Path) -> None:
    scenario = commands.optimizing(sources, tmp_path)
    _survives(scenario, tmp_path, crash.measure(scenario, tmp_path), 1)


def test_a_killed_erase_has_begun_for_all_to_see_and_is_ended_by_the_next(sources: Logs, tmp_path: Path) -> None:
    scenario = commands.erasing(sources, tmp_path)
    _survives(scenario, tmp_path, crash.measure(scenario, tmp_path), 1)


def test_a_killed_export_leaves_no_half_archive(sources: Logs, tmp_path: Path) -> None:
    scenario = commands.exporting(sources, tmp_path)
    _survives(scenario, tmp_path, crash.measure(scenario, tmp_path), 1)


def test_a_killed_import_leaves_whole_sessions_and_the_next_completes_them(sources: Logs, tmp_path: Path) -> None:
    scenario = commands.importing(sources, tmp_path)
    _survives(scenario, tmp_path, crash.measure(scenario, tmp_path), 1)


def test_a_killed_import_into_a_lake_with_some_of_it_loses_nothing(sources: Logs, tmp_path: Path) -> None:
    scenario = commands.importing_more(sources, tmp_path, seed=3)
    _survives(scenario, tmp_path, crash.measure(scenario, tmp_path), 1)
