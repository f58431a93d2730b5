"""Whether the rows of an unpacked archive may go into a lake: each one readable, and all of them consistent."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from hashlib import sha256

import pyarrow as pa
import pyarrow.compute as pc

from pond.diagnostics.diagnostic import SourceFault
from pond.model import _tables
from pond.model.json_text import Json, JsonObject, decode_stored
from pond.model.session_row import is_session
from pond.sessions import load, vectors
from pond.sessions.archive.manifest import Extent
from pond.sessions.archive.refusal import ArchiveError, shown
from pond.sessions.payloads import unpack
from pond.sessions.stored_text import from_micros, from_stored
from pond.sessions.tables import MESSAGES, PARTS, SESSIONS
from pond.substrate.snapshot import Snapshot, payload_sizes
from pond.substrate.store import Store
from pond.substrate.table import Table

# What a reader relies on; the columns themselves may be empty.
_NEVER_EMPTY = {
    SESSIONS.name: ("id", "source_agent", "project", "options"),
    MESSAGES.name: ("session_id", "id", "position", "role", "source_agent", "project", "options"),
    PARTS.name: (
        "session_id", "message_id", "id", "position", "ordinal", "type", "provenance", "variant_data", "options",
    ),
}  # fmt: skip
_IDS = ("id", "parent_session_id", "parent_message_id", "lineage_kind", "source_agent", "project")
_UNREAD = ("ingested_at", "data")  # not converted to Python values; payloads are read separately


_BYTES_A_NUMBER = 2  # of a vector


class RowCheck:
    """Reads all rows of an archive once and raises ArchiveError at the first that does not fit."""

    def __init__(self, store: Store, extents: dict[str, Extent]) -> None:
        self._store, self._extents = store, extents
        self._scope: dict[str, tuple[str, str]] = {}  # session -> client and project, which its messages repeat
        self._referring: set[str] = set()  # sessions with rows that repeat a payload of another row

    def run(self) -> None:
        """Check the tables in the order in which they refer to each other."""
        for row in self._rows(SESSIONS):
            self._session(row)
        for row in self._rows(MESSAGES):
            self._message(row)
        for row in self._rows(PARTS):
            self._part(row)
        for session in sorted(self._referring):
            self._as_readers_do(session)

    # --- tables ------------------------------------------------------------------------------------------------------

    def _rows(self, table: Table) -> Iterator[JsonObject]:
        """Yield the rows (payloads under `data`), no more than the manifest claims; raise if there are fewer."""
        snapshot = Snapshot(self._store, vectors.with_vectors(self._store, table))
        claimed = self._extents[table.name]
        rows = size = 0
        keys = array("q")
        for batch in snapshot.described():
            rows, size = rows + batch.num_rows, size + content_bytes(snapshot.table, batch)
            if rows > claimed.rows or size > claimed.bytes:
                raise ArchiveError("archive-too-large", f"table `{table.name}` holds more than the manifest says")
            for name in _NEVER_EMPTY[table.name]:
                if batch[name].null_count:
                    raise _unfit(table, f"a row has no `{name}`")
            if not _are_finite(batch):
                raise _unfit(table, "a vector contains something other than numbers")
            keys.extend(map(hash, zip(*(batch[name].to_pylist() for name in table.keys), strict=True)))
            for portion in snapshot.whole(batch):
                yield from _values(table, portion)
        if (rows, size) != (claimed.rows, claimed.bytes):
            raise _unfit(table, "it holds less than the manifest says")
        if pc.count_distinct(pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(keys)])).as_py() != rows:
            raise _unfit(table, "a key stands twice")

    # --- rows --------------------------------------------------------------------------------------------------------

    def _session(self, row: JsonObject) -> None:
        names = [name for name in _IDS if row[name] is not None]
        event = _readable(SESSIONS, row, lambda: {name: from_stored(row[name]) for name in names})
        event["options"] = _readable(SESSIONS, row, lambda: _object(row["options"]))
        _readable(SESSIONS, row, lambda: _time(row, "created_at"))
        if not _readable(SESSIONS, row, lambda: is_session(event)):
            raise _unfit(SESSIONS, "a row is no session", row["id"])
        self._scope[row["id"]] = row["source_agent"], row["project"]

    def _message(self, row: JsonObject) -> None:
        scope = self._scope.get(row["session_id"])
        if scope != (row["source_agent"], row["project"]):
            what = "a message's session is not there" if scope is None else "a message has not its session's scope"
            raise _unfit(MESSAGES, what, row["id"])
        if row["role"] not in _tables.MESSAGES or not row["id"]:
            raise _unfit(MESSAGES, "a row is no message", row["id"])
        _readable(MESSAGES, row, lambda: [from_stored(row["id"]), from_stored(row["content"] or "")])
        _readable(MESSAGES, row, lambda: [_object(row["options"]), _time(row, "timestamp")])
        if row["payloads"] is not None:
            self._referring.add(row["session_id"])

    def _part(self, row: JsonObject) -> None:
        if row["session_id"] not in self._scope:
            raise _unfit(PARTS, "a part's session is not there", row["id"])
        self._payload(row)
        if row["type"] not in _tables.PARTS or row["provenance"] not in _tables.PROVENANCES or not row["id"]:
            raise _unfit(PARTS, "a row is no part", row["id"])
        _readable(PARTS, row, lambda: [from_stored(row["id"]), _object(row["options"])])
        variant = _readable(PARTS, row, lambda: _object(row["variant_data"]))
        if row["data"] is not None:
            _readable(PARTS, row, lambda: unpack(variant, row["data"], decode_stored(row["payloads"])))

    def _payload(self, row: JsonObject) -> None:
        digest, size, data = row["data_hash"], row["data_size"], row["data"]
        if (digest is None) != (row["payloads"] is None) or (data is None) != (size is None):
            raise _unfit(PARTS, "a payload is half described", row["id"])
        if data is None and digest is not None:
            self._referring.add(row["session_id"])
        elif data is not None and (len(data) != size or sha256(data).hexdigest() != digest):
            raise _unfit(PARTS, "a payload is not the one its hash names", row["id"])

    def _as_readers_do(self, session: str) -> None:
        def read() -> None:
            for _ in load.groups(self._store, from_stored(session)):
                pass

        _readable(MESSAGES, {"id": session}, read)


def content_bytes(table: Table, batch: pa.RecordBatch) -> int:
    """Return the bytes of all texts, payloads and vectors of a described batch: its unpacked size."""
    texts = (batch[field.name] for field in table.schema if pa.types.is_string(field.type))
    found = sum(pc.sum(pc.binary_length(text)).as_py() or 0 for text in texts) + sum(payload_sizes(table, batch))
    numbers = ((batch.num_rows - batch[name].null_count) * size for name, size in vectors.columns(batch.schema).items())
    return int(found + sum(numbers) * _BYTES_A_NUMBER)


def _are_finite(batch: pa.RecordBatch) -> bool:
    given = (batch[name].drop_null().flatten() for name in vectors.columns(batch.schema))
    return all(pc.all(pc.is_finite(numbers.cast(pa.float32()))).as_py() is not False for numbers in given)


def _object(text: str) -> JsonObject:
    value = decode_stored(text)
    if type(value) is not dict:
        raise ValueError(text)
    return value


def _time(row: JsonObject, name: str) -> str | None:
    spelled, micros = row[f"{name}_text"], row[name]
    return from_stored(spelled) if spelled is not None else None if micros is None else from_micros(micros)


def _values(table: Table, batch: pa.RecordBatch) -> Iterator[JsonObject]:
    names = [name for name in table.schema.names if name not in _UNREAD]
    time = next((name for name in ("created_at", "timestamp") if name in names), None)
    rows = pa.Table.from_batches([batch.select(names)])
    # A time as microseconds: times that no calendar has are reported row by row.
    values = (rows.set_column(names.index(time), time, rows[time].cast(pa.int64())) if time else rows).to_pylist()
    if "data" not in table.schema.names:
        yield from values
        return
    payloads = batch["data"].storage.field("data")
    for row, data in zip(values, payloads, strict=True):
        row["data"] = data.as_py()
        yield row


def _readable(table: Table, row: JsonObject, read: Json) -> Json:
    """Return what reading a row gives, or raise: bytes of any origin fail in many ways."""
    try:
        return read()
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, SourceFault):
        raise _unfit(table, "a row cannot be read", row["id"]) from None


def _unfit(table: Table, what: str, id: str = "") -> ArchiveError:
    return ArchiveError("archive-rows", f"table `{table.name}`: {what}" + (f" (`{shown(id)}`)" if id else ""))
