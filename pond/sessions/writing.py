"""Rows into the tables, in the order that keeps every crash harmless: parts, messages, and the session itself last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pond.model.json_text import JsonObject
from pond.sessions.rows import LAST, SLOT, STALE
from pond.sessions.stored_text import to_stored
from pond.sessions.tables import MESSAGES, PARTS, SESSIONS, TABLES
from pond.substrate import predicate, read, upkeep, write
from pond.substrate.store import Store
from pond.substrate.table import blobs

_AT_ONCE = 500  # ids in one query


def prepare(store: Store) -> None:
    """Make missing tables and indexes: an index also keeps its tokenizer for later rows."""
    for table in TABLES:
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


def session_ids_of_messages(store: Store, wanted: Sequence[str]) -> set[str]:
    """Return which of these sessions, ids as stored, have a message: also one that an interrupted run left."""
    if not wanted:
        return set()
    return set(
        read.rows(store, MESSAGES, ["session_id"], predicate.one_of("session_id", wanted))["session_id"].to_pylist()
    )


def write_rows(
    store: Store, messages: pa.Table, parts: pa.Table, stored: dict[str, set[str]] | None = None
) -> tuple[int, int]:  # fmt: skip
    """Store what is not stored yet; return how many messages and parts were new.

    `stored` are message ids known to be there, by session; the lake is asked if they are unknown. A missing one only
    costs work: keys decide.

    Parts come before their messages: a stored message has all its parts, so a session can be read while it is written,
    and the next run completes what a crash leaves behind (adapter-integrity-additive-sync).
    """
    if stored is None:
        stored = message_ids(store, pc.unique(messages["session_id"]).to_pylist())
    new, parts = _unstored(messages, "id", stored), _unstored(parts, "message_id", stored)
    new = _distinct(_with_stale(new, _met(messages, stored)), MESSAGES.keys)
    new_parts = write.insert(store, PARTS, _with_payloads(_distinct(parts, PARTS.keys)))
    new_messages = write.insert(store, MESSAGES, new)
    if new_messages < new.num_rows:
        _mark_stale(store, pc.unique(new["session_id"]).to_pylist())
    return new_messages, new_parts


def _met(messages: pa.Table, stored: dict[str, set[str]]) -> set[str]:
    """Return the sessions with a repeated record: the process that stored it may have known less about its turn."""
    if not stored:
        return set()
    rows = zip(*(messages[name].to_pylist() for name in ("session_id", "id", "position")), strict=True)
    return {session for session, id, position in rows if position < LAST and id in stored.get(session, ())}


def _with_stale(messages: pa.Table, sessions: set[str]) -> pa.Table:
    """Return the messages, those of these sessions marked so that their turns are derived again."""
    if not sessions:
        return messages
    index = messages.schema.get_field_index("rules")
    met = pc.is_in(messages["session_id"], value_set=pa.array(sorted(sessions)))
    return messages.set_column(index, "rules", pc.if_else(met, pa.scalar(STALE, pa.int32()), messages["rules"]))


def _mark_stale(store: Store, sessions: Sequence[str]) -> None:
    """Let sessions be derived again: another process stored some of the same rows at the same moment."""
    write.correct(store, MESSAGES, "rules", STALE, predicate.one_of("session_id", sessions))


def positions_of(store: Store, session_id: str) -> dict[str, int]:
    """Return the messages of a session by their ids, with their positions; all as stored."""
    rows = read.rows(store, MESSAGES, ["id", "position"], predicate.equals("session_id", session_id))
    return dict(zip(rows["id"].to_pylist(), rows["position"].to_pylist(), strict=True))


def record_count(positions: Iterable[int]) -> int:
    """Return how many records of its log a session has, given the positions of its messages."""
    return max((position for position in positions if position < LAST), default=-1) // SLOT + 1


def payload_hashes(store: Store, session_id: str) -> frozenset[str]:
    """Return the payloads that a session holds."""
    held = predicate.all_of(predicate.equals("session_id", session_id), "data_size IS NOT NULL")
    return frozenset(read.rows(store, PARTS, ["data_hash"], held)["data_hash"].to_pylist())


def session_ids(store: Store, wanted: Iterable[str]) -> set[str]:
    """Return which of these ids, as stored, are ids of stored sessions."""
    ids = sorted(wanted)
    found: set[str] = set()
    for start in range(0, len(ids), _AT_ONCE):
        where = predicate.one_of("id", ids[start : start + _AT_ONCE])
        found |= set(read.rows(store, SESSIONS, ["id"], where)["id"].to_pylist())
    return found


def write_sessions(store: Store, rows: Sequence[JsonObject]) -> int:
    """Store the rows of sessions whose messages are all stored; return how many were new."""
    stored = session_ids(store, (row["id"] for row in rows))
    new = {row["id"]: row for row in rows if row["id"] not in stored}
    return write.insert(store, SESSIONS, pa.Table.from_pylist(list(new.values()), schema=SESSIONS.schema))


class Corrected(NamedTuple):
    """A session whose source has revealed more about it: its old project, its new row, and its kind of agent."""

    project: str
    row: JsonObject
    agent: str | None = None  # if that may be new


def correct_sessions(store: Store, rows: Sequence[Corrected]) -> None:
    """Write sessions whose sources have revealed more; a new project and agent also go onto their messages.

    The messages come first: after an interruption, the next run finds the old session and does both again.
    """
    for each in rows:
        here = predicate.equals("session_id", each.row["id"])
        if each.row["project"] != to_stored(each.project):
            write.correct(store, MESSAGES, "project", each.row["project"], here)
        if each.agent is not None:
            write.correct(store, MESSAGES, "agent", each.agent, here)
    write.replace(store, SESSIONS, pa.Table.from_pylist([each.row for each in rows], schema=SESSIONS.schema))


def _unstored(table: pa.Table, message: str, stored: dict[str, set[str]]) -> pa.Table:
    """Return the rows whose message is not stored: an empty batch needs no commit."""
    if not stored:
        return table
    nobody: set[str] = set()
    pairs = zip(table["session_id"].to_pylist(), table[message].to_pylist(), strict=True)
    return table.filter(pa.array([id not in stored.get(session, nobody) for session, id in pairs], pa.bool_()))


def _distinct(table: pa.Table, keys: tuple[str, ...]) -> pa.Table:
    """Return the table without duplicate keys: Lance would store both rows (adapter-integrity-dedup)."""
    rows = list(zip(*(table[name].to_pylist() for name in keys), strict=True))
    first = {row: number for number, row in reversed(list(enumerate(rows)))}
    return table if len(first) == len(rows) else table.take(sorted(first.values()))


def _with_payloads(parts: pa.Table) -> pa.Table:
    """Return the parts with their payloads as the blob column they are stored in."""
    index = parts.schema.get_field_index("data")
    return parts.set_column(index, PARTS.schema.field("data"), blobs(parts["data"].to_pylist()))
