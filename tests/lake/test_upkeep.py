"""Indexes are folded, fragments put together, old versions deleted, and no question is answered otherwise for it."""

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from lance.file import LanceFileReader

from pond.substrate import read, upkeep, write
from pond.substrate.catalog import Catalog
from pond.substrate.signals import Conflict
from pond.substrate.store import Store
from pond.substrate.table import Table, blob, blobs, key
from tests.lake import s3 as s3_server
from tests.lake.plain import THINGS, keys, make, store, things, together

NAMES = ["shelf_btree", "kind_bitmap", "words_inverted"]


@pytest.fixture
def there(tmp_path: Path) -> Store:
    """Return a lake with an empty, indexed table."""
    found = store(tmp_path)
    found.made(THINGS)
    assert upkeep.ensure_indexes(found, THINGS) == NAMES
    return found


def answers(there: Store) -> dict[str, int]:
    """Return how many rows each index finds, and how many a scan finds without one."""
    handle = there.renewed(THINGS)
    counts = {f"shelf {name}": read.count(there, THINGS, f"shelf = '{name}'") for name in ("a", "b")}
    for word in ("北京", "handler"):
        counts[word] = handle.to_table(full_text_query=word, columns=["id"]).num_rows
    counts["kind"] = read.count(there, THINGS, "kind = 'kind 1'")
    kinds = handle.to_table(columns=["kind"])["kind"].to_pylist()
    assert counts["kind"] == kinds.count("kind 1")
    return counts


def covered(there: Store) -> set[tuple[int, int]]:
    return {(index.indexed, index.unindexed) for index in upkeep.health(there, THINGS).indexes}


def segments(there: Store) -> set[int]:
    return {index.segments for index in upkeep.health(there, THINGS).indexes}


# --- indexes ---------------------------------------------------------------------------------------------------------


def test_an_index_is_made_once(there: Store) -> None:
    version = there.handle(THINGS).version
    assert upkeep.ensure_indexes(there, THINGS) == []
    assert there.renewed(THINGS).version == version


def test_an_index_that_is_missing_is_made_whatever_the_others_are(there: Store) -> None:
    write.insert(there, THINGS, things("a", range(5)))
    there.handle(THINGS).drop_index("kind_bitmap")
    before = {index.name: index.segments for index in upkeep.health(there, THINGS).indexes}
    assert before == {"shelf_btree": 1, "kind_bitmap": 0, "words_inverted": 1}
    assert upkeep.ensure_indexes(there, THINGS) == ["kind_bitmap"]
    assert covered(there) == {(0, 5), (5, 0)}


def test_processes_that_index_at_once_make_each_index_once(tmp_path: Path) -> None:
    write.insert(store(tmp_path), THINGS, things("a", range(5)))
    together(make, tmp_path, 3)
    assert sorted(index.name for index in store(tmp_path).handle(THINGS).describe_indices()) == sorted(NAMES)


@pytest.mark.rule("lance-index-maintenance")
def test_answers_are_complete_before_and_after_indexes_are_folded(there: Store) -> None:
    text = "北京 the login_handler"
    write.insert(there, THINGS, things("a", range(20), text))
    unfolded = answers(there)
    assert unfolded == {"shelf a": 20, "shelf b": 0, "北京": 20, "handler": 20, "kind": 10}
    assert covered(there) == {(0, 20)}
    assert upkeep.fold_indexes(there, THINGS) == NAMES
    assert answers(there) == unfolded
    assert covered(there) == {(20, 0)}
    write.insert(there, THINGS, things("b", range(20), text))
    assert answers(there) == {"shelf a": 20, "shelf b": 20, "北京": 40, "handler": 40, "kind": 20}


@pytest.mark.rule("lance-index-maintenance")
def test_folding_adds_segments_and_merges_them_before_they_are_many(there: Store) -> None:
    for number in range(upkeep.SEGMENTS + 4):
        write.insert(there, THINGS, things("a", [number]))
        assert upkeep.fold_indexes(there, THINGS) == NAMES
        assert covered(there) == {(number + 1, 0)}
        assert all(1 <= count <= upkeep.SEGMENTS for count in segments(there))
        if number == upkeep.SEGMENTS - 2:
            assert segments(there) == {upkeep.SEGMENTS - 1}  # one by one so far
    assert answers(there)["shelf a"] == upkeep.SEGMENTS + 4
    assert max(segments(there)) < upkeep.SEGMENTS


