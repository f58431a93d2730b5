"""The vectors of messages: a column of `messages` for each model, and `embedding_model` says which one counts.

They come in two steps (decision 0028). New vectors are staged in a separate table, where a commit is cheap; from time
to time the staged vectors are folded into the column, which rewrites it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from pond.diagnostics.diagnostic import Diagnostic
from pond.embed.faults import EmbedError
from pond.sessions.tables import MESSAGES, VECTORS
from pond.substrate import predicate, read, vectors, write
from pond.substrate.store import Store
from pond.substrate.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MARK = "embedding_model"
_COLUMN = re.compile(r"vector_[a-z0-9_]{0,32}_[0-9a-f]{8}")
_SEARCHED = predicate.is_not_null("search_text")
_KEYS = [MESSAGES.schema.field(name) for name in MESSAGES.keys]
_FOLD_FROM, _FOLD_AT_MOST = 20_000, 200_000  # staged vectors
_SHARE = 8  # share of the messages that are staged before they are folded: it limits how often a column is rewritten


def column(label: str) -> str:
    """Return the column that holds a model's vectors."""
    plain = re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_")[:32]
    return f"vector_{plain}_{sha256(label.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def columns(schema: pa.Schema) -> dict[str, int]:
    """Return the columns of vectors of stored or archived messages, with their dimensions."""
    return {name: size for name, size in vectors.of_schema(schema).items() if _COLUMN.fullmatch(name)}


def with_vectors(store: Store, table: Table) -> Table:
    """Return a table with the columns of vectors that it has in this lake."""
    handle = store.existing(table) if table is MESSAGES else None
    found = {} if handle is None else columns(handle.schema)
    more = [vectors.field(name, size) for name, size in sorted(found.items())]
    return table.with_columns(more) if more else table


def brought(store: Store, table: Table) -> Table:
    """Give the lake's messages the vector columns that others bring along; return the table with those that fit."""
    there, more = vectors.columns(store, MESSAGES), columns(table.schema)
    fitting = [vectors.field(name, size) for name, size in more.items() if there.get(name, size) == size]
    for field in fitting:
        vectors.add(store, MESSAGES, field)
    return MESSAGES.with_columns(fitting) if more else table


