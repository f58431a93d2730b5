"""Archives to test with: honest ones, and ones that were tampered with and hashed again."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import pyarrow as pa

from pond.lake.export import export
from pond.model.equal import first_difference
from pond.model.json_text import JsonObject
from pond.sessions import load
from pond.sessions.archive import container, manifest
from pond.sessions.archive.manifest import TABLES, Extent
from pond.sessions.archive.rows import content_bytes
from pond.sessions.archive.select import Selection
from pond.sessions.vectors import with_vectors
from pond.substrate.catalog import Catalog
from pond.substrate.snapshot import Snapshot
from pond.substrate.store import Store, write_apart
from pond.substrate.table import Table, blobs
from tests.house.tree import ROOT

FIXTURES = [path for path in sorted(ROOT.glob("adapters/*/fixtures/*")) if path.is_dir()]

Row = dict[str, Any]


def exported(store: Store, path: Path, selection: Selection | None = None) -> Path:
    """Export a lake and return where to."""
    export(store, path, selection or Selection())
    return path


def sessions(store: Store) -> dict[str, list[JsonObject]]:
    """Return every session of a lake as canonical events, by id."""
    return {
        row["id"]: [row, *(event for group in load.groups(store, row["id"]) for event in group)]
        for row in load.sessions(store, None)
    }


def difference(left: Store, right: Store) -> str | None:
    """Return the first difference between the sessions of two lakes; None where they are value-equal."""
    return first_difference(sessions(left), sessions(right))


def versions(store: Store) -> dict[str, int | None]:
    """Return the version of each table; None for one that is not there."""
    store.forget()
    handles = {table.name: store.existing(table) for table in TABLES}
    return {name: None if handle is None else handle.version for name, handle in handles.items()}


# --- the container ----------------------------------------------------------------------------------------------------


@dataclass
class Box:
    """The members of an archive, open to tampering."""

    members: list[tuple[ZipInfo, bytes]] = field(default_factory=list)

    @classmethod
    def of(cls, path: Path) -> "Box":
        with ZipFile(path) as archive:
            return cls([(entry, archive.read(entry)) for entry in archive.infolist()])

    def name(self, end: str) -> str:
        """Return the name of the first member that ends so."""
        return next(entry.filename for entry, _ in self.members if entry.filename.endswith(end))

    def data(self, name: str) -> bytes:
        return next(data for entry, data in self.members if entry.filename == name)

    def put(self, name: str, data: bytes, *, hashed: bool = True, **about: int) -> None:
        """Add a member or replace one, by default with its hash in the manifest."""
        entry = _entry(name, **about)
        places = [index for index, (each, _) in enumerate(self.members) if each.filename == name]
        if places:
            self.members[places[0]] = entry, data
        else:
            self.members.append((entry, data))
        if hashed and name != manifest.NAME:
            about_it = {"size": len(data), "sha256": sha256(data).hexdigest()}
            self.change(lambda value: value["members"].__setitem__(name, about_it))

    def drop(self, name: str) -> None:
        self.members = [(entry, data) for entry, data in self.members if entry.filename != name]

    def change(self, change: Callable[[Any], object]) -> None:
        """Change what the manifest says."""
        value = json.loads(self.data(manifest.NAME))
        change(value)
        self.put(manifest.NAME, json.dumps(value).encode())

    def write(self, path: Path) -> Path:
        with ZipFile(path, "w") as archive:
            for entry, data in self.members:
                archive.writestr(entry, data, entry.compress_type)
        return path


def _entry(name: str, *, mode: int = 0o100644, compression: int = ZIP_STORED) -> ZipInfo:
    entry = ZipInfo(name)
    entry.external_attr, entry.compress_type = mode << 16, compression
    return entry


# --- the rows ---------------------------------------------------------------------------------------------------------


def rows_of(store: Store) -> dict[str, list[Row]]:
    """Return the rows of the tables, payloads as bytes."""
    return {table.name: list(_rows(Snapshot(store, table))) for table in TABLES}


def _rows(snapshot: Snapshot) -> Iterator[Row]:
    for batch in snapshot.batches():
        names = [name for name in batch.schema.names if name != "data"]
        rows = batch.select(names).to_pylist()
        payloads = batch["data"].storage.field("data").to_pylist() if "data" in batch.schema.names else None
        for index, row in enumerate(rows):
            yield {**row, "data": payloads[index]} if payloads else row


def archive_of(path: Path, rows: dict[str, list[Row]], claims: dict[str, Extent] | None = None) -> Path:
    """Write an archive with exactly these rows; `claims` stands in for what the manifest would say of a table."""
    folder = path.with_suffix(".tables")
    for table in TABLES:
        write_apart(str(folder / f"{table.name}.lance"), table, iter([batch(table, rows[table.name])]))
    return packed(folder, path, claims or {})


def packed(folder: Path, path: Path, claims: dict[str, Extent]) -> Path:
    """Pack the tables of a folder, whatever they are."""
    extents = {table.name: claims.get(table.name) or _extent(folder, table) for table in TABLES}
    with open(path, "wb") as out:
        container.pack(folder, extents, out)
    return path


def _extent(folder: Path, table: Table) -> Extent:
    store = Store(Catalog(str(folder)))
    found = list(Snapshot(store, with_vectors(store, table)).described())
    return Extent(table.version, sum(b.num_rows for b in found), sum(content_bytes(table, b) for b in found))


def batch(table: Table, rows: list[Row]) -> pa.RecordBatch:
    """Return rows as a batch of a table."""
    columns = [
        blobs([row.get("data") for row in rows])
        if column.name == "data"
        else pa.array([row.get(column.name) for row in rows], column.type)
        for column in table.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)