def test_folding_what_is_folded_makes_no_version(there: Store) -> None:
    write.insert(there, THINGS, things("a", range(5)))
    upkeep.fold_indexes(there, THINGS)
    version = there.renewed(THINGS).version
    assert upkeep.fold_indexes(there, THINGS) == []
    assert there.renewed(THINGS).version == version


def test_an_index_in_too_many_segments_is_merged_though_it_covers_all(
    there: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        write.insert(there, THINGS, things("a", [number]))
        upkeep.fold_indexes(there, THINGS)
    assert min(segments(there)) > 3
    monkeypatch.setattr(upkeep, "SEGMENTS", 3)
    assert upkeep.fold_indexes(there, THINGS) == NAMES
    assert segments(there) == {1}


# --- files -----------------------------------------------------------------------------------------------------------


def test_fragments_are_put_together_beyond_a_number(there: Store) -> None:
    for number in range(6):
        write.insert(there, THINGS, things("a", [number]))
    before = keys(there)
    assert not upkeep.compact(there, THINGS, beyond=6)
    assert upkeep.compact(there, THINGS, beyond=5)
    assert upkeep.health(there, THINGS).fragments == 1
    assert keys(there) == before
    assert not upkeep.compact(there, THINGS)


def test_folding_first_lets_old_and_new_rows_share_a_fragment(there: Store) -> None:
    write.insert(there, THINGS, things("a", range(5)))
    for index in THINGS.indexes:
        upkeep._build(there.handle(THINGS), index)
    for number in range(3):
        write.insert(there, THINGS, things("b", [number]))
    assert upkeep.compact(there, THINGS)
    assert upkeep.health(there, THINGS).fragments == 2  # what the indexes know, and what they do not
    assert covered(there) == {(5, 3)}


def test_old_versions_go_and_the_newest_stays(there: Store) -> None:
    for number in range(5):
        write.insert(there, THINGS, things("a", [number]))
    upkeep.compact(there, THINGS)
    before = upkeep.health(there, THINGS)
    assert before.versions > 5
    assert upkeep.clean(there, THINGS, timedelta(hours=1)) == 0
    freed = upkeep.clean(there, THINGS, timedelta(0))
    after = upkeep.health(there, THINGS)
    assert (after.versions, after.rows) == (1, 5)
    assert before.bytes - after.bytes == freed > 0


def test_a_version_stays_as_long_as_after_it_was_replaced(there: Store) -> None:
    """A reader that began a moment ago reads the version that was the newest then, however old it is."""
    keep = timedelta(seconds=1)
    for number in range(5):
        write.insert(there, THINGS, things("a", [number]))
    time.sleep(1.5)
    reading = Store(there.catalog).handle(THINGS)
    upkeep.compact(there, THINGS)
    upkeep.clean(there, THINGS, keep)
    assert reading.version in _versions(there)
    time.sleep(1.5)
    assert upkeep.clean(there, THINGS, keep) > 0
    assert reading.version not in _versions(there)


def _versions(there: Store) -> set[int]:
    return {each["version"] for each in there.renewed(THINGS).versions()}


def test_the_bytes_of_a_table_are_rows_indexes_and_old_versions(there: Store) -> None:
    for number in range(5):
        write.insert(there, THINGS, things("a", [number]))
    upkeep.fold_indexes(there, THINGS)
    upkeep.compact(there, THINGS)
    found = upkeep.health(there, THINGS)
    assert 0 < found.old_bytes < found.bytes
    assert 0 < found.index_bytes < found.bytes - found.old_bytes
    assert upkeep.clean(there, THINGS, timedelta(0)) == found.old_bytes
    after = upkeep.health(there, THINGS)
    assert (after.old_bytes, after.index_bytes) == (0, found.index_bytes)


def test_what_an_unfinished_write_left_goes_only_where_nobody_else_writes(there: Store, tmp_path: Path) -> None:
    write.insert(there, THINGS, things("a", [1]))
    upkeep.clean(there, THINGS, timedelta(0))
    data = tmp_path / "things.lance" / "data"
    (data / "0011.lance").write_bytes(next(data.glob("*.lance")).read_bytes())
    upkeep.clean(there, THINGS, timedelta(0))
    assert upkeep.leftovers(there, THINGS) == ["data/0011.lance"]
    upkeep.clean(there, THINGS, timedelta(0), alone=True)
    assert upkeep.leftovers(there, THINGS) == []
    assert keys(there) == [("a", "1")]


# --- nothing is left of what was erased ------------------------------------------------------------------------------

PAYLOADS = Table("payloads", (key("id", 1), blob("data")), version=1)
SIZES = (10, 70_000, 80_000, 4_300_000)  # Lance keeps them in the row, two in one file, one in its own


def test_payloads_go_with_their_rows(tmp_path: Path) -> None:
    there = store(tmp_path)
    for name in ("gone", "kept"):
        ids = pa.array([f"{name} {size}" for size in SIZES])
        data = [(f"<{name}>" * size).encode()[:size] for size in SIZES]
        write.insert(there, PAYLOADS, pa.table([ids, blobs(list(data))], schema=PAYLOADS.schema))
    write.erase(there, PAYLOADS, "starts_with(id, 'gone')")
    assert _files_with(tmp_path, b"<gone><gone>")
    assert upkeep.purge(there, PAYLOADS) == []
    assert not _files_with(tmp_path, b"<gone")
    assert len(_files_with(tmp_path, b"<kept><kept>")) == 2
    rows = read.rows(there, PAYLOADS, ["id"], row_ids=True)
    kept = read.blobs(there, PAYLOADS, "data", rows[read.ROW].to_pylist())
    assert sorted(map(len, kept)) == sorted(SIZES)


def _files_with(place: Path, text: bytes) -> list[Path]:
    return [path for path in place.rglob("*") if path.is_file() and text in path.read_bytes()]


def _indexed(place: Path) -> dict[str, list[object]]:
    """Return what the files of all index segments hold: values of columns, and the length of each list of words."""
    found: dict[str, list[object]] = {"values": [], "keys": [], "_token_total_length": []}
    for path in (place / "things.lance" / "_indices").rglob("*.lance"):
        table = LanceFileReader(str(path)).read_all().to_table()
        for name in found.keys() & set(table.column_names):
            found[name] += table[name].to_pylist()
    return {name: sorted(set(values), key=str) for name, values in found.items()}


def test_words_and_values_leave_the_indexes(there: Store, tmp_path: Path) -> None:
    write.insert(there, THINGS, things("kept", range(3), "abc"))
    write.insert(there, THINGS, things("gone", [10, 11], "abcde fghij"))
    upkeep.fold_indexes(there, THINGS)
    write.erase(there, THINGS, "shelf = 'gone'")
    assert _indexed(tmp_path) == {
        "values": ["gone", "kept"],
        "keys": ["kind 1", "kind 2"],
        "_token_total_length": [len("abcabcdefghij")],
    }
    assert upkeep.purge(there, THINGS) == []
    assert _indexed(tmp_path) == {"values": ["kept"], "keys": ["kind 1"], "_token_total_length": [3]}
    assert covered(there) == {(3, 0)}
    assert upkeep.health(there, THINGS).versions == 1


def test_an_index_that_nobody_declared_goes_as_a_whole(there: Store, tmp_path: Path) -> None:
    write.insert(there, THINGS, things("a", ["gone"]))
    there.handle(THINGS).create_scalar_index("id", "BTREE", name="somebody's")
    write.erase(there, THINGS, "id = 'gone'")
    assert "gone" in _indexed(tmp_path)["values"]
    assert upkeep.purge(there, THINGS) == []
    assert _indexed(tmp_path)["values"] == []
    assert sorted(index.name for index in there.renewed(THINGS).describe_indices()) == sorted(NAMES)


def test_one_row_of_a_large_fragment_goes_too(there: Store, tmp_path: Path) -> None:
    write.insert(there, THINGS, things("a", range(500), "keptword"))
    write.insert(there, THINGS, things("b", [1], "goneword"))
    upkeep.fold_indexes(there, THINGS)
    upkeep.compact(there, THINGS)
    write.erase(there, THINGS, "shelf = 'b'")
    assert _files_with(tmp_path, b"goneword")
    assert upkeep.purge(there, THINGS) == []
    assert not _files_with(tmp_path, b"goneword")
    assert read.count(there, THINGS) == 500


def test_a_table_may_become_empty(there: Store, tmp_path: Path) -> None:
    write.insert(there, THINGS, things("a", range(5), "goneword"))
    upkeep.fold_indexes(there, THINGS)
    write.erase(there, THINGS, "true")
    assert _files_with(tmp_path, b"goneword")
    assert upkeep.purge(there, THINGS) == []
    assert not _files_with(tmp_path, b"goneword")
    write.insert(there, THINGS, things("a", range(5), "北京"))
    assert answers(there)["北京"] == 5  # the tokenizer is still the one that was asked for


def test_what_cannot_be_purged_is_named(there: Store, tmp_path: Path) -> None:
    write.insert(there, THINGS, things("a", [1], "goneword"))
    there.handle(THINGS).tags.create("by-somebody", there.handle(THINGS).version)
    write.erase(there, THINGS, "true")
    left = upkeep.purge(there, THINGS)
    assert any(path.startswith("data/") for path in left)
    assert all((tmp_path / "things.lance" / path).exists() for path in left)


def test_an_object_store_is_treated_alike(s3: s3_server.Store) -> None:
    there = Store(Catalog(s3.uri, s3.storage_options))
    there.made(THINGS)
    upkeep.ensure_indexes(there, THINGS)
    write.insert(there, THINGS, things("a", [1], "keptword"))
    write.insert(there, THINGS, things("b", [1], "goneword"))
    upkeep.fold_indexes(there, THINGS)
    write.erase(there, THINGS, "shelf = 'b'")
    assert [name for name in s3.objects() if b"goneword" in s3.read(name)]
    assert upkeep.leftovers(there, THINGS)
    assert upkeep.purge(there, THINGS) == []
    assert not [name for name in s3.objects() if b"goneword" in s3.read(name)]
    assert [name for name in s3.objects() if b"keptword" in s3.read(name)]
    found = upkeep.health(there, THINGS)
    assert (found.rows, found.versions) == (1, 1)
    assert found.bytes == sum(len(s3.read(name)) for name in s3.objects())


# --- others ----------------------------------------------------------------------------------------------------------

TASKS: list[Callable[[Store], object]] = [
    lambda there: upkeep.fold_indexes(there, THINGS),
    lambda there: upkeep.compact(there, THINGS),
    lambda there: upkeep.purge(there, THINGS),
]


@pytest.mark.parametrize("task", TASKS)
def test_a_race_that_is_always_lost_is_a_conflict(
    there: Store, task: Callable[[Store], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pond.substrate.retry.time.sleep", lambda _: None)
    for number in range(3):
        write.insert(there, THINGS, things("a", [number]))
    optimizer = type(there.handle(THINGS).optimize)

    def lose(*_: object, **__: object) -> None:
        raise OSError("Retryable commit conflict for version 9: somebody else was first")

    monkeypatch.setattr(optimizer, "compact_files", lose)
    monkeypatch.setattr(optimizer, "optimize_indices", lose)
    with pytest.raises(Conflict) as caught:
        task(there)
    assert caught.value.attempts == 6
    assert len(keys(there)) == 3


@pytest.mark.parametrize("task", TASKS)
def test_a_race_that_is_lost_once_is_run_again_on_what_is_there_now(
    there: Store, task: Callable[[Store], object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("pond.substrate.retry.time.sleep", lambda _: None)
    for number in range(3):
        write.insert(there, THINGS, things("a", [number]))
    optimizer, other = type(there.handle(THINGS).optimize), store(tmp_path)
    compact = optimizer.compact_files
    lost: list[int] = []

    def come_second(self: object, **options: object) -> object:
        if not lost:
            lost.append(1)
            compact(other.renewed(THINGS).optimize)
        return compact(self, **options)

    monkeypatch.setattr(optimizer, "compact_files", come_second)
    task(there)
    assert len(keys(there)) == 3


def test_the_health_of_a_table_that_is_not_there(tmp_path: Path) -> None:
    assert upkeep.health(store(tmp_path), THINGS) == upkeep.TableHealth(0, 0, 0, 0, [])


def test_health_counts_what_is_on_disk(there: Store, tmp_path: Path) -> None:
    write.insert(there, THINGS, things("a", range(7)))
    found = upkeep.health(there, THINGS)
    size = sum(path.stat().st_size for path in (tmp_path / "things.lance").rglob("*") if path.is_file())
    versions = len(list((tmp_path / "things.lance" / "_versions").glob("*.manifest")))
    assert (found.rows, found.fragments, found.versions, found.bytes) == (7, 1, versions, size)
    cheap = upkeep.health(there, THINGS, sizes=False)
    assert (cheap.rows, cheap.versions, cheap.bytes) == (7, 0, 0)
    assert cheap.indexes == found.indexes
