"""Which session does a source hold? Two sources with one session id hold one session if the records of one begin the
other's.

Otherwise they hold two, and the later one gets its own id: the client's id with a suffix made from client, project and
first record. Restore writes the client's id back.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import xxhash

from pond.codec.facts import own_id
from pond.codec.opening import open_input
from pond.codec.registry import CANONICAL, adapter, clients
from pond.codec.report import Report
from pond.codec.session import SessionStream
from pond.codec.writer import NO_RECORD, SessionWriter, SideFile
from pond.diagnostics.diagnostic import Diagnostic
from pond.diagnostics.span import Span
from pond.intake.reading import ID_SEPARATOR, Identity, Task
from pond.intake.sources import SOURCE
from pond.model.equal import same
from pond.model.json_text import Json, JsonObject, encode
from pond.model.marks import AS, marks_of
from pond.model.notices import is_notice
from pond.restore.stored import stored_session
from pond.sessions import ledger, load
from pond.sessions.rows import Positions, session_row
from pond.sessions.stored_text import from_stored, to_stored
from pond.sessions.tables import MESSAGES, SESSIONS
from pond.sessions.writing import Corrected, correct_sessions, payload_hashes, positions_of, record_count
from pond.substrate import predicate, read
from pond.substrate.store import Store


def decided(store: Store, task: Task) -> Task:
    """Return a task that knows the stored id of each session of its source; raise PondError as reading does."""
    identities: dict[str, Identity] = {}
    client, rows = _sessions(task)
    # A stream names each of its sessions: its earlier ids say nothing new.
    before = () if client == CANONICAL else task.candidates
    for row in rows:
        if row["id"] not in identities:
            identities[row["id"]] = _identity(store, replace(task, candidates=before), row)
    if client == CANONICAL:
        return replace(task, identities=identities)
    return replace(task, sole=next(iter(identities.values()), None))


def _sessions(task: Task) -> tuple[str, list[JsonObject]]:
    """Return the client of a source, and the rows of its sessions."""
    with task.found.open() as opened:
        source = open_input(opened, task.request(), Report())
        return source.client, [session.row for session in source.sessions]


def _identity(store: Store, task: Task, row: JsonObject) -> Identity:
    for candidate in dict.fromkeys([*task.candidates, *candidates(store, row["id"])]):
        stored = load.session(store, candidate)
        client = stored["source_agent"] if stored is not None else client_of_rows(store, candidate)
        if client is None:
            if candidate == row["id"]:
                return Identity(candidate, candidate)
        elif client == row["source_agent"] and _is_same(store, candidate, stored or row, task, row):
            return _stored_as(store, candidate, stored, own_id(stored or row))
    return Identity(free_id(store, row, _history(task, row["id"])), row["id"])


def _stored_as(store: Store, session_id: str, row: JsonObject | None, own: str) -> Identity:
    known = to_stored(session_id)
    positions = positions_of(store, known)
    ids = frozenset(map(from_stored, positions))
    return Identity(session_id, own, row, record_count(positions.values()), payload_hashes(store, known), ids)


def same_id(own: str, id: str, where: str) -> Diagnostic:
    """Return the report about a session that is stored under another id than its own."""
    what = f"another session has the id `{own}`; this one is stored as `{id}`"
    return Diagnostic("lake-same-id", what, Span(where, 0))


def candidates(store: Store, session_id: str) -> list[str]:
    """Return the ids under which a session with this id may be stored, the likeliest first."""
    begins = predicate.begins_with("id", to_stored(session_id + ID_SEPARATOR))
    others = map(from_stored, read.rows(store, SESSIONS, ["id"], begins)["id"].to_pylist())
    return [session_id, *sorted(others)]


def free_id(store: Store, row: JsonObject, records: Iterator[Json]) -> str:
    """Return an unused id: the client's, with a suffix that depends on its first record."""
    facts = [row["source_agent"], row["project"], next(records, None)]
    digest, own = xxhash.xxh3_64_hexdigest(encode(facts))[:8], own_id(row)
    name, number = f"{own}{ID_SEPARATOR}{digest}", 1
    while load.session(store, name) is not None or client_of_rows(store, name) is not None:
        number += 1
        name = f"{own}{ID_SEPARATOR}{digest}.{number}"
    return name


