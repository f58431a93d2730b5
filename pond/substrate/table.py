"""What a consumer declares about a table: its columns, its key, its indexes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pyarrow as pa

Family = Literal["BTREE", "BITMAP", "INVERTED", "LABEL_LIST"]

KEY = "lance-schema:unenforced-primary-key:position"
VERSION = "pond.schema_version"  # lance-dataset-schema-version: a fact about the dataset, not a column
# Neighbouring values share most of their text: larger chunks compress them together. Measured in decision 0013.
_PACKED = {
    "lance-encoding:structural-encoding": "miniblock",
    "lance-encoding:compression": "zstd",
    "lance-encoding:compression-level": "3",
}


def key(name: str, position: int) -> pa.Field:
    """Return a key column, by which merge-insert identifies rows (lance-table-creation-unenforced-pk)."""
    return pa.field(name, pa.string(), nullable=False, metadata={KEY: str(position)})


def packed(name: str, chunk: int) -> pa.Field:
    """Return a text column whose values are compressed together, `chunk` bytes at a time."""
    return pa.field(name, pa.string(), metadata={**_PACKED, "lance-encoding:minichunk-size": str(chunk)})


def labels(name: str) -> pa.Field:
    """Return a column of lists of texts; those of neighbouring rows are mostly equal, and compressed together.

    The items have no metadata: otherwise Lance converts the column before a filter and does not use its index.
    """
    return pa.field(name, pa.list_(pa.string()), metadata=_PACKED)


def blob(name: str) -> pa.Field:
    """Return a column of payloads, stored beside the rows and read only on request."""
    from lance import blob_field

    return blob_field(name)


def blobs(values: list[bytes | None]) -> pa.Array:
    """Return the values of a blob column."""
    from lance import blob_array

    return blob_array(values)


@dataclass(frozen=True)
class Index:
    """One index of a table; the family decides how it is maintained (lance-index-maintenance)."""

    column: str
    family: Family
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        # Named by us: otherwise asking for an index of another type would add a second one.
        return f"{self.column}_{self.family.lower()}"


@dataclass(frozen=True)
class Table:
    """A table as its consumer declares it."""

    name: str
    columns: tuple[pa.Field, ...]
    version: int
    indexes: tuple[Index, ...] = ()
    retired: tuple[str, ...] = ()  # names of indexes of an earlier pond: dropped when the others are made
    derived: frozenset[str] = frozenset()  # columns computed from others: a table without one gets it, empty, in place

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(self.columns, metadata={VERSION: str(self.version)})

    def with_columns(self, more: Iterable[pa.Field]) -> Table:
        """Return the table with columns that only this one has."""
        return replace(self, columns=(*self.columns, *more))

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the primary key, in order."""
        return tuple(column.name for column in self.columns if column.metadata and KEY.encode() in column.metadata)
