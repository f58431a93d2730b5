"""Keeps a table fast and small: indexes, compaction, cleanup; and reports their state.

Nothing here changes the answer to a query (lance-index-maintenance): rows that no index covers yet are scanned one by
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import PurePosixPath
from typing import Any, TypeVar

from pond.substrate.retry import with_retries
from pond.substrate.store import Store
from pond.substrate.table import Index, Table

FRAGMENTS = 50  # commits slow down with the number of fragments; beyond this many they are merged
SEGMENTS = 8  # parts of an index before they are merged: adding one is cheap, searching many is not
_BEGUN = ".tmp"  # the suffix of a file until it is complete
_SLACK = timedelta(seconds=1)  # between our clock and Lance's
_INDEXES = "_indices/"
_HINT = "_versions/latest_version_hint.json"  # beside the manifests, of no particular version

Result = TypeVar("Result")


@dataclass(frozen=True)
class IndexHealth:
    """How far an index covers its table, and in how many segments."""

    name: str
    column: str
    family: str
    indexed: int
    unindexed: int
    segments: int


@dataclass(frozen=True)
class TableHealth:
    """The state of a table: rows, files, bytes (all versions, indexes included) and its indexes.

    Of the bytes, `index_bytes` are those of the newest version's indexes, and `old_bytes` those of older versions,
    which it replaced at `since` (UTC).
    """

    rows: int
    fragments: int
    versions: int
    bytes: int
    indexes: list[IndexHealth]
    index_bytes: int = 0
    old_bytes: int = 0
    since: str = ""


# --- indexes ----------------------------------------------------------------------------------------------------------


def ensure_indexes(store: Store, table: Table) -> list[str]:
    """Make the missing indexes of a table, even an empty one; drop retired ones; return which were made."""
    made = [index.name for index in table.indexes if on(store, table, "indexing", partial(_ensure, index=index))]
    if table.retired:
        on(store, table, "indexing", partial(_drop, names=frozenset(table.retired)))
    return made


def _ensure(handle: Any, index: Index) -> bool:
    # Looked up at every attempt: another process may have made it meanwhile.
    if index.name in {each.name for each in handle.describe_indices()}:
        return False
    _build(handle, index)
    return True


def _drop(handle: Any, names: frozenset[str]) -> None:
    for name in sorted({each.name for each in handle.describe_indices()} & names):
        handle.drop_index(name)


def _build(handle: Any, index: Index) -> None:
    handle.create_scalar_index(index.column, index.family, name=index.name, replace=True, **index.options)


def fold_indexes(store: Store, table: Table) -> list[str]:
    """Add the rows that indexes do not cover yet; return which were behind (lance-index-maintenance).

    All families add rows in the same way: another segment, until there are so many that they are merged.
    """
    made = ensure_indexes(store, table)
    behind = (index.name for index in table.indexes if on(store, table, "indexing", partial(fold, name=index.name)))
    return [*made, *behind]


def fold(handle: Any, name: str) -> bool:
    """Add the rows that an index does not cover yet; tell whether there were any."""
    stats = handle.stats.index_stats(name)
    segments = stats["num_indices"]
    if not stats["num_unindexed_rows"] and segments <= SEGMENTS:
        return False
    handle.optimize.optimize_indices(num_indices_to_merge=segments if segments >= SEGMENTS else 0, index_names=[name])
    return True


# --- files ------------------------------------------------------------------------------------------------------------


def compact(store: Store, table: Table, *, beyond: int = 1, rows: int | None = None) -> bool:
    """Merge fragments if there are more than `beyond`; tell whether anything was done.

    Indexed and unindexed rows stay separate: fold the indexes first to get the fewest fragments. Fragments of more than
    `rows` rows are left alone, if that is given.
    """
    if on(store, table, "looking at", lambda handle: len(handle.get_fragments())) <= beyond:
        return False
    target = {} if rows is None else {"target_rows_per_fragment": rows}
    done = on(store, table, "compacting", lambda handle: handle.optimize.compact_files(**target))
    return bool(done.fragments_removed)


def clean(store: Store, table: Table, older_than: timedelta, *, alone: bool = False) -> int:
    """Delete the files of versions that were replaced longer ago than that; return the bytes freed.

    A version that was the newest until a moment ago may be in use, however old it is itself. With `alone`, also delete
    what unfinished writes left, which looks the same as what another process is writing right now.
    """
    stats = on(
        store, table, "cleaning",
        lambda handle: handle.cleanup_old_versions(
            older_than=_age(handle, older_than), delete_unverified=alone, error_if_tagged_old_versions=False
        ),
    )  # fmt: skip
    if alone:
        _remove_begun(store, table)
    return int(stats.bytes_removed)


def _age(handle: Any, replaced: timedelta) -> timedelta:
    """Return the age beyond which all versions were replaced longer ago than that."""
    if not replaced:
        return replaced
    made = [version["timestamp"] for version in handle.versions()]
    now = datetime.now()  # Lance tells local times
    newest_then = max((time for time in made if now - time >= replaced), default=None)
    return replaced if newest_then is None else now - newest_then + _SLACK


def _remove_begun(store: Store, table: Table) -> None:
    """Delete what a killed writer left under a temporary name, which no version and no clean-up knows."""
    begun = [path for path in leftovers(store, table) if PurePosixPath(path).name.startswith(_BEGUN)]
    if begun:
        on(store, table, "cleaning", partial(_delete, paths=begun))


def _delete(handle: Any, paths: Iterable[str]) -> None:
    files = handle.new_file_session()
    for path in paths:
        files.delete_file(path)


def purge(store: Store, table: Table, *, alone: bool = False) -> list[str]:
    """Let no file hold an erased row or a word of it; return the files that might and had to stay.

    Erasing marks rows as deleted. Here the fragments are written without them, the indexes made from what is left, and
    all versions but the newest deleted. What stays belongs to unfinished writes (see `clean`), or is tagged by
    somebody.
    """
    on(store, table, "compacting", _without_erased_rows)
    for index in table.indexes:
        on(store, table, "indexing", partial(_build, index=index))
    on(store, table, "indexing", partial(_drop_others, table=table))
    clean(store, table, timedelta(0), alone=alone)
    return leftovers(store, table)


def _without_erased_rows(handle: Any) -> None:
    handle.optimize.compact_files(materialize_deletions=True, materialize_deletions_threshold=0.0)


def _drop_others(handle: Any, table: Table) -> None:
    """Drop the indexes that the table does not declare: only their maker can make them again."""
    _drop(
        handle, frozenset({each.name for each in handle.describe_indices()} - {index.name for index in table.indexes})
    )


def leftovers(store: Store, table: Table) -> list[str]:
    """Return the files of a table that its newest version does not use."""
    return on(store, table, "listing", lambda handle: sorted(_unused(handle, _sizes(handle))))


def _sizes(handle: Any) -> dict[str, int]:
    """Return the files of a table with their sizes."""
    files = handle.all_files().read_all()
    return dict(zip(files["path"].to_pylist(), files["size_bytes"].to_pylist(), strict=True))


def _unused(handle: Any, paths: Iterable[str]) -> list[str]:
    used = set(handle.tracked_files(min_version=handle.version).read_all()["path"].to_pylist()) | {_HINT}
    return [path for path in paths if path not in used and _owner(path) not in used]


def _owner(path: str) -> str:
    """Return the data file to which a payload's own file belongs: it is in a folder of that name."""
    return f"{PurePosixPath(path).parent}.lance"


