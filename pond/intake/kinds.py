"""How the sessions of an earlier pond's lake come from their parents: told by their first records, and noted."""

from __future__ import annotations

import pyarrow as pa

from pond.codec.relatives import lineage_of
from pond.model.marks import MAP, marks_of
from pond.sessions import load
from pond.sessions.stored_text import to_stored
from pond.sessions.tables import SESSIONS
from pond.substrate import write
from pond.substrate.store import Store

_UNTOLD = "parent_session_id IS NOT NULL AND lineage_kind IS NULL"
_SCHEMA = pa.schema([SESSIONS.schema.field(name) for name in ("id", "lineage_kind")])


def note_kinds(store: Store) -> int:
    """Note how sessions come from their parents that pond read from a client and that do not say; return how many."""
    rows = [row for row in load.sessions(store, _UNTOLD) if MAP in marks_of(row["options"])]
    first = load.first_messages(store, [to_stored(row["id"]) for row in rows]) if rows else {}
    kinds = {to_stored(row["id"]): row for row in rows}
    told = [{"id": id, "lineage_kind": lineage_of(row, first.get(id))} for id, row in kinds.items()]
    return write.rederive(store, SESSIONS, pa.Table.from_pylist(told, schema=_SCHEMA))