def with_honest_marks(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return messages without marks for models whose vector they lack."""
    marks = rows[MARK]
    for label in filter(None, marks.unique().to_pylist()):
        held = rows[column(label)].is_valid() if column(label) in rows.schema.names else pa.scalar(False)
        lacking = pc.and_(pc.equal(marks, label), pc.invert(held))
        marks = pc.if_else(pc.fill_null(lacking, False), pa.scalar(None, pa.string()), marks)
    return rows.set_column(rows.schema.get_field_index(MARK), MESSAGES.schema.field(MARK), marks)


# --- what is there ----------------------------------------------------------------------------------------------------


def count(store: Store, label: str) -> int:
    """Return how many messages have a vector by this model."""
    return read.count(store, MESSAGES, predicate.equals(MARK, label))


def by_model(store: Store) -> dict[str, int]:
    """Return how many messages have a vector, by model."""
    found: Counter[str] = Counter()
    for batch in read.batches(store, MESSAGES, [MARK], predicate.is_not_null(MARK)):
        found.update(batch[MARK].to_pylist())
    return dict(sorted(found.items()))


def waiting(store: Store, label: str) -> int:
    """Return how many messages wait for a vector by this model."""
    return read.count(store, MESSAGES, _waits(label))


def waiting_rows(store: Store, label: str) -> list[int]:
    """Return the row ids of the waiting messages, in stored order."""
    found = read.rows(store, MESSAGES, [], _waits(label), row_ids=True)[read.ROW].to_pylist()
    return [int(id) for id in found]


def texts(store: Store, label: str, row_ids: Sequence[int]) -> pa.Table:
    """Return the keys and texts of those of these messages that still wait and are not staged."""
    where = predicate.all_of(predicate.numbered(row_ids), _waits(label))
    found = read.rows(store, MESSAGES, [*MESSAGES.keys, "search_text"], where)
    ready = _staged_keys(store, label, found["session_id"].unique().to_pylist())
    pairs = zip(*(found[name].to_pylist() for name in MESSAGES.keys), strict=True)
    return found.filter(pa.array([pair not in ready for pair in pairs], pa.bool_()))


def _waits(label: str) -> str:
    return f"{_SEARCHED} AND {predicate.differs(MARK, label)}"


def _staged_keys(store: Store, label: str, sessions: Sequence[str]) -> set[tuple[str, ...]]:
    here = predicate.all_of(predicate.equals("model", label), predicate.one_of("session_id", sessions))
    staged = read.rows(store, VECTORS, MESSAGES.keys, here)
    return set(zip(*(staged[name].to_pylist() for name in MESSAGES.keys), strict=True))


# --- in ---------------------------------------------------------------------------------------------------------------


def prepare(store: Store, label: str, dimensions: int, *, anew: bool = False) -> None:
    """Make the column of a model; `anew` lets every message wait again, whatever vector it has."""
    name = column(label)
    if anew:
        _forget(store, predicate.is_not_null(MARK))
        vectors.drop(store, MESSAGES, columns(store.handle(MESSAGES).schema))
        write.erase(store, VECTORS, predicate.is_not_null("model"))
    elif name not in vectors.columns(store, MESSAGES):
        _forget(store, predicate.equals(MARK, label))  # the column was dropped, and rows came that had been in it
    there = vectors.columns(store, MESSAGES).get(name, dimensions)
    if there != dimensions:
        what = f"model `{label}` gives {dimensions} dimensions, the lake's vectors of that name have {there}"
        raise EmbedError(Diagnostic("model-dimensions", what))
    vectors.add(store, MESSAGES, vectors.field(name, dimensions))
    store.made(VECTORS)


def _forget(store: Store, where: str) -> None:
    """Let messages wait again."""
    marked = read.rows(store, MESSAGES, MESSAGES.keys, where)
    given = [*marked.columns, pa.nulls(marked.num_rows, pa.string())]
    write.fill(store, MESSAGES, pa.table(given, schema=pa.schema([*_KEYS, MESSAGES.schema.field(MARK)])))


def stage(store: Store, label: str, keys: pa.Table, rows: NDArray[np.float32]) -> int:
    """Stage vectors; return how many were new: another process may have made the same ones."""
    given = [keys["session_id"], keys["id"], pa.array([label] * len(rows), pa.string())]
    values = vectors.array(rows).cast(VECTORS.schema.field("vector").type)
    return write.insert(store, VECTORS, pa.table([*given, values], schema=VECTORS.schema))


def fold_is_due(store: Store) -> bool:
    """Tell whether enough vectors are staged to fold them into their column."""
    staged = read.count(store, VECTORS)
    return staged >= min(_FOLD_AT_MOST, max(_FOLD_FROM, read.count(store, MESSAGES) // _SHARE))


def fold(store: Store, label: str) -> int:
    """Put staged vectors into their column; return how many messages got one.

    A kill leaves the vectors staged, or in both places: the next run does it again. What another process stages
    meanwhile has greater row ids, and stays.
    """
    dimensions = vectors.columns(store, MESSAGES).get(column(label))
    staged = read.rows(store, VECTORS, [*MESSAGES.keys, "vector"], predicate.equals("model", label), row_ids=True)
    if not staged.num_rows or dimensions is None:
        return 0
    field = vectors.field(column(label), dimensions)
    schema = pa.schema([*_KEYS, field, MESSAGES.schema.field(MARK)])
    given = [staged["session_id"], staged["id"], staged["vector"].cast(field.type), pa.array([label] * len(staged))]
    done = write.fill(store, MESSAGES, pa.table(given, schema=schema), unless_equal=MARK)
    last = max(staged[read.ROW].to_pylist())
    write.erase(store, VECTORS, f"{predicate.equals('model', label)} AND {read.ROW} <= {last}")
    return done


def settle(store: Store, label: str) -> list[str]:
    """Drop the vectors of other models once no message waits for this one; return the dropped columns."""
    if waiting(store, label) or not count(store, label):
        return []
    others = [name for name in columns(store.renewed(MESSAGES).schema) if name != column(label)]
    vectors.drop(store, MESSAGES, others)
    write.erase(store, VECTORS, f"NOT ({predicate.equals('model', label)})")
    return others


def keep_indexes(store: Store, least: int) -> list[str]:
    """Update the index of each vector column; return those that were behind."""
    held = {column(label): found for label, found in by_model(store).items()}
    return [
        vectors.index_name(name)
        for name in columns(store.handle(MESSAGES).schema)
        if vectors.keep_index(store, MESSAGES, name, held.get(name, 0), least)
    ]
