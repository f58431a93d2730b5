"""Rows are stored once, by their keys, no matter who writes them and how often."""

from pathlib import Path

import pyarrow as pa
import pytest

from pond.sessions.rows import Rows
from pond.sessions.tables import LEDGER, MESSAGES, PARTS, SESSIONS
from pond.sessions.writing import prepare, write_rows, write_sessions
from pond.substrate import predicate, read, upkeep, write
from pond.substrate.signals import Refused
from pond.substrate.store import Store
from pond.substrate.table import Index, Table
from tests.lake.build import TOURS, lake, tables
from tests.lake.plain import THINGS, insert_own_and_tidy, insert_same, keys, store, things, together


@pytest.mark.rule("lance-append-only")
@pytest.mark.rule("lance-chokepoints-write")
def test_a_stored_row_is_left_alone(tmp_path: Path) -> None:
    there = store(tmp_path)
    assert write.insert(there, THINGS, things("a", [1, 2], "as it was first")) == 2
    assert write.insert(there, THINGS, things("a", [2, 3], "as it came again")) == 1
    rows = read.rows(there, THINGS, ["id", "words"], order=["id"]).to_pylist()
    assert [row["words"] for row in rows] == ["as it was first", "as it was first", "as it came again"]


@pytest.mark.rule("lance-deterministic-pk")
def test_the_whole_key_counts(tmp_path: Path) -> None:
    there = store(tmp_path)
    for shelf, id in (("a", "bc"), ("ab", "c"), ("a", "b"), ("b", "c"), ("", "abc")):
        assert write.insert(there, THINGS, things(shelf, [id])) == 1
        assert write.insert(there, THINGS, things(shelf, [id])) == 0
    assert len(keys(there)) == 5


def test_nothing_to_write_makes_no_version(tmp_path: Path) -> None:
    there = store(tmp_path)
    write.insert(there, THINGS, things("a", [1]))
    before = there.handle(THINGS).version
    assert write.insert(there, THINGS, things("a", [])) == 0
    assert write.replace(there, THINGS, things("a", [])) == 0
    assert write.erase(there, THINGS, "id = 'other'") == 0
    assert there.renewed(THINGS).version == before
    assert write.insert(store(tmp_path / "new"), THINGS, things("a", [])) == 0
    assert not (tmp_path / "new").exists()


def test_replacing_puts_a_row_in_the_place_of_the_one_with_its_key(tmp_path: Path) -> None:
    there = store(tmp_path)
    write.replace(there, THINGS, things("a", [1, 2], "first"))
    assert write.replace(there, THINGS, things("a", [2, 3], "second")) == 2
    rows = read.rows(there, THINGS, ["id", "words"], order=["id"]).to_pylist()
    assert [(row["id"], row["words"]) for row in rows] == [("1", "first"), ("2", "second"), ("3", "second")]


def test_erasing_says_how_many_rows_there_were(tmp_path: Path) -> None:
    there = store(tmp_path)
    assert write.erase(there, THINGS, "shelf = 'a'") == 0
    write.insert(there, THINGS, things("a", range(3)))
    write.insert(there, THINGS, things("b", range(4)))
    assert write.erase(there, THINGS, "shelf = 'a'") == 3
    assert write.erase(there, THINGS, "shelf = 'a'") == 0
    assert {shelf for shelf, _ in keys(there)} == {"b"}


def test_rows_of_another_shape_are_refused_at_once(tmp_path: Path) -> None:
    there = store(tmp_path)
    write.insert(there, THINGS, things("a", [1]))
    with pytest.raises(Refused):
        write.insert(there, THINGS, pa.table({"shelf": ["a"], "id": ["2"], "kind": [1], "words": ["w"]}))
    assert read.count(there, THINGS) == 1


@pytest.mark.rule("lance-chokepoints-write")
@pytest.mark.rule("lance-index-maintenance")
def test_writing_leaves_the_indexes_as_they_are(tmp_path: Path) -> None:
    there = store(tmp_path)
    there.made(THINGS)
    upkeep.ensure_indexes(there, THINGS)
    write.insert(there, THINGS, things("a", range(9)))
    write.replace(there, THINGS, things("a", range(3), "other"))
    assert {index.indexed for index in upkeep.health(there, THINGS).indexes} == {0}


