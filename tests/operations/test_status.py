"""What is said about a lake is so, and what is about to be lost is said in time."""

import json
import os
import platform
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from pond.diagnostics.diagnostic import Diagnostic
from pond.diagnostics.render import as_json
from pond.diagnostics.span import Span
from pond.intake.sources import SOURCE, source_id
from pond.lake.retention import AHEAD, Retention, retentions
from pond.lake.status import checks, overview
from pond.lake.tombstones import Stone, put
from pond.sessions import ledger
from pond.sessions.tables import MESSAGES, SESSIONS, TABLES
from pond.substrate import read, write
from pond.substrate.store import Store
from tests.lake.build import INGESTED_AT, TOURS, lake
from tests.lake.remains import store_secret
from tests.lake.taking import store, take_in

DAY = 24 * 3600.0
NOTHING: dict[str, str] = {"CLAUDE_CONFIG_DIR": "/nowhere", "CODEX_HOME": "/nowhere"}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with the session of each client's tour."""
    place = tmp_path_factory.mktemp("lakes") / "filled"
    lake(place, *TOURS)
    return place


@pytest.fixture
def there(filled: Path, tmp_path: Path) -> Store:
    return store(Path(shutil.copytree(filled, tmp_path / "lake")))


# --- at once ---------------------------------------------------------------------------------------------------------


def test_the_overview_counts_what_is_stored(there: Store) -> None:
    found = overview(there)
    assert found.rows == {table.name: there.handle(table).count_rows() for table in TABLES}
    assert found.clients == {"claude-code": 1, "codex": 1}
    assert found.last_ingest == "2027-01-15T08:00:00.000Z"
    assert INGESTED_AT == 1_800_000_000_000_000
    assert found.location == there.catalog.tables_root


def test_an_empty_lake(tmp_path: Path) -> None:
    there = lake(tmp_path / "lake")
    found = overview(there)
    assert (set(found.rows.values()), found.clients, found.last_ingest) == ({0}, {}, None)
    rest = checks(there, NOTHING)
    assert (rest.orphans, rest.erasing, rest.drift, rest.retention) == (0, [], {}, [])
    assert (rest.embeddings.texts, rest.sources.files) == (0, 0)


# --- what takes longer -----------------------------------------------------------------------------------------------


def test_tables_and_indexes(there: Store) -> None:
    found = checks(there, NOTHING).tables
    assert list(found) == [table.name for table in TABLES]
    messages = found["messages"]
    assert messages.rows == read.count(there, MESSAGES) == messages.indexes[0].unindexed
    assert messages.bytes > 1000
    assert messages.versions > 5


def test_embeddings_are_counted_by_model(there: Store) -> None:
    texts = read.count(there, MESSAGES, "search_text IS NOT NULL")
    assert checks(there, NOTHING).embeddings.models == {}
    ids = read.rows(there, MESSAGES, ["id"], "search_text IS NOT NULL", limit=3)["id"].to_pylist()
    for id, model in zip(ids, ("one", "one", "other"), strict=True):
        there.renewed(MESSAGES).update({"embedding_model": f"'{model}'"}, where=f"id = '{id}'")
    found = checks(there, NOTHING).embeddings
    assert (found.texts, found.models) == (texts, {"one": 2, "other": 1})


def note(path: str, sessions: list[str], **facts: Any) -> dict[str, Any]:
    return {
        "path": path, "host": platform.node(), "size": 10, "problems": [], "drift": {}, "sessions": sessions, **facts,
    }  # fmt: skip


def refused(path: Path) -> dict[str, Any]:
    fault = Diagnostic("source-not-json", "cut off", Span(str(path), 3))
    return as_json(fault)


