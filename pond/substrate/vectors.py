"""Columns of vectors: added and dropped while others read and write, indexed if there are many.

A table has as many of them as its consumer wants, each with its own dimensions. None is declared: the schema shows
which exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from pond.substrate import upkeep
from pond.substrate.retry import with_retries
from pond.substrate.store import Store
from pond.substrate.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DISTANCE = "_distance"  # the column of the result: one minus the cosine
METRIC = "cosine"
_FAMILY = "IVF_SQ"  # IVF_PQ takes 50 to 100 times as long to build, and gains nothing here
_ROWS_A_PARTITION = 16_384


class Nearness(NamedTuple):
    """How thoroughly to search the index: partitions, and a multiple of the answer that is measured exactly."""

    nprobes: int = 16
    refine_factor: int = 2


def field(name: str, dimensions: int) -> pa.Field:
    """Return a column of vectors with half floats: full floats find nothing more."""
    return pa.field(name, pa.list_(pa.float16(), dimensions))


def array(rows: NDArray[np.float32]) -> pa.Array:
    """Return vectors as they are stored."""
    import numpy as np

    return pa.FixedSizeListArray.from_arrays(pa.array(rows.astype(np.float16).reshape(-1)), rows.shape[1])


def columns(store: Store, table: Table) -> dict[str, int]:
    """Return the columns of vectors that a table has, with their dimensions."""
    handle = store.existing(table)
    return {} if handle is None else of_schema(handle.schema)


def of_schema(schema: pa.Schema) -> dict[str, int]:
    """Return the columns of a schema that hold vectors, with their dimensions."""
    return {each.name: each.type.list_size for each in schema if pa.types.is_fixed_size_list(each.type)}


def add(store: Store, table: Table, new: pa.Field) -> None:
    """Add an empty column, unless it is there."""

    def once() -> None:
        handle = store.handle(table)
        if new.name not in handle.schema.names:
            handle.add_columns(pa.schema([new]))

    with_retries(f"adding a column to `{table.name}`", once, lambda: store.renewed(table))


def drop(store: Store, table: Table, names: Iterable[str]) -> None:
    """Drop columns with their indexes, if they exist."""

    def once() -> None:
        handle = store.handle(table)
        if there := [name for name in names if name in handle.schema.names]:
            handle.drop_columns(there)

    with_retries(f"dropping a column of `{table.name}`", once, lambda: store.renewed(table))


# --- the index --------------------------------------------------------------------------------------------------------


def index_name(column: str) -> str:
    """Return the name of a column's index."""
    return f"{column}_{_FAMILY.lower()}"


def keep_index(store: Store, table: Table, column: str, vectors: int, least: int) -> bool:
    """Update a column's index if it has `least` vectors, otherwise drop it; tell whether anything was due."""
    return upkeep.on(store, table, "indexing", partial(_keep_index, column=column, vectors=vectors, least=least))


def _keep_index(handle: Any, column: str, vectors: int, least: int) -> bool:
    name = index_name(column)
    there = name in {each.name for each in handle.describe_indices()}
    if vectors < least:
        if there:
            handle.drop_index(name)
        return there
    if not there:
        _build(handle, column, vectors)
        return True
    return upkeep.fold(handle, name)


def _build(handle: Any, column: str, vectors: int) -> None:
    partitions = max(1, vectors // _ROWS_A_PARTITION)
    handle.create_index(
        column, _FAMILY, name=index_name(column), metric=METRIC, num_partitions=partitions, replace=True
    )


# --- the question -----------------------------------------------------------------------------------------------------


def nearest(
    column: str, vector: Sequence[float] | NDArray[np.float32], count: int, how: Nearness, *, exact: bool = False
) -> dict[str, Any]:
    """Return the part of a scan that asks for the nearest rows, for `read.Pinned.rows(..., nearest=...)`.

    `exact` compares every row that passes the filter: faster than the index if those are few.
    """
    # Without a refine factor the distances of an index are not those of the vectors.
    return {
        "column": column, "q": vector, "k": count, "metric": METRIC, "nprobes": how.nprobes,
        "refine_factor": max(1, how.refine_factor), "use_index": not exact,
    }  # fmt: skip
