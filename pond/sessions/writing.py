"""Rows into the tables, in the order that keeps every crash harmless: parts, messages, and the session itself last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pond.model.json_text import JsonObject
from pond.sessions.tables import MESSAGES, PARTS, SESSIONS, TABLES
from pond.substrate import predicate, read, upkeep, write
from pond.substrate.store import Store
from pond.substrate.table import blobs

_AT_ONCE = 500  # ids in one question


def prepare(store: Store) -> None:
    """Make the tables that are missing, with their indexes: an index keeps its tokenizer also for rows to come."""
    for table in TABLES:
        if store.existing(table) is None:
            store.made(table)
            upkeep.ensure_indexes(store, table)


def message_ids(store: Store, session_ids: Iterable[str]) -> dict[str, set[str]]:
    """Return the ids, as stored, of all stored messages of these sessions."""
    found: dict[str, set[str]] = {}
    ids = list(session_ids)
    for start in range(0, len(ids), _AT_ONCE):
        where = predicate.one_of("session_id", ids[start : start + _AT_ONCE])
        table = read.rows(store, MESSAGES, ["session_id", "id"], where)
        for session, message in zip(table["session_id"].to_pylist(), table["id"].to_pylist(), strict=True):
            found.setdefault(session, set()).add(message)
    return found


def write_rows(
    store: Store, messages: pa.Table, parts: pa.Table, stored: dict[str, set[str]] | None = None
) -> tuple[int, int]:  # fmt: skip
    """Store what is not stored yet; return how many messages and parts were new.

    `stored` are message ids known to be there, by session; the lake is asked where nobody did before. What is missing
    in it costs nothing but work: keys decide.

    Parts come before their messages: a message that is stored has all its parts, so a session can be read while it is
    written, and what a crash leaves behind is completed by the next run (adapter-integrity-additive-sync).
    """
    if stored is None:
        stored = message_ids(store, pc.unique(messages["session_id"]).to_pylist())
    messages, parts = _unstored(messages, "id", stored), _unstored(parts, "message_id", stored)
    new_parts = write.insert(store, PARTS, _with_payloads(_distinct(parts, PARTS.keys)))
    new_messages = write.insert(store, MESSAGES, _distinct(messages, MESSAGES.keys))
    return new_messages, new_parts


def write_sessions(store: Store, rows: Sequence[JsonObject]) -> int:
    """Store the rows of sessions whose messages are all stored; return how many were new."""
    ids = [row["id"] for row in rows]
    stored: set[str] = set()
    for start in range(0, len(ids), _AT_ONCE):
        where = predicate.one_of("id", ids[start : start + _AT_ONCE])
        stored |= set(read.rows(store, SESSIONS, ["id"], where)["id"].to_pylist())
    new = {row["id"]: row for row in rows if row["id"] not in stored}
    return write.insert(store, SESSIONS, pa.Table.from_pylist(list(new.values()), schema=SESSIONS.schema))


def _unstored(table: pa.Table, message: str, stored: dict[str, set[str]]) -> pa.Table:
    """Return the rows whose message is not stored: an empty batch is no commit."""
    if not stored:
        return table
    nobody: set[str] = set()
    pairs = zip(table["session_id"].to_pylist(), table[message].to_pylist(), strict=True)
    return table.filter(pa.array([id not in stored.get(session, nobody) for session, id in pairs], pa.bool_()))


def _distinct(table: pa.Table, keys: tuple[str, ...]) -> pa.Table:
    """Return the table without second rows of a key: Lance would store both (adapter-integrity-dedup)."""
    rows = list(zip(*(table[name].to_pylist() for name in keys), strict=True))
    first = {row: number for number, row in reversed(list(enumerate(rows)))}
    return table if len(first) == len(rows) else table.take(sorted(first.values()))


def _with_payloads(parts: pa.Table) -> pa.Table:
    """Return the parts with their payloads as the blob column they are stored in."""
    index = parts.schema.get_field_index("data")
    return parts.set_column(index, PARTS.schema.field("data"), blobs(parts["data"].to_pylist()))