def test_sources_are_summed_and_looked_for(there: Store, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.touch()
    dangling = tmp_path / "dangling.jsonl"
    dangling.symlink_to(tmp_path / "nowhere")
    notes = {
        "1": note(str(kept), ["a", "b"], problems=[refused(kept)], drift={"say/x": 3}),
        "2": note("/gone/1", ["b", "c"], drift={"say/x": 1, "do/y": 5}),
        "3": note("/gone/2", ["d"]),
        "4": note("/gone/1", ["c"], host="another"),  # nobody can look there
        "5": note("/elsewhere", ["f"], host="another"),
        "6": note(str(dangling), ["e"]),
    }
    ledger.note(there, SOURCE, notes)
    found = checks(there, NOTHING)
    assert (found.sources.files, found.sources.bytes) == (6, 60)
    assert (found.sources.problems, found.sources.same_ids) == ([refused(kept)], [])
    assert found.sources.gone == ["/gone/1", "/gone/2"]
    assert found.sources.only_here == ["d"]  # `b` is in a file that is there, `c` in one that may be
    assert found.drift == {"do/y": 5, "say/x": 4}


@pytest.mark.rule("session-durable-copy")
def test_a_source_that_is_deleted_shows(tmp_path: Path) -> None:
    place, source = tmp_path / "lake", tmp_path / "source"
    shutil.copytree(TOURS[0], source)
    take_in(place, source)
    assert checks(store(place), NOTHING).sources.gone == []
    file = next(source.rglob("*.jsonl"))
    ids = read.rows(store(place), SESSIONS, ["id"])["id"].to_pylist()
    shutil.rmtree(source)
    found = checks(store(place), NOTHING).sources
    assert (found.gone, found.only_here) == ([str(file)], ids)
    assert overview(store(place)).rows["sessions"] == 1


def test_what_an_interrupted_ingest_left(there: Store) -> None:
    store_secret(there, "half")
    store_secret(there, "whole")
    write.erase(there, SESSIONS, "id = 'half'")  # as if its row had not been written yet
    assert checks(there, NOTHING).orphans == 1


def test_erasing_that_did_not_end(there: Store) -> None:
    put(there, {"x": Stone("2026-01-01T00:00:00Z", "x", 1, done=False)})
    put(there, {"y": Stone("2026-01-01T00:00:00Z", "y", 1, done=True)})
    assert checks(there, NOTHING).erasing == ["x"]
    store_secret(there, "y")
    assert checks(there, NOTHING).erasing == ["x", "y"]


# --- what clients delete ---------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A client's directory with session files of all ages; 30 days is the client's own limit."""
    now, project = time.time(), tmp_path / "home" / "projects" / "-work"
    (project / "100" / "subagents").mkdir(parents=True)
    (project / "100.meta.json").write_text("{}")
    for age in (0, 10, 22, 24, 29, 31, 100):
        path = project / f"{age}.jsonl"
        path.write_text("x" * age)
        os.utime(path, (now - age * DAY,) * 2)
    return tmp_path / "home"


def retained(home: Path, notes: dict[str, Any] | None = None) -> list[Retention]:
    return retentions({"CLAUDE_CONFIG_DIR": str(home), "CODEX_HOME": "/nowhere"}, time.time(), notes or {})


def test_files_that_fall_due_are_counted(home: Path) -> None:
    (found,) = retained(home)
    due = [str(home / "projects" / "-work" / f"{age}.jsonl") for age in (100, 24, 29, 31)]
    assert (found.client, found.days, found.due, found.unstored) == ("claude-code", 30, 4, due)
    assert found.settings == str(home / "settings.json")
    assert found.setting == '"cleanupPeriodDays": 99999'
    assert found.problem == ""
    assert AHEAD == 7


def test_files_whose_records_are_all_in_the_lake_are_not_named(home: Path) -> None:
    files = {age: home / "projects" / "-work" / f"{age}.jsonl" for age in (24, 29, 31, 100)}
    notes = {
        source_id(files[24]): {"size": 24, "problems": []},
        source_id(files[29]): {"size": 20, "problems": []},  # it has grown since
        source_id(files[31]): {"size": 31, "problems": [refused(files[31])]},
    }
    (found,) = retained(home, notes)
    assert (found.due, found.unstored) == (4, [str(files[age]) for age in (100, 29, 31)])


@pytest.mark.parametrize(("days", "due"), [(1, 7), (20, 5), (35, 3), (90, 1)])
def test_the_settings_decide(home: Path, days: int, due: int) -> None:
    (home / "settings.json").write_text(json.dumps({"theme": "dark", "cleanupPeriodDays": days}))
    (found,) = retained(home)
    assert (found.days, found.due) == (days, due)


def test_what_is_kept_long_enough_is_no_news(home: Path) -> None:
    (home / "settings.json").write_text('{"cleanupPeriodDays": 99999}')
    assert retained(home) == []


def test_nothing_keeps_nothing(home: Path) -> None:
    (home / "settings.json").write_text('{"cleanupPeriodDays": 0}')
    (found,) = retained(home)
    assert "is 0" in found.problem
    assert found.due == 0


@pytest.mark.parametrize("text", ['{"cleanupPeriodDays": "30"}', '{"cleanupPeriodDays": -1}', "[]", "{", "[" * 9999])
def test_settings_that_nobody_understands_say_nothing(home: Path, text: str) -> None:
    (home / "settings.json").write_text(text)
    assert retained(home) == []


def test_a_client_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert retained(tmp_path) == []
