"""A table at one version for another query engine: some of its columns, with that engine's filters run by Lance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads

from pond.substrate.read import scan
from pond.substrate.retry import with_retries
from pond.substrate.store import Store
from pond.substrate.table import Table

Mend = Callable[[pa.RecordBatch], pa.RecordBatch]

_BATCH = 1 << 13  # rows: more would leave the processor's cache, and a few rows of wide columns must not cost much


class Exposed(pads.Dataset):  # type: ignore[misc]  # pyarrow has no types
    """What DuckDB sees as an Arrow dataset: it asks for columns and a filter, and Lance's indexes answer the filter.

    `mend` changes batches that hold one of the columns `mended`.
    """

    def __init__(
        self, store: Store, table: Table, columns: Sequence[str], mended: Sequence[str] = (), mend: Mend | None = None
    ) -> None:
        handle = store.renewed(table)  # tables exposed together keep the order in which they were opened
        self._columns, self._mended, self._mend = list(columns), frozenset(mended), mend
        self.version: int = handle.version
        self._handle = with_retries(f"opening `{table.name}`", lambda: handle.checkout_version(handle.version))

    @property
    def schema(self) -> pa.Schema:
        return self.scanner().projected_schema

    def scanner(self, columns: Sequence[str] | None = None, filter: Any = None, **_: Any) -> Any:
        """Return a scan of these columns; a filter that Lance cannot express is applied to the rows it returns."""
        names = self._columns if columns is None else list(columns)
        try:
            found = scan(self._handle, names, filter, batch_size=_BATCH)
        except (pa.ArrowException, ValueError, NotImplementedError):
            return self._filtered(names, filter)
        if self._mend is None or self._mended.isdisjoint(names):
            return found
        return _Mended(found.projected_schema, found.to_batches(), self._mend)

    def _filtered(self, names: list[str], filter: Any) -> Any:
        whole = scan(self._handle, self._columns, None, batch_size=_BATCH)
        reader = pa.RecordBatchReader.from_batches(whole.projected_schema, whole.to_batches())
        found = pads.Scanner.from_batches(reader, columns=names, filter=filter)
        return found if self._mend is None else _Mended(found.projected_schema, found.to_reader(), self._mend)


class _Mended:
    """A scan that changes its batches."""

    def __init__(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch], mend: Mend) -> None:
        self.projected_schema, self._batches, self._mend = schema, batches, mend

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the batches as a stream."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, map(self._mend, self._batches))
