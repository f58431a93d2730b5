"""Every scan of a table is built here (lance-chokepoints-read)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from pond.substrate.retry import with_retries
from pond.substrate.signals import Gone
from pond.substrate.store import Store
from pond.substrate.table import Table

ROW = "_rowid"
_BATCH = 4096


def rows(
    store: Store,
    table: Table,
    columns: Sequence[str],
    where: str | None = None,
    *,
    order: Sequence[str] = (),
    limit: int | None = None,
    row_ids: bool = False,
) -> pa.Table:
    """Return the matching rows, in the given order; a missing table has none."""

    def ask() -> pa.Table:
        handle = store.existing(table)
        if handle is None:
            return _empty(table, columns, row_ids)
        # If an index finds the rows, Lance can only order by a column that it also returns.
        asked = dict.fromkeys([*columns, *order])
        found = scan(handle, list(asked), where, order=order, limit=limit, row_ids=row_ids).to_table()
        return found.select([*columns, ROW] if row_ids else list(columns))

    return with_retries(f"reading `{table.name}`", ask, store.forget)


def batches(store: Store, table: Table, columns: Sequence[str], where: str | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the matching rows, a few thousand at a time, in stored order, all from one version of the table."""
    handle = store.existing(table)
    if handle is None:
        return
    version, done, stream = handle.version, 0, iter(())

    def begin() -> None:
        nonlocal stream
        pinned = handle.checkout_version(version)
        stream = scan(pinned, columns, where, offset=done).to_batches()

    with_retries(f"reading `{table.name}`", begin)
    while (batch := with_retries(f"reading `{table.name}`", lambda: next(stream, None), begin)) is not None:
        done += batch.num_rows
        yield batch


def scan(
    handle: Any,
    columns: Sequence[str],
    where: str | None,
    *,
    order: Sequence[str] = (),
    limit: int | None = None,
    offset: int | None = None,
    row_ids: bool = False,
    batch_size: int | None = None,
    **limits: Any,
) -> Any:
    """Return the scan of an opened table; `limits` are Lance's own, for reading whole tables."""
    return handle.scanner(
        columns=list(columns), filter=where, order_by=list(order) or None, limit=limit, offset=offset,
        with_row_id=row_ids, batch_size=batch_size or _BATCH,
        prefilter=True,  # search-prefilter-pushdown: a filter comes before any ranking
        **limits,
    )  # fmt: skip


def version(store: Store, table: Table) -> int:
    """Return the newest version of a table; 0 if it was never made."""
    handle = store.existing(table)
    return 0 if handle is None else int(handle.version)


def count(store: Store, table: Table, where: str | None = None) -> int:
    """Return how many rows match; a missing table has none."""

    def ask() -> int:
        handle = store.existing(table)
        return 0 if handle is None else int(handle.count_rows(where))

    return with_retries(f"counting `{table.name}`", ask, store.forget)


def blobs(store: Store, table: Table, column: str, row_ids: Sequence[int]) -> list[bytes]:
    """Return the payloads of the rows with these row ids, in that order."""
    if not row_ids:
        return []

    return with_retries(
        f"reading `{table.name}`", lambda: payloads(store.handle(table), column, row_ids), store.forget
    )  # fmt: skip


def payloads(handle: Any, column: str, row_ids: Sequence[int]) -> list[bytes]:
    """Return the payloads of an opened table's rows, in the order of their row ids."""
    return [data or b"" for _, data in handle.read_blobs(column, ids=list(row_ids), preserve_order=True)]


def _empty(table: Table, columns: Sequence[str], row_ids: bool) -> pa.Table:
    schema = pa.schema([table.schema.field(name) for name in columns])
    if row_ids:
        schema = schema.append(pa.field(ROW, pa.uint64()))
    return schema.empty_table()


class Pinned:
    """A table at one version: all queries see the same rows, whatever is written meanwhile."""

    def __init__(self, store: Store, table: Table, version: int | None = None) -> None:
        handle = store.handle(table)
        if version is not None and version not in {each["version"] for each in handle.versions()}:
            raise Gone(table.name, version)
        self.version: int = handle.version if version is None else version
        self._doing = f"reading `{table.name}`"
        self._handle = with_retries(self._doing, lambda: handle.checkout_version(self.version))

    @property
    def names(self) -> list[str]:
        """The columns that the table has at this version."""
        names: list[str] = self._handle.schema.names
        return names

    def rows(self, columns: Sequence[str], where: str | None = None, **limits: Any) -> pa.Table:
        """Return the matching rows; `limits` are those of `scan`."""
        return with_retries(self._doing, lambda: scan(self._handle, columns, where, **limits).to_table())

    def count(self, where: str | None = None) -> int:
        """Return how many rows match."""
        return with_retries(self._doing, lambda: int(self._handle.count_rows(where)))

    def plan(self, columns: Sequence[str], where: str | None = None, **limits: Any) -> str:
        """Return how Lance executes a query."""
        return with_retries(self._doing, lambda: str(scan(self._handle, columns, where, **limits).explain_plan()))


def taking(row_ids: Iterable[int]) -> str:
    """Return the filter for rows with these row ids; there must be some."""
    return f"{ROW} IN ({', '.join(map(str, sorted(row_ids)))})"


def descending(column: str) -> Any:
    """Return an order of rows: the greatest values first, rows without one last."""
    from lance.dataset import ColumnOrdering

    return ColumnOrdering(column, ascending=False, nulls_first=False)
