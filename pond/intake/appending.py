"""Writes the rows of new events: sessions first, so that no other process gives one other facts meanwhile."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from pond.codec.relatives import agent_of, title_reader
from pond.intake.present import PresentSession
from pond.model.json_text import JsonObject
from pond.sessions import load
from pond.sessions.labels import UNKNOWN, Turn
from pond.sessions.rows import STALE, Before, Rows, session_row
from pond.sessions.stored_text import from_stored, to_stored
from pond.sessions.tables import MESSAGES, PARTS, SESSIONS, TABLES
from pond.sessions.writing import payload_hashes, write_rows, write_sessions
from pond.substrate import predicate, write
from pond.substrate.store import Store

_MAY_HOLD_PAYLOADS = ("file", "tool_result")


@dataclass(slots=True)
class Additions:
    """What is new in one session: its own row, records with their positions, and parts of earlier messages."""

    session: PresentSession
    row: JsonObject | None = None
    records: list[tuple[int, list[JsonObject]]] = field(default_factory=list)
    parts: list[tuple[int, int, JsonObject]] = field(default_factory=list)  # position, ordinal, event

    def __bool__(self) -> bool:
        return bool(self.row is not None or self.records or self.parts)


def append(store: Store, additions: Sequence[Additions]) -> tuple[set[str], list[int]]:
    """Write what is new; return the sessions that another process stored with other facts at the same moment.

    Nothing else is written of those. Also return the number of commits to each table. An interrupted run has
    acknowledged nothing, and the same requests again complete what is missing.
    """
    new = [each.row for each in additions if each.row is not None]
    lost, commits = _write_sessions(store, new), Counter({SESSIONS.name: int(bool(new))})
    rows = [
        _rows(store, each) for each in additions if each.session.id not in lost and (each.records or each.parts)
    ]  # fmt: skip
    if rows:
        messages, parts = (pa.Table.from_batches(batches).combine_chunks() for batches in zip(*rows, strict=True))
        write_rows(store, messages, parts, {})
        commits += Counter({MESSAGES.name: int(messages.num_rows > 0), PARTS.name: int(parts.num_rows > 0)})
    commits[MESSAGES.name] += _mark_stale(
        store, [each for each in additions if each.parts and each.session.id not in lost]
    )
    return lost, [commits[table.name] for table in TABLES]


def _write_sessions(store: Store, rows: Sequence[JsonObject]) -> set[str]:
    now = time.time_ns() // 1000
    made = [session_row(row, now) for row in rows]
    if not made or write_sessions(store, made) == len(made):
        return set()
    stored = {row["id"]: row for row in load.sessions(store, predicate.one_of("id", [row["id"] for row in made]))}
    facts = ("source_agent", "project")
    return {row["id"] for row in rows if any(stored[row["id"]][name] != row[name] for name in facts)}


def _rows(store: Store, added: Additions) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    session = added.session
    row = session.row
    assert row is not None
    begins = added.row is not None or len(session.positions) == sum(map(_messages, added.records))
    # The session's current turn is not known here: its labels are derived later (rows.STALE).
    before = None if begins else Before(session.agent, Turn(known=UNKNOWN))
    rows = Rows(row, title_of=title_reader(row), agent_of=lambda first: agent_of(row, first), before=before)
    if not begins and any(event.get("type") in _MAY_HOLD_PAYLOADS for event in _events(added)):
        rows.know_payloads(set(payload_hashes(store, to_stored(session.id))))
    for position, ordinal, part in added.parts:
        rows.take_part(part, position, ordinal)
    for position, events in added.records:
        rows.take(events, position)
    messages, parts = rows.flush()
    if messages.num_rows:
        messages = _open_ended(messages)
        session.rules[from_stored(messages["id"][-1].as_py())] = STALE
    return messages, parts


def _open_ended(messages: pa.RecordBatch) -> pa.RecordBatch:
    """Return the messages, the last one as stale: a part in a later request then needs only its own write."""
    index = messages.schema.get_field_index("rules")
    rules = [*messages["rules"].to_pylist()[:-1], STALE]
    return messages.set_column(index, messages.schema.field(index), pa.array(rules, pa.int32()))


def _messages(record: tuple[int, list[JsonObject]]) -> int:
    return sum(event["kind"] == "message" for event in record[1])


def _events(added: Additions) -> Iterator[JsonObject]:
    yield from (part for _, _, part in added.parts)
    yield from (event for _, events in added.records for event in events)


def _mark_stale(store: Store, additions: Sequence[Additions]) -> bool:
    """Let the text of messages with new parts be made again, unless it is already waiting; tell whether any is new."""
    schema = pa.schema([MESSAGES.schema.field(name) for name in ("session_id", "id", "rules")])
    made = [
        {"session_id": to_stored(each.session.id), "id": to_stored(id), "rules": STALE}
        for each in additions
        for id in dict.fromkeys(part["message_id"] for _, _, part in each.parts)
        if each.session.rules.get(id) != STALE
    ]
    write.rederive(store, MESSAGES, pa.Table.from_pylist(made, schema=schema))
    return bool(made)
