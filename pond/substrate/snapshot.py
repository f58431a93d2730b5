"""A table at one moment: whole rows with their payloads, a few at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pond.substrate.read import ROW, payloads, scan
from pond.substrate.retry import with_retries
from pond.substrate.signals import Damaged
from pond.substrate.store import Store
from pond.substrate.table import Table, blobs

# Lance's own limit by bytes applies after decoding, so few rows are requested: some are megabytes long.
_ROWS = 256
_AHEAD = 2
_READ_BUFFER = 64 << 20
_PAYLOADS = 8 << 20  # bytes in one batch; a larger payload is its own batch
_KEPT_WITH_THE_TABLE = 2  # kinds of payload: within the rows, packed with others, in a separate file
_BLOB = "lance.blob.v2"


class Snapshot:
    """One version of a table, which does not change while others write."""

    def __init__(self, store: Store, table: Table) -> None:
        handle = store.renewed(table)  # snapshots of several tables keep the order in which they were taken
        self.table = table
        self._handle = with_retries(f"opening `{table.name}`", lambda: handle.checkout_version(handle.version))
        self._rows = with_retries(f"counting `{table.name}`", lambda: int(self._handle.count_rows()))

    def __len__(self) -> int:
        return self._rows

    @cached_property
    def size(self) -> int:
        """The bytes of its rows as stored, without payloads beside them."""
        fragments = self._handle.get_fragments()
        return sum(file.file_size_bytes or 0 for each in fragments for file in each.metadata.files)

    @property
    def schema(self) -> pa.Schema:
        return self._handle.schema

    def described(self, where: str | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the matching rows with their row ids; for a payload only its description, which holds its size.

        A version does not change: if reading fails for a passing reason, it continues after the rows already yielded.
        """
        done, stream = 0, self._stream(where, 0)

        def again() -> None:
            nonlocal stream
            stream = self._stream(where, done)

        while (batch := with_retries(f"reading `{self.table.name}`", lambda: next(stream, None), again)) is not None:
            done += batch.num_rows
            yield batch

    def _stream(self, where: str | None, offset: int) -> Iterator[pa.RecordBatch]:
        found: Iterator[pa.RecordBatch] = scan(
            self._handle, self.table.schema.names, where, row_ids=True, batch_size=_ROWS, offset=offset or None,
            batch_readahead=_AHEAD, io_buffer_size=_READ_BUFFER, blob_handling="blobs_descriptions",
        ).to_batches()  # fmt: skip
        return found

    def batches(self, where: str | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the matching rows in a form that can be written again."""
        for batch in self.described(where):
            yield from self.whole(batch)

    def whole(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a described batch with their payloads, fewer at a time if those are large."""
        name = payload_column(self.table)
        if name is None:
            yield batch.select(self.table.schema.names).cast(self.table.schema)
            return
        sizes = payload_sizes(self.table, batch)
        for start, end in _portions(sizes):
            yield self._with_payloads(batch.slice(start, end - start), name)

    def _with_payloads(self, batch: pa.RecordBatch, name: str) -> pa.RecordBatch:
        there = batch[name].is_valid().to_pylist()
        ids = [id for id, is_there in zip(batch[ROW].to_pylist(), there, strict=True) if is_there]
        found = iter(payloads(self._handle, name, ids) if ids else [])
        column = blobs([next(found) if is_there else None for is_there in there])
        columns = [column if field.name == name else batch[field.name] for field in self.table.schema]
        return pa.RecordBatch.from_arrays(columns, schema=self.table.schema)

    def strays(self, files: Collection[str]) -> str | None:
        """Return how these files differ from those of a fresh table; None if they do not."""
        if self._handle.base_paths():
            return "it names other places for its files"
        if self._handle.describe_indices():
            return "it has indexes"
        fragments = [fragment.metadata for fragment in self._handle.get_fragments()]
        if any(fragment.deletion_file or fragment.overlays for fragment in fragments):
            return "it holds rows that were changed later"
        read = [file for fragment in fragments for file in fragment.files]
        return _other_files({f"data/{file.path}" for file in read}, files)


def payload_column(table: Table) -> str | None:
    """Return the name of the column that holds payloads."""
    found = (column.name for column in table.columns if getattr(column.type, "extension_name", "") == _BLOB)
    return next(found, None)


def payload_sizes(table: Table, batch: pa.RecordBatch) -> list[int]:
    """Return the bytes of each payload of a described batch, zero for none; raise if one is elsewhere."""
    name = payload_column(table)
    if name is None:
        return [0] * batch.num_rows
    about: Any = batch[name].drop_null()
    kinds, addresses = pc.struct_field(about, "kind"), pc.struct_field(about, "blob_uri")
    if any(kind > _KEPT_WITH_THE_TABLE for kind in kinds.to_pylist()) or any(addresses.to_pylist()):
        raise Damaged(f"reading `{table.name}`", "a payload lies outside of the table")
    return [row["size"] if row else 0 for row in batch[name].to_pylist()]


def _other_files(read: set[str], files: Collection[str]) -> str | None:
    """Compare the data files that a table reads with the existing files; payloads are in a folder of that name."""
    if not read <= set(files):
        return "it reads a file that is not its own"
    folders = {name.removesuffix(".lance") for name in read}
    unread = [name for name in files if name not in read and name.rpartition("/")[0] not in folders]
    return None if len(unread) == 1 else "it has files that nothing reads"  # one of them is its manifest


def _portions(sizes: list[int]) -> Iterator[tuple[int, int]]:
    """Yield where to cut, so that each portion's payloads fit, or are a single one."""
    start, before = 0, 0
    for end, total in enumerate(accumulate(sizes)):
        if end > start and total - before > _PAYLOADS:
            yield start, end
            start, before = end, total - sizes[end]
    if sizes:
        yield start, len(sizes)
