"""Tables are made in one way, recognised when they are opened, and never older than their backend allows."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from pond.sessions.tables import MESSAGES, PARTS, SESSIONS, TABLES
from pond.substrate import read, write
from pond.substrate.catalog import Catalog
from pond.substrate.signals import Damaged, Missing, Newer, Older
from pond.substrate.store import Store
from pond.substrate.table import KEY, VERSION, Table
from tests.lake.plain import THINGS, keys, make, store, things, together

# --- how tables are made ---------------------------------------------------------------------------------------------


@pytest.mark.rule("lance-table-creation")
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_table_is_made_with_what_cannot_be_added_later(table: Table, tmp_path: Path) -> None:
    handle = store(tmp_path).made(table)
    assert handle.has_stable_row_ids
    assert handle.data_storage_version == "2.2"
    assert handle.config()["lance.auto_cleanup.interval"] == "50"
    assert handle.config()["lance.auto_cleanup.older_than"] == "1day"
    manifests = [path.name for path in Path(tmp_path, f"{table.name}.lance/_versions").glob("*.manifest")]
    assert manifests == [f"{2**64 - 1 - handle.version}.manifest"]  # the newest is found without listing all


@pytest.mark.rule("lance-table-creation-stable-row-ids")
def test_row_ids_survive_compaction(tmp_path: Path) -> None:
    there = store(tmp_path)
    for number in range(4):
        write.insert(there, THINGS, things("a", [number]))

    def row_ids() -> dict[str, int]:
        table = read.rows(there, THINGS, ["id"], row_ids=True)
        return dict(zip(table["id"].to_pylist(), table[read.ROW].to_pylist(), strict=True))

    before = row_ids()
    there.handle(THINGS).optimize.compact_files()
    assert len(there.renewed(THINGS).get_fragments()) == 1
    assert row_ids() == before


@pytest.mark.rule("lance-table-creation-unenforced-pk")
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_key_columns_say_so_in_the_stored_schema(table: Table, tmp_path: Path) -> None:
    stored = store(tmp_path).made(table).schema
    marked = {field.name: field.metadata[KEY.encode()] for field in stored if KEY.encode() in (field.metadata or {})}
    assert marked == {name: str(number).encode() for number, name in enumerate(table.keys, start=1)}
    assert marked
    assert not any(stored.field(name).nullable for name in marked)


@pytest.mark.rule("lance-table-creation-session-scoped-pk")
@pytest.mark.rule("lance-forward-compat-shardable")
@pytest.mark.rule("lance-forward-compat")
def test_below_sessions_a_key_begins_with_the_session() -> None:
    assert SESSIONS.keys == ("id",)
    assert MESSAGES.keys == ("session_id", "id")
    assert PARTS.keys == ("session_id", "message_id", "id")


@pytest.mark.rule("lance-dataset-schema-version")
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_schema_version_is_a_fact_of_the_table(table: Table, tmp_path: Path) -> None:
    handle = store(tmp_path).made(table)
    assert handle.schema.metadata[VERSION.encode()] == str(table.version).encode()
    assert not [name for name in handle.schema.names if "version" in name]


def test_the_schema_version_outlives_writes(tmp_path: Path) -> None:
    there = store(tmp_path)
    write.insert(there, THINGS, things("a", range(3)))
    there.handle(THINGS).optimize.compact_files()
    assert there.renewed(THINGS).schema.metadata[VERSION.encode()] == b"3"


def test_processes_that_make_a_table_at_once_make_one(tmp_path: Path) -> None:
    assert together(make, tmp_path, 4) == [0, 0, 0, 0]
    names = sorted(index.name for index in store(tmp_path).handle(THINGS).describe_indices())
    assert names == ["kind_bitmap", "shelf_btree", "words_inverted"]


# --- what is there is recognised -------------------------------------------------------------------------------------


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Return a lake with one table of five rows."""
    write.insert(store(tmp_path), THINGS, things("a", range(5)))
    return tmp_path