def client_of_rows(store: Store, session_id: str) -> str | None:
    """Return the client whose messages are stored under an id, even without their session; None if there are none."""
    here = predicate.equals("session_id", to_stored(session_id))
    found = read.rows(store, MESSAGES, ["source_agent"], here, limit=1)["source_agent"].to_pylist()
    return from_stored(found[0]) if found else None


# --- the records of both ---------------------------------------------------------------------------------------------


def _is_same(store: Store, candidate: str, stored: JsonObject, task: Task, row: JsonObject) -> bool:
    """Tell whether a source and what is stored under an id are one session: one is the beginning of the other."""
    if candidate not in task.candidates and own_id(stored) != row["id"]:
        return False
    there = {**stored, "id": candidate}
    # Damaged canonical text may no longer give the records it came from: then its events are compared.
    return any(
        goes_on(told(stored_session(store, there)), _history(task, row["id"], told)) for told in (records, _events)
    )


def _history(
    task: Task, session_id: str, told: Callable[[SessionStream], Iterator[Json]] | None = None
) -> Iterator[Json]:
    """Yield the records of one session of a source, in the order in which they are stored."""
    with task.found.open() as opened:
        source = open_input(opened, task.request(), Report())
        for session in source.sessions:
            if session.row["id"] == session_id:
                yield from (told or records)(session if session.origin.checked else _in_order(session))
                return


def _in_order(session: SessionStream) -> SessionStream:
    """Return a session of canonical text in the order of its log; its events may be in any order."""
    positions = Positions()
    placed = sorted(
        ((positions.of(events[0]), number, events) for number, events in enumerate(session.groups)), key=_order
    )
    return replace(session, groups=iter([events for _, _, events in placed]))


def _order(placed: tuple[int, int, list[JsonObject]]) -> tuple[int, int]:
    return placed[:2]


def goes_on(one: Iterator[Json], other: Iterator[Json]) -> bool:
    """Tell whether the records of one begin the other's."""
    return all(same(left, right) for left, right in zip(one, other, strict=False))


def records(session: SessionStream) -> Iterator[Json]:
    """Yield each record as its client has it; events without a client's record unchanged."""
    client = session.row["source_agent"]
    writer = None
    if client in clients():
        writer = SessionWriter(adapter(client), session.row, session.origin.recall, Report(), session.row["id"])
    for events in _told(session):
        if writer is None or not _is_marked(events):
            yield [_without_position(event) for event in events]
        elif not isinstance(value := writer.record(events), SideFile):
            # What cannot be written back is not a record, so it equals none.
            yield value if value is not NO_RECORD else [_without_position(event) for event in events]


def _events(session: SessionStream) -> Iterator[Json]:
    """Yield the events of canonical text; a client's own file is compared by its records only."""
    if session.origin.reading is not None:
        yield None
        return
    for events in _told(session):
        yield from map(_without_position, events)


def _told(session: SessionStream) -> Iterator[list[JsonObject]]:
    """Yield the events of what the client recorded: pond's own additions say nothing about whose session it is."""
    return (events for events in session.groups if not is_notice(events[0]))


def _is_marked(events: list[JsonObject]) -> bool:
    return AS in marks_of(events[0]["options"])


def _without_position(event: JsonObject) -> JsonObject:
    return {name: value for name, value in event.items() if name != "session_id"}


# --- families --------------------------------------------------------------------------------------------------------


def reunite(store: Store) -> None:
    """Let the children of a session that is stored under another id name that id as their parent.

    Their files are in a folder named after their parent; the client's id alone would lead to the other session.
    """
    notes = [note for note in ledger.notes(store, SOURCE).values() if note["host"] == platform.node()]
    homes = {id: _folder(note["path"]) for note in notes for id in note["sessions"] if ID_SEPARATOR in id}
    if not homes:
        return
    now = time.time_ns() // 1000
    for row in _rows(store, homes):
        beside = [id for note in notes if note["path"].startswith(homes[row["id"]]) for id in note["sessions"]]
        children = [child for child in _rows(store, beside) if child.get("parent_session_id") == own_id(row)]
        found = [
            Corrected(child["project"], session_row({**child, "parent_session_id": row["id"]}, now))
            for child in children
        ]
        correct_sessions(store, found if own_id(row) != row["id"] else [])


def _folder(path: str) -> str:
    return os.path.splitext(path)[0] + os.sep


def _rows(store: Store, ids: Iterable[str]) -> list[JsonObject]:
    wanted = sorted(map(to_stored, ids))
    return load.sessions(store, predicate.one_of("id", wanted)) if wanted else []
