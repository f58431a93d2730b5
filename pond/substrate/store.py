"""Opened tables: created if missing, refreshed before they are read, all with one cache."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import lance
import pyarrow as pa
from lance.dataset import AutoCleanupConfig
from lance.file import LanceFileSession

from pond.substrate.catalog import Catalog
from pond.substrate.retry import with_retries
from pond.substrate.signals import Damaged, Missing, Newer, Older
from pond.substrate.table import VERSION, Table

_STALE_AFTER = 3.0  # seconds that an object store's manifest may be behind (lance-handle-freshness); a local one: none
_DAY = 24 * 3600
# A short retention window, enforced by the writes themselves.
_CLEANUP = AutoCleanupConfig(interval=50, older_than_seconds=_DAY)
_INDEX_CACHE, _METADATA_CACHE = 256 << 20, 64 << 20
# How long one request to an object store may take and how often it is repeated below `with_retries`, which repeats the
# whole call. With the client's own limits, a silent server could block a command for an hour.
_CLIENT = {
    "connect_timeout": "5s",
    "timeout": "30s",
    "client_max_retries": "2",
    "client_retry_timeout": "5",
    "lance_aimd_max_retries": "1",
}
_NEVER_MADE = re.compile(r"^Dataset at path .* was not found", re.S)
_HINT = "_versions/latest_version_hint.json"  # a local table's own note of its newest version
_SHORTEST_HINT, _LONGEST_HINT = len('{"version":1}'), 64


class Store:
    """The tables of one catalog. It must not be used after a fork: Lance runs its own threads.

    The handles of a store belong to one thread; another thread has a store `beside` it, with the same cache.
    """

    def __init__(
        self, catalog: Catalog, clock: Callable[[], float] = time.monotonic, beside: Store | None = None
    ) -> None:  # fmt: skip
        self.catalog, self._clock = catalog, clock
        self._options = client_options(catalog)
        # One cache and one client for all tables: connections and credentials are not multiplied.
        self._session: Any = beside._session if beside is not None else lance.Session(
            index_cache_size_bytes=_INDEX_CACHE, metadata_cache_size_bytes=_METADATA_CACHE
        )  # fmt: skip
        self._open: dict[str, Any] = {}
        self._checked: dict[str, float] = {}

    def existing(self, table: Table) -> Any | None:
        """Return the fresh handle of a table, or None if it was never made."""
        if table.name in self._open:
            return self._fresh(table)
        handle = with_retries(f"opening `{table.name}`", lambda: self._try_open(table))
        if handle is not None:
            self._keep(table, handle)
        return handle

    def handle(self, table: Table) -> Any:
        """Return the fresh handle of a table that must exist."""
        handle = self.existing(table)
        if handle is None:
            raise Missing(self.catalog.tables_root)
        return handle

    def made(self, table: Table) -> Any:
        """Return the fresh handle of a table, creating the table if it is missing (lance-table-creation)."""
        return self.existing(table) or self._make(table)

    def renewed(self, table: Table) -> Any:
        """Return the handle at the newest version, whatever its age."""
        self._checked.pop(table.name, None)
        return self.handle(table)

    def expire(self) -> None:
        """Look for newer versions at the next use, whatever the age of the handles."""
        self._checked.clear()

    def forget(self) -> None:
        """Open everything again at the next use."""
        self._open.clear()

    def _fresh(self, table: Table) -> Any:
        handle = self._open[table.name]
        age = self._clock() - self._checked.get(table.name, float("-inf"))
        if self.catalog.is_local or age > _STALE_AFTER:
            before = handle.version
            with_retries(f"refreshing `{table.name}`", handle.checkout_latest)
            if handle.version < before:
                raise Damaged(f"refreshing `{table.name}`", f"version {before} is gone, found {handle.version}")
            self._checked[table.name] = self._clock()
        return handle

    def _keep(self, table: Table, handle: Any) -> None:
        _known(table, handle)
        _complete(table, handle)
        self._open[table.name], self._checked[table.name] = handle, self._clock()

    def _try_open(self, table: Table) -> Any | None:
        try:
            handle = self._dataset(table)
        except ValueError as error:
            if not _NEVER_MADE.search(str(error)):
                raise
            # Making a table writes no data: if a process dies meanwhile, the table was never made.
            if not self.files(table.name).list("data"):
                return None
            handle = self._made_meanwhile(table)
        if self.catalog.is_local:
            self._is_newest(table, handle)
        return handle

    def _dataset(self, table: Table) -> Any:
        return lance.dataset(
            self.catalog.location(table.name), storage_options=dict(self._options), session=self._session
        )

    def _made_meanwhile(self, table: Table) -> Any:
        """Return a table that has data: either it was made a moment ago, or it must not be made again."""
        try:
            return self._dataset(table)
        except ValueError as error:
            if not _NEVER_MADE.search(str(error)):
                raise
            reason = "there are data files, but no manifest leads to them"
            raise Damaged(f"opening `{table.name}`", reason) from error

    def _is_newest(self, table: Table, handle: Any) -> None:
        """Raise if the newest manifest is gone: Lance would open the one before it, and rows would be missing."""
        newest = self._hinted(table)
        if handle.version < newest:
            handle.checkout_latest()  # another process may have written between the two looks
        if handle.version < newest:
            raise Damaged(f"opening `{table.name}`", f"version {newest} is gone, found {handle.version}")

    def _hinted(self, table: Table) -> int:
        """Return the version that a table notes as its newest; 0 if it has no readable note."""
        files, text = self.files(table.name), b""
        try:
            while not text.endswith(b"}") and len(text) < _LONGEST_HINT:  # a range must be asked for by its length
                text = files.read_range(_HINT, 0, max(len(text) + 1, _SHORTEST_HINT))
            noted = json.loads(text)["version"]
        except (OSError, ValueError, LookupError, TypeError):
            return 0
        return noted if type(noted) is int else 0

    def _make(self, table: Table) -> Any:
        if self.catalog.is_local:
            with_retries("making the lake", lambda: _make_private(self.catalog))
        try:
            handle = with_retries(f"making `{table.name}`", lambda: self._create(table))
        except _Exists:  # another process made it at the same moment: that one is as good
            return self.handle(table)
        self._keep(table, handle)
        return handle

    def _create(self, table: Table) -> Any:
        try:
            return lance.write_dataset(
                table.schema.empty_table(),
                self.catalog.location(table.name),
                mode="create",
                data_storage_version="2.2",
                enable_stable_row_ids=True,  # lance-table-creation-stable-row-ids
                enable_v2_manifest_paths=True,
                auto_cleanup_options=_CLEANUP,
                storage_options=dict(self._options),
                session=self._session,
            )
        except OSError as error:
            if "already exists" in str(error).lower():
                raise _Exists from error
            raise

    def files(self, table: str) -> Any:
        """Return the files of a table as Lance's own object store lists them (lance-chokepoints-storage)."""
        return LanceFileSession(self.catalog.location(table), storage_options=dict(self._options))


