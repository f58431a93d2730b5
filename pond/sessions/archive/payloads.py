"""Payloads that rows share: a row whose payload is in another row must not go into a lake without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from pond.model.json_text import JsonObject
from pond.sessions.tables import PARTS
from pond.substrate import predicate, read
from pond.substrate.store import Store
from pond.substrate.table import blobs

_AT_ONCE = 500  # ids in one query


class Payloads:
    """Gives rows of an archive the payloads they would miss in the lake.

    Within a session a payload is stored once. The lake may have stored the row that holds it in another form, with
    another payload; then the first row that refers to it becomes its holder. `names` are the new names of the archive's
    sessions in the lake.
    """

    def __init__(self, archive: Store, lake: Store, names: Mapping[str, str]) -> None:
        self._archive, self._lake = archive, lake
        self._own = {name: own for own, name in names.items()}

    def completed(self, new: pa.Table) -> pa.Table:
        """Return the rows that will be stored, with every payload that neither they nor the lake hold."""
        rows = new.select(["session_id", "data_hash", "data_size"]).to_pylist()
        wanted = {_key(row) for row in rows if row["data_hash"] is not None and row["data_size"] is None}
        missing = wanted - {_key(row) for row in rows if row["data_size"] is not None}
        missing -= {_key(row) for row in self._holders(self._lake, missing)}
        if not missing:
            return new
        own = {(self._own.get(session, session), digest): (session, digest) for session, digest in missing}
        ids = {own[_key(row)]: row[read.ROW] for row in self._holders(self._archive, set(own))}
        data = dict(zip(ids, read.blobs(self._archive, PARTS, "data", list(ids.values())), strict=True))
        return _filled(new, rows, data)

    def _holders(self, store: Store, wanted: set[tuple[str, str]]) -> Iterator[JsonObject]:
        pairs = sorted(wanted)
        for start in range(0, len(pairs), _AT_ONCE):
            sessions, hashes = zip(*pairs[start : start + _AT_ONCE], strict=True)
            where = predicate.all_of(
                predicate.one_of("session_id", set(sessions)),
                predicate.one_of("data_hash", set(hashes)),
                "data_size IS NOT NULL",
            )
            found = read.rows(store, PARTS, ["session_id", "data_hash"], where, row_ids=True).to_pylist()
            yield from (row for row in found if _key(row) in wanted)


def _filled(new: pa.Table, rows: list[JsonObject], data: dict[tuple[str, str], bytes]) -> pa.Table:
    """Return the rows with each payload in the first row that refers to it."""
    sizes, payloads = new["data_size"].to_pylist(), _bytes(new)
    for index, row in enumerate(rows):
        if row["data_hash"] is not None and row["data_size"] is None and _key(row) in data:
            payloads[index] = data.pop(_key(row))
            sizes[index] = len(payloads[index] or b"")
    columns = {**dict(zip(new.schema.names, new.columns, strict=True)), "data": blobs(payloads)}
    columns["data_size"] = pa.array(sizes, pa.int64())
    return pa.table([columns[field.name] for field in new.schema], schema=new.schema)


def _bytes(new: pa.Table) -> list[bytes | None]:
    return [value for chunk in new["data"].chunks for value in chunk.storage.field("data").to_pylist()]


def _key(row: JsonObject) -> tuple[str, str]:
    return row["session_id"], row["data_hash"]
