"""pond's own messages in a stored session: at positions that its source can never use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from pond.model.json_text import JsonObject
from pond.model.notices import notice
from pond.sessions import turns
from pond.sessions.labels import Turn
from pond.sessions.rows import Before, Rows
from pond.sessions.stored_text import to_stored
from pond.sessions.tables import MESSAGES
from pond.sessions.writing import positions_of, record_count
from pond.substrate import write
from pond.substrate.store import Store


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice to a session: its permanent id, its text, and when it happened."""

    id: str
    text: str
    time: str


def records_in(store: Store, session_id: str) -> int:
    """Return how many records the log of a stored session has."""
    return record_count(positions_of(store, to_stored(session_id)).values())


def append(store: Store, row: JsonObject, notices: Iterable[Notice]) -> int:
    """Put notices after the last record of a session, which must have one; return how many were new.

    Each is one row, inserted by its key: sent twice, or by two processes at once, it is stored once.
    """
    store.renewed(MESSAGES)  # another process may have stored it
    stored = to_stored(row["id"])
    positions = positions_of(store, stored)
    after = record_count(positions.values())
    rows = Rows(row, before=Before(turns.before(store, stored).agent, Turn()))
    for each in notices:
        if to_stored(each.id) not in positions:
            rows.take([notice(row["id"], each.id, each.text, each.time, after)])
    messages, _ = rows.flush()
    return write.insert(store, MESSAGES, pa.Table.from_batches([messages]))
