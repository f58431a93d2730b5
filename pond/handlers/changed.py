"""Records that a rewritten source spells otherwise than the lake: told, never written over what is stored."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from pond.model.json_text import Json, JsonObject, decode_unproved
from pond.sessions.tables import MESSAGES, PARTS
from pond.substrate import predicate, read
from pond.substrate.store import Store
from pond.substrate.table import Table

_MESSAGE = ("id", "role", "content", "options")
_PART = ("message_id", "id", "type", "provenance", "variant_data", "options")


def changed(store: Store, session_id: str, messages: pa.Table, parts: pa.Table) -> int:
    """Return how many messages of a session are stored with another content than they have now.

    `session_id` is as stored. Where a record stands in the log is not its content: lines before it may be gone.
    """
    found = {row[0] for row in _differing(store, MESSAGES, _MESSAGE, 1, session_id, messages)}
    return len(found | {row[0] for row in _differing(store, PARTS, _PART, 2, session_id, parts)})


def _differing(
    store: Store, table: Table, columns: tuple[str, ...], keys: int, session_id: str, new: pa.Table
) -> list[tuple[Json, ...]]:
    """Return the keys of the rows that are stored, and differ."""
    stored = read.rows(store, table, columns, predicate.equals("session_id", session_id)).to_pylist()
    before = {tuple(row[name] for name in columns[:keys]): row for row in stored}
    own = new.filter(pc.equal(new["session_id"], session_id)).select(columns).to_pylist()
    pairs = [(row, before.get(tuple(row[name] for name in columns[:keys]))) for row in own]
    return [
        tuple(row[name] for name in columns[:keys])
        for row, old in pairs
        if old is not None and row != old and _values(row) != _values(old)
    ]


def _values(row: JsonObject) -> JsonObject:
    """Return a row with its JSON read, and without the number of its record."""
    values = {name: _json(value) if name in ("options", "variant_data") else value for name, value in row.items()}
    if type(pond := values["options"].get("pond")) is dict:
        values["options"]["pond"] = {name: value for name, value in pond.items() if name != "seq"}
    return values


def _json(text: str) -> Json:
    return decode_unproved(text.encode(), lambda _: None)
