"""Corrects what is derived from stored messages: their terms, the labels of their turns, their agent.

A reader derives all of it, except what it cannot know: a turn that continues after its first rows are stored. Such rows
say so (`rows.STALE`), as do rows of other rules and those of a lake that had no such columns. Every writer ends with
this step, so the next run repairs one that was killed; if nothing waits, nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from pond.codec.relatives import agent_of
from pond.intake.copies import settle_copies
from pond.intake.kinds import note_kinds
from pond.model._tables import SEARCHED
from pond.model.json_text import JsonObject, decode_stored
from pond.sessions import load
from pond.sessions.labels import Turn, held, paths
from pond.sessions.rows import LAST, STALE, agent_text
from pond.sessions.search_text import search_text
from pond.sessions.tables import MESSAGES, PARTS, SESSIONS
from pond.sessions.terms import RULES, terms
from pond.substrate import predicate, read, write
from pond.substrate.store import Store

Progress = Callable[[int, int], None]  # messages done, and the total

_WAITS = f"rules IS NULL OR rules <> {RULES}"
_ROWS = 10_000  # waiting messages whose sessions are derived together
_SESSIONS = 500  # in one query
_COLUMNS = ("session_id", "id", "search_text", "terms", "labels", "agent", "rules", "searched")
_SCHEMA = pa.schema([MESSAGES.schema.field(name) for name in _COLUMNS])
_PART = ("session_id", "message_id", "ordinal", "type", "variant_data")
_SEARCHED = f"type IN ({', '.join(map(repr, sorted(SEARCHED)))})"
# Only failed results matter. Texts inside them are quoted there, or checked afterwards.
_TELLING = "(type IN ('tool_call', 'file') OR (type = 'tool_result' AND contains(variant_data, '\"is_failure\":true')))"


@dataclass(slots=True)
class _Waiting:
    """The waiting messages of one session: how many, and where the first is."""

    count: int = 0
    first: int = LAST


@dataclass(slots=True)
class _Message:
    row: JsonObject
    parts: list[tuple[int, JsonObject]] = field(default_factory=list)  # by their ordinal, with what is relevant


class _Agents(NamedTuple):
    """The kind of agent of each session; incomplete sessions are missing."""

    kinds: dict[str, str | None]

    def of(self, row: JsonObject) -> str | None:
        return self.kinds.get(row["session_id"], row["agent"])


def waiting(store: Store) -> int:
    """Return how many messages wait for their derived columns."""
    return read.count(store, MESSAGES, _WAITS)


def derive(store: Store, progress: Progress = lambda done, of: None) -> int:
    """Derive what waits, a few sessions at a time; return how many messages were written."""
    note_kinds(store)
    settle_copies(store)
    done, written = 0, 0
    while total := waiting(store):
        before = written
        for sessions in _portions(_sessions(store)):
            written += _settled(store, sessions)
            done += sum(each.count for each in sessions.values())
            progress(done, max(done, total))
        if written == before:
            break  # another writer here will do it
    return written


def _sessions(store: Store) -> dict[str, _Waiting]:
    """Return the sessions with waiting messages, in stored order."""
    found: dict[str, _Waiting] = {}
    for batch in read.batches(store, MESSAGES, ["session_id", "position"], _WAITS):
        for id, position in zip(batch["session_id"].to_pylist(), batch["position"].to_pylist(), strict=True):
            each = found.setdefault(id, _Waiting())
            each.count += 1
            each.first = min(each.first, position)
    return found


def _portions(sessions: dict[str, _Waiting]) -> Iterator[dict[str, _Waiting]]:
    portion: dict[str, _Waiting] = {}
    rows = 0
    for id, each in sessions.items():
        if portion and (rows + each.count > _ROWS or len(portion) == _SESSIONS):
            yield portion
            portion, rows = {}, 0
        portion[id] = each
        rows += each.count
    if portion:
        yield portion


def _settled(store: Store, sessions: dict[str, _Waiting]) -> int:
    """Derive sessions until no other process has written meanwhile: its rows may label what we derived."""
    written = 0
    while True:
        version = store.renewed(MESSAGES).version
        for table in (PARTS, SESSIONS):  # a stored message has all its parts, in a view that is at least as new
            store.renewed(table)
        rows = pa.Table.from_pylist(list(_corrections(store, sessions)), schema=_SCHEMA)
        written += write.rederive(store, MESSAGES, rows)
        if store.renewed(MESSAGES).version <= version + 1:
            return written


def _corrections(store: Store, sessions: dict[str, _Waiting]) -> Iterator[JsonObject]:
    """Yield the rows of these sessions that differ from what would be derived now."""
    where = _where(store, sessions)
    agents = _Agents(_agents(store, sessions))
    found: dict[str, dict[str, _Message]] = {id: {} for id in sessions}
    texts = _texts(store, where)
    for batch in read.batches(store, MESSAGES, [*_COLUMNS, "position", "role"], where):
        for row in batch.to_pylist():
            text = row["search_text"]
            row["new text"] = texts.get((row["session_id"], row["id"]), text)
            row["said"] = row["new text"] is not None
            if row["said"] and (row["rules"] != RULES or row["new text"] != text):
                row["new terms"] = terms(row["new text"])
            found[row["session_id"]][row["id"]] = _Message(row)
    for batch in read.batches(store, PARTS, _PART, predicate.all_of(where, _TELLING)):
        for part in batch.to_pylist():
            if (message := found[part["session_id"]].get(part["message_id"])) is not None:
                message.parts.append((part["ordinal"], _slim(part["type"], decode_stored(part["variant_data"]))))
    for messages in found.values():
        yield from _changed(messages.values(), agents)


def _texts(store: Store, where: str | None) -> dict[tuple[str, str], str | None]:
    """Return the texts of stale messages from their current parts: some may have come after the message."""
    stale = predicate.all_of(where, f"rules = {STALE}")
    heads = read.rows(store, MESSAGES, ["session_id", "id", "role", "options", "elsewhere"], stale).to_pylist()
    parts: dict[tuple[str, str], list[tuple[int, JsonObject]]] = {(row["session_id"], row["id"]): [] for row in heads}
    for ids in _in_portions(sorted({row["id"] for row in heads})):
        here = predicate.all_of(where, predicate.one_of("message_id", ids), _SEARCHED)
        for batch in read.batches(store, PARTS, [*_PART, "provenance"], here):
            for part in batch.to_pylist():
                if (own := parts.get((part["session_id"], part["message_id"]))) is not None:
                    own.append((part["ordinal"], {**decode_stored(part["variant_data"]), **part}))
    return {
        (row["session_id"], row["id"]): None
        if row["elsewhere"]
        else search_text(
            {"role": row["role"], "options": decode_stored(row["options"])},
            [part for _, part in sorted(parts[row["session_id"], row["id"]], key=lambda each: each[0])],
        )
        for row in heads
    }


def _in_portions(ids: list[str]) -> Iterator[list[str]]:
    return (ids[start : start + _SESSIONS] for start in range(0, len(ids), _SESSIONS))


def _where(store: Store, sessions: dict[str, _Waiting]) -> str | None:
    """Return what to read: whole sessions; for a single one, from the turn of the first waiting message on."""
    here = predicate.one_of("session_id", sessions)
    if len(sessions) > 1:
        return here
    (only,) = sessions.values()
    prompts = predicate.all_of(here, "role = 'user'", "search_text IS NOT NULL", f"position <= {only.first}")
    places = read.rows(store, MESSAGES, ["position"], prompts)["position"].to_pylist()
    return predicate.all_of(here, f"position >= {max(places)}") if places else here


def _agents(store: Store, sessions: Iterable[str]) -> dict[str, str | None]:
    ids = list(sessions)
    first = load.first_messages(store, ids)
    rows = load.sessions(store, predicate.one_of("id", ids))
    return {id: agent_text(agent_of(row, first.get(id))) for row in rows for id in [load.stored_id(row["id"])]}


def _slim(kind: str, variant: JsonObject) -> JsonObject:
    """Return the relevant pieces of a part: its arguments may be megabytes."""
    if kind == "tool_call":
        return {"type": kind, "name": variant["name"], "params": {"paths": list(paths(variant["params"]))}}
    names = ("media_type",) if kind == "file" else ("is_failure",)
    return {"type": kind, **{name: variant.get(name) for name in names}}


def _changed(messages: Iterable[_Message], agents: _Agents) -> Iterator[JsonObject]:
    """Yield the rows of one session that differ from what they should be."""
    ordered = sorted(messages, key=lambda each: (each.row["position"], each.row["id"]))
    turn, turns = Turn(), []
    for message in ordered:
        row = message.row
        if row["position"] < LAST and row["role"] == "user" and row["said"]:
            turn = Turn()
        own = turn if row["position"] < LAST else Turn()
        message.parts.sort(key=lambda each: each[0])
        for _, part in message.parts:
            own.hear(part)
        turns.append(own)
    for message, own in zip(ordered, turns, strict=True):
        row = message.row
        labels = [*own.labels, *held(part for _, part in message.parts)] if row["said"] else None
        made = row.get("new terms", row["terms"]) if row["said"] else None
        now = {"search_text": row["new text"], "terms": made, "labels": labels, "agent": agents.of(row)}
        now |= {"rules": RULES, "searched": row["said"]}
        if any(row[name] != value for name, value in now.items()):
            yield {"session_id": row["session_id"], "id": row["id"], **now}