def _files(place: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_a_table_that_was_never_made_is_none(tmp_path: Path) -> None:
    assert store(tmp_path / "nowhere").existing(THINGS) is None
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(Missing, match=r"no lake at `.*nowhere`"):
        store(tmp_path / "nowhere").handle(THINGS)


@pytest.mark.rule("lance-dataset-schema-version")
def test_a_table_of_a_later_pond_is_left_alone(filled: Path) -> None:
    lance.dataset(str(filled / "things.lance")).update_schema_metadata({VERSION: "4"})
    before = _files(filled)
    for use in (Store.existing, Store.handle, Store.made):
        with pytest.raises(Newer, match="schema version 4, this pond knows 3"):
            use(store(filled), THINGS)
    with pytest.raises(Newer):
        write.insert(store(filled), THINGS, things("b", range(5)))
    assert _files(filled) == before


def test_an_earlier_version_is_refused_and_left_alone(filled: Path) -> None:
    lance.dataset(str(filled / "things.lance")).update_schema_metadata({VERSION: "2"})
    before = _files(filled)
    with pytest.raises(Older, match=r"`things` has schema version 2, this pond needs 3"):
        store(filled).handle(THINGS)
    with pytest.raises(Older):
        write.insert(store(filled), THINGS, things("b", range(5)))
    assert _files(filled) == before


def test_a_derived_column_that_is_missing_is_added_in_place(filled: Path) -> None:
    wider = replace(THINGS, columns=(*THINGS.columns, pa.field("terms", pa.string())), derived=frozenset(("terms",)))
    found = read.rows(store(filled), wider, ["terms"])
    assert found["terms"].to_pylist() == [None] * 5
    assert store(filled).handle(THINGS).count_rows() == 5
    version = lance.dataset(str(filled / "things.lance")).version
    store(filled).handle(wider)
    assert lance.dataset(str(filled / "things.lance")).version == version
    with pytest.raises(Damaged, match="terms2"):
        store(filled).handle(replace(wider, columns=(*wider.columns, pa.field("terms2", pa.string()))))


def _garbage_version(place: Path) -> None:
    lance.dataset(str(place)).update_schema_metadata({VERSION: "three"})


def _column_gone(place: Path) -> None:
    lance.dataset(str(place)).drop_columns(["words"])


def _newest_manifest(place: Path) -> Path:
    return sorted((place / "_versions").glob("*.manifest"))[0]


def _garbage_manifest(place: Path) -> None:
    _newest_manifest(place).write_bytes(b"garbage")


def _short_manifest(place: Path) -> None:
    manifest = _newest_manifest(place)
    manifest.write_bytes(manifest.read_bytes()[:-9])


def _empty_manifest(place: Path) -> None:
    _newest_manifest(place).write_bytes(b"")


def _no_manifest(place: Path) -> None:
    shutil.rmtree(place / "_versions")


@pytest.mark.parametrize(
    "damage", [_garbage_version, _column_gone, _garbage_manifest, _short_manifest, _empty_manifest, _no_manifest]
)
def test_what_pond_did_not_write_is_damage_and_stays_as_it_is(filled: Path, damage: Callable[[Path], None]) -> None:
    damage(filled / "things.lance")
    before = _files(filled)
    with pytest.raises(Damaged):
        store(filled).existing(THINGS)
    with pytest.raises(Damaged):
        write.insert(store(filled), THINGS, things("b", range(5)))
    assert _files(filled) == before


def _data_gone(place: Path) -> None:
    next((place / "data").glob("*.lance")).unlink()


def _data_short(place: Path) -> None:
    data = next((place / "data").glob("*.lance"))
    data.write_bytes(data.read_bytes()[:40])


@pytest.mark.parametrize("damage", [_data_gone, _data_short])
def test_rows_that_cannot_be_read_are_damage(
    filled: Path, damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pond.substrate.retry.time.sleep", lambda _: None)
    damage(filled / "things.lance")
    with pytest.raises(Damaged):
        read.rows(store(filled), THINGS, ["id", "words"])
    with pytest.raises(Damaged):
        list(read.batches(store(filled), THINGS, ["id", "words"]))


def test_a_process_that_died_while_it_made_a_table_is_no_damage(tmp_path: Path) -> None:
    make_folder = tmp_path / "things.lance" / "_transactions"
    make_folder.mkdir(parents=True)
    (make_folder / "0-0000.txn").write_bytes(b"x")
    assert store(tmp_path).existing(THINGS) is None
    assert write.insert(store(tmp_path), THINGS, things("a", range(2))) == 2


# --- freshness -------------------------------------------------------------------------------------------------------


class ObjectStore(Catalog):
    """A lake on this disk that is treated as one far away."""

    @property
    def is_local(self) -> bool:
        return False


@pytest.mark.rule("lance-handle-freshness")
def test_a_local_handle_sees_what_another_wrote_at_once(tmp_path: Path) -> None:
    reader, writer = store(tmp_path), store(tmp_path)
    for number in range(1, 4):
        write.insert(writer, THINGS, things("a", [number]))
        assert read.count(reader, THINGS) == number


@pytest.mark.rule("lance-handle-freshness")
@pytest.mark.rule("lance-forward-compat-no-subsecond-freshness")
def test_a_handle_far_away_is_behind_for_a_few_seconds_at_most(tmp_path: Path) -> None:
    now = 100.0
    write.insert(store(tmp_path), THINGS, things("a", [1]))
    reader = Store(ObjectStore(str(tmp_path)), clock=lambda: now)
    assert read.count(reader, THINGS) == 1
    write.insert(store(tmp_path), THINGS, things("a", [2]))
    now = 102.9
    assert read.count(reader, THINGS) == 1  # nobody is promised more
    now = 103.1
    assert read.count(reader, THINGS) == 2
    write.insert(store(tmp_path), THINGS, things("a", [3]))
    now = 105.0
    assert read.count(reader, THINGS) == 2  # a new window begins
    assert reader.renewed(THINGS).count_rows() == 3


@pytest.mark.rule("lance-handle-freshness")
def test_a_long_reading_is_of_one_version(tmp_path: Path) -> None:
    there = store(tmp_path)
    for number in range(3):
        write.insert(there, THINGS, things("a", [number]))
    stream = read.batches(there, THINGS, ["id"])
    seen = next(stream).num_rows
    write.erase(there, THINGS, "true")
    assert seen + sum(batch.num_rows for batch in stream) == 3
    assert read.count(there, THINGS) == 0


def test_a_long_reading_goes_on_where_it_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pond.substrate.retry.time.sleep", lambda _: None)
    monkeypatch.setattr(read, "_BATCH", 2)
    there = store(tmp_path)
    write.insert(there, THINGS, things("a", range(7)))
    opened = read.scan
    failures = iter([1, 2, 0])

    class Failing:
        """Gives a few batches, then the connection is gone."""

        def __init__(self, scanner: Any, batches: int) -> None:
            self.scanner, self.batches = scanner, batches

        def to_batches(self) -> Iterator[pa.RecordBatch]:
            for number, batch in enumerate(self.scanner.to_batches()):
                if self.batches and number == self.batches:
                    write.erase(there, THINGS, "id = '0'")  # and meanwhile others write
                    raise OSError("connection reset")
                yield batch

    monkeypatch.setattr(read, "scan", lambda *a, **k: Failing(opened(*a, **k), next(failures)))
    found = [id for batch in read.batches(there, THINGS, ["id"]) for id in batch["id"].to_pylist()]
    assert found == [str(number) for number in range(7)]


def test_one_cache_serves_all_tables(tmp_path: Path) -> None:
    there = store(tmp_path)
    other = replace(THINGS, name="others")
    for table in (THINGS, other):
        write.insert(there, table, things("a", range(3)))
    assert there.handle(THINGS).session().is_same_as(there.handle(other).session())
    assert keys(there)


def test_an_absent_table_reads_as_an_empty_one(tmp_path: Path) -> None:
    there = store(tmp_path)
    assert read.count(there, THINGS) == 0
    assert list(read.batches(there, THINGS, ["id"])) == []
    found = read.rows(there, THINGS, ["id", "words"], row_ids=True)
    assert found.schema == pa.schema([THINGS.schema.field("id"), THINGS.schema.field("words"), (read.ROW, pa.uint64())])
