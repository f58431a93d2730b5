"""Every write of rows goes through here: merge-insert by primary key (lance-chokepoints-write)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pyarrow as pa

from pond.substrate import predicate
from pond.substrate.retry import with_retries
from pond.substrate.store import Store
from pond.substrate.table import Table

_RACES = 50
_PATIENCE = timedelta(minutes=5)


def insert(store: Store, table: Table, new: pa.Table) -> int:
    """Store the rows whose keys are not stored yet; return their number.

    lance-append-only: matched rows do not change, so a retried or repeated batch changes nothing. The keys of `new`
    must be unique: Lance would store both of two equal ones.
    """
    return _merged(store, table, new, lambda merge: merge.when_not_matched_insert_all())


def replace(store: Store, table: Table, new: pa.Table) -> int:
    """Store the rows, each replacing the one with its key: for pond's own notes, never for sessions."""
    return _merged(
        store, table, new, lambda merge: merge.when_matched_update_all().when_not_matched_insert_all()
    )  # fmt: skip


def correct(store: Store, table: Table, column: str, value: str | int, where: str) -> int:
    """Set a column in the matching rows; return how many there were.

    An exception to lance-append-only in a session's tables: facts that messages are filtered by, and that a source may
    reveal after they are stored.
    """
    fitting = f"({where}) AND ({column} IS NULL OR {column} <> {predicate.literal(value)})"

    def update() -> int:
        handle = store.handle(table)
        if not handle.count_rows(fitting):
            return 0
        done = handle.update(
            {column: predicate.literal(value)}, where=fitting, conflict_retries=_RACES, retry_timeout=_PATIENCE
        )
        return int(done["num_rows_updated"])

    return with_retries(f"correcting `{table.name}`", update, lambda: store.renewed(table))


def rederive(store: Store, table: Table, new: pa.Table) -> int:
    """Set derived columns in existing rows; return how many. `new` has only the keys and these columns.

    Derived columns hold nothing that the others do not say, so this does not violate lance-append-only.
    """
    assert set(new.schema.names) <= {*table.keys, *table.derived}
    return _merged(store, table, new, lambda merge: merge.when_matched_update_all())


def fill(store: Store, table: Table, new: pa.Table, unless_equal: str | None = None) -> int:
    """Set some columns in existing rows, in place; return how many. `new` has only the keys and these columns.

    Rows that agree in the column `unless_equal` are left alone. No row moves and no other index is affected, but the
    files of these columns are rewritten for whole fragments: this is for many rows at once.
    """
    differs = unless_equal and f"target.{unless_equal} IS NULL OR target.{unless_equal} != source.{unless_equal}"

    def order(merge: Any) -> Any:
        merge = merge.when_matched_update_all(differs) if differs else merge.when_matched_update_all()
        return merge.write_mode("rewrite_columns")

    return _merged(store, table, new, order)


def erase(store: Store, table: Table, where: str) -> int:
    """Remove the matching rows, for good once the table is cleaned up; return how many there were."""

    def remove() -> int:
        handle = store.existing(table)
        if handle is None or not handle.count_rows(where):
            return 0  # even a deletion of nothing would commit a version
        done = handle.delete(where, conflict_retries=_RACES, retry_timeout=_PATIENCE)
        return int(done["num_deleted_rows"])

    return with_retries(f"erasing from `{table.name}`", remove, lambda: store.renewed(table))


def _merged(store: Store, table: Table, new: pa.Table, order: Callable[[Any], Any]) -> int:
    if not new.num_rows:
        return 0  # even a merge of nothing would commit a version
    store.made(table)

    def merge() -> int:
        # Without the scalar index: only the join over all keys records in the transaction what two writers of the same
        # key need to notice each other.
        builder = order(store.handle(table).merge_insert().use_index(False))
        done = builder.conflict_retries(_RACES).retry_timeout(_PATIENCE).execute(new)
        return int(done["num_inserted_rows"] + done["num_updated_rows"])

    return with_retries(f"writing `{table.name}`", merge, lambda: store.renewed(table))