@pytest.mark.rule("lance-deterministic-pk")
@pytest.mark.rule("lance-chokepoints-write")
def test_processes_that_insert_the_same_keys_store_each_once(tmp_path: Path) -> None:
    there = store(tmp_path)
    there.made(THINGS)
    upkeep.ensure_indexes(there, THINGS)  # with them Lance would choose a way that does not notice the other writer
    new = together(insert_same, tmp_path, 4, 4, 50)
    assert sum(new) == 200
    assert keys(there) == sorted((f"shelf {batch}", str(row)) for batch in range(4) for row in range(50))


def test_an_index_over_all_keys_changes_nothing(tmp_path: Path) -> None:
    both = Table("things", THINGS.columns, THINGS.version, (Index("shelf", "BTREE"), Index("id", "BTREE")))
    there = store(tmp_path)
    write.insert(there, both, things("before", range(500)))
    upkeep.ensure_indexes(there, both)
    assert sum(together(insert_same, tmp_path, 4, 6, 50)) == 300
    assert len(keys(there)) == len(set(keys(there))) == 800


def test_writers_and_upkeep_do_not_lose_each_others_work(tmp_path: Path) -> None:
    there = store(tmp_path)
    there.made(THINGS)
    upkeep.ensure_indexes(there, THINGS)
    together(insert_own_and_tidy, tmp_path, 4, 5)
    assert keys(there) == sorted((f"shelf {number}", str(row)) for number in range(4) for row in range(50))
    found = there.renewed(THINGS).to_table(full_text_query="words", columns=["id"])
    assert found.num_rows == 200


# --- the sessions consumer -------------------------------------------------------------------------------------------

SESSION = {"id": "s", "source_agent": "heron", "project": "/p", "options": {}}


def _message(id: str, text: str) -> list[dict[str, object]]:
    part = {"kind": "part", "id": "0", "session_id": "s", "message_id": id, "type": "text", "text": text}
    return [
        {"kind": "message", "role": "user", "id": id, "session_id": "s", "options": {}},
        {**part, "provenance": "conversational", "options": {}},
    ]


@pytest.mark.rule("lance-append-only")
def test_keys_that_stand_twice_in_one_batch_are_stored_once(tmp_path: Path) -> None:
    there = store(tmp_path)
    prepare(there)
    rows = Rows(SESSION)
    for id, text in (("m", "first"), ("n", "other"), ("m", "second")):
        rows.take(_message(id, text))
    assert write_rows(there, *tables(rows)) == (2, 2)
    assert read.rows(there, MESSAGES, ["id", "search_text"], order=["id"]).to_pylist() == [
        {"id": "m", "search_text": "first"},
        {"id": "n", "search_text": "other"},
    ]
    assert read.count(there, PARTS) == 2


@pytest.mark.rule("lance-deterministic-pk")
def test_a_session_that_is_stored_again_changes_nothing(tmp_path: Path) -> None:
    there = lake(tmp_path, *TOURS)
    tables = (SESSIONS, MESSAGES, PARTS)
    before = {table.name: (read.count(there, table), there.handle(table).version) for table in tables}
    lake(tmp_path, *TOURS)
    assert {table.name: (read.count(there, table), there.renewed(table).version) for table in tables} == before


@pytest.mark.rule("lance-forward-compat-no-cross-shard-atomic-write")
def test_a_message_is_stored_after_its_parts_and_a_session_after_its_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each commit is of one table: a reader meets whole messages and whole sessions without commits of several."""
    there = store(tmp_path)
    prepare(there)
    order: list[str] = []
    insert = write.insert

    def note(store: Store, table: Table, new: pa.Table) -> int:
        order.append(table.name)
        return insert(store, table, new)

    monkeypatch.setattr(write, "insert", note)
    rows = Rows(SESSION)
    rows.take(_message("m", "text"))
    write_rows(there, *tables(rows))
    write_sessions(there, [{"id": "s", "source_agent": "heron", "project": "/p", "options": b"{}", "ingested_at": 0}])
    assert order == ["parts", "messages", "sessions"]


def test_the_ledger_is_for_what_may_change(tmp_path: Path) -> None:
    there = store(tmp_path)
    for value in ("1", "2"):
        write.replace(there, LEDGER, pa.Table.from_pylist([{"kind": "k", "id": "i", "value": value}], LEDGER.schema))
    assert read.rows(there, LEDGER, ["value"], predicate.equals("id", "i"))["value"].to_pylist() == ["2"]