# --- how it stands ----------------------------------------------------------------------------------------------------


def health(store: Store, table: Table, *, sizes: bool = True) -> TableHealth:
    """Return the state of a table; without `sizes` no files are listed, which is cheap."""
    if store.existing(table) is None:
        return TableHealth(0, 0, 0, 0, [])

    def look(handle: Any) -> TableHealth:
        indexes = [_index_health(handle, index) for index in table.indexes]
        files = _sizes(handle) if sizes else {}
        versions = handle.versions() if sizes else []
        old = set(_unused(handle, files)) if sizes else set()
        of_indexes = sum(size for path, size in files.items() if path.startswith(_INDEXES) and path not in old)
        return TableHealth(
            handle.count_rows(), len(handle.get_fragments()), len(versions), sum(files.values()), indexes, of_indexes,
            sum(files[path] for path in old), versions[-1]["timestamp"].astimezone(UTC).isoformat() if versions else "",
        )  # fmt: skip

    return on(store, table, "looking at", look)


def _index_health(handle: Any, index: Index) -> IndexHealth:
    try:
        stats = handle.stats.index_stats(index.name)
    except KeyError:  # it was never made
        return IndexHealth(index.name, index.column, index.family, 0, handle.count_rows(), 0)
    indexed, unindexed = stats["num_indexed_rows"], stats["num_unindexed_rows"]
    return IndexHealth(index.name, index.column, index.family, indexed, unindexed, stats["num_indices"])


def on(store: Store, table: Table, doing: str, work: Callable[[Any], Result]) -> Result:
    """Return the result of `work` on the table's handle: at the newest version if another writer came first."""
    return with_retries(f"{doing} `{table.name}`", lambda: work(store.handle(table)), lambda: store.renewed(table))