def folders(catalog: Catalog) -> list[str]:
    """Return the names of non-empty entries directly in a place, without looking further."""
    root = catalog.tables_root
    if catalog.is_local and not os.path.isdir(root):
        return []
    files = LanceFileSession(root, storage_options=dict(client_options(catalog)))
    found = with_retries("listing namespaces", lambda: files.list_with_delimiter(None))
    return sorted(path.strip("/").rpartition("/")[2] for path in found.common_prefixes)


def write_apart(path: str, table: Table, batches: Iterator[pa.RecordBatch]) -> None:
    """Write the rows as a separate table, without indexes and history, in a local folder outside of any lake."""
    reader = pa.RecordBatchReader.from_batches(table.schema, batches)
    lance.write_dataset(reader, path, mode="create", data_storage_version="2.2", enable_stable_row_ids=True)


def _make_private(catalog: Catalog) -> None:
    """Make the lake's directories before Lance does: only for their owner, whatever the umask of the process."""
    root = catalog.tables_root
    folders = [root] if catalog.namespace is None else [os.path.dirname(root), root]
    for folder in folders:
        os.makedirs(folder, mode=0o700, exist_ok=True)


class _Exists(Exception):
    """Another process made the table first."""


def client_options(catalog: Catalog) -> Mapping[str, str]:
    """Return how to reach the catalog's storage: the user's options, and our limits for the others."""
    given = {name.lower() for name in catalog.options}
    limits = {} if catalog.is_local else {name: value for name, value in _CLIENT.items() if name not in given}
    return {**limits, **catalog.options}


def _known(table: Table, handle: Any) -> None:
    """Raise unless the stored table is one this pond can read and write."""
    if not handle.version:  # what Lance makes of an empty manifest
        raise Damaged(f"opening `{table.name}`", "its newest manifest is empty")
    found = (handle.schema.metadata or {}).get(VERSION.encode(), b"0").decode("utf-8", "replace")
    if not found.isdecimal():
        raise Damaged(f"opening `{table.name}`", f"expected a schema version, found `{found}`")
    if int(found) > table.version:
        raise Newer(table.name, found, table.version)
    if int(found) < table.version:
        raise Older(table.name, found, table.version)
    missing = sorted(set(table.schema.names) - set(handle.schema.names) - table.derived)
    if missing:
        raise Damaged(f"opening `{table.name}`", f"expected column `{missing[0]}`, found none")


def _complete(table: Table, handle: Any) -> None:
    """Add the derived columns that an earlier pond did not know: empty, and without a new schema version."""

    def add() -> None:
        missing = [field for field in table.columns if field.name in table.derived - set(handle.schema.names)]
        try:
            if missing:
                handle.add_columns(pa.schema(missing))
        except OSError as error:
            if "already exists" not in str(error).lower():
                raise
            handle.checkout_latest()  # another process came first

    with_retries(f"adding columns to `{table.name}`", add, handle.checkout_latest)
