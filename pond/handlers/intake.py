"""The writing half of ingest: stores what the readers send, each row once, in its place."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from pond.handlers.changed import changed
from pond.handlers.ingest import Summary
from pond.handlers.reading import Begun, Chunk, Ended, Finished, Frame, Task
from pond.handlers.sources import State, source_id
from pond.handlers.storing import Batch, New, Storing
from pond.model.json_text import JsonObject
from pond.sessions import ledger, load
from pond.sessions.rows import LAST, SLOT, session_row
from pond.sessions.stored_text import to_stored
from pond.sessions.tables import MESSAGES, TABLES
from pond.sessions.writing import message_ids
from pond.substrate import predicate, read, upkeep
from pond.substrate.store import Store

_BYTES = 20 << 20  # of rows in one commit: what bounds memory
_FRAGMENTS = 4 * upkeep.FRAGMENTS  # a first ingest of years makes many; to put them together is the upkeep's to decide


@dataclass(slots=True)
class _Session:
    """A session on its way in: its row, and where its rows go."""

    row: JsonObject
    task: Task
    base: int | None  # None until the lake was asked
    project: str | None = None  # the stored one, where it differs
    refused: bool = False
    settled: bool = False  # the lake was asked about it


@dataclass(slots=True)
class _Pending:
    """What is read and not stored yet."""

    chunks: list[tuple[_Session, Chunk]] = field(default_factory=list)
    finished: list[_Session] = field(default_factory=list)
    states: list[tuple[Task, State]] = field(default_factory=list)
    rows: int = 0
    bytes: int = 0


class Intake:
    """What one ingest stores. `known_ids` are message ids by session, as stored: each session is asked about once."""

    def __init__(
        self, store: Store, summary: Summary, known_ids: dict[str, set[str]], rows_per_commit: int, *, dry_run: bool
    ) -> None:  # fmt: skip
        self._store, self._summary, self._dry_run = store, summary, dry_run
        self._known_ids, self._rows_per_commit = known_ids, rows_per_commit
        self._erased = set(ledger.notes(store, ledger.ERASED))
        self._current: dict[str, _Session] = {}  # by task
        self._bases: dict[str, int] = {}  # by task: where its records were placed
        self._pending = _Pending()
        self._storing = Storing(store)

    def take(self, task: Task, frame: Frame) -> None:
        """Take what a reader sent; store what has gathered when it is enough."""
        match frame:
            case Begun(row):
                self._current[task.name] = self._begun(row, task)
            case Chunk():
                self._chunk(self._current[task.name], frame)
            case Finished():
                self._pending.finished.append(self._current.pop(task.name))
            case Ended():
                self._ended(task, frame)

    def _begun(self, row: JsonObject, task: Task) -> _Session:
        erased = {to_stored(row["id"]), to_stored(row.get("parent_session_id", ""))} & self._erased
        self._summary.erased += bool(erased)
        return _Session(row, task, task.base, refused=bool(erased))

    def _chunk(self, session: _Session, chunk: Chunk) -> None:
        if session.refused:
            return
        pending = self._pending
        pending.chunks.append((session, chunk))
        pending.rows += chunk.messages.num_rows + chunk.parts.num_rows
        pending.bytes += chunk.messages.get_total_buffer_size() + chunk.parts.get_total_buffer_size()
        if pending.rows >= self._rows_per_commit or pending.bytes >= _BYTES:
            self._flush()

    def _ended(self, task: Task, ended: Ended) -> None:
        self._current.pop(task.name, None)  # where it ended in the midst of a session, that is not complete
        self._summary.report.add(ended.report)
        self._summary.waiting += ended.waiting
        if ended.state is not None and task.path is not None:
            self._pending.states.append((task, ended.state))

    def close(self) -> None:
        """Store what is left, and keep the tables from falling apart into small files."""
        self._flush()
        self._count(self._storing.wait())
        self._storing.close()
        if not self._dry_run:
            for table in TABLES:
                upkeep.compact(self._store, table, beyond=_FRAGMENTS)

    # --- storing -----------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        pending, self._pending = self._pending, _Pending()
        self._settle(pending)
        batch = Batch(notes=self._notes(pending.states))
        chunks = [(session, chunk) for session, chunk in pending.chunks if not session.refused]
        if chunks:
            batch.messages = _joined([_placed(chunk.messages, session) for session, chunk in chunks])
            batch.parts = _joined([_placed(chunk.parts, session) for session, chunk in chunks])
            self._compare([session for session, _ in chunks], batch.messages, batch.parts)
            batch.stored = self._stored_ids(batch.messages)
        now = time.time_ns() // 1000
        done = {session.row["id"]: session.row for session in pending.finished if not session.refused}
        batch.sessions = [session_row(row, now) for row in done.values()]
        self._count(self._would_be_new(batch) if self._dry_run else self._storing.put(batch))
        for session in pending.finished:
            self._known_ids.pop(to_stored(session.row["id"]), None)

    def _count(self, new: New) -> None:
        self._summary.new_sessions += new.sessions
        self._summary.new_messages += new.messages
        self._summary.new_parts += new.parts

    def _settle(self, pending: _Pending) -> None:
        """Ask the lake about the sessions that it has not been asked about: are they there, and whose are they?"""
        sessions = {id(s): s for s in [*(s for s, _ in pending.chunks), *pending.finished] if not s.settled}
        stored = self._stored(sorted({to_stored(s.row["id"]) for s in sessions.values()}))
        for session in sessions.values():
            row = stored.get(session.row["id"])
            if row is not None:
                self._hold_against(session, row)
            if session.base is None:
                chunks = [chunk for owner, chunk in pending.chunks if owner is session]
                session.base = 0 if row is None else self._base(session, chunks)
            session.project = session.project or session.row["project"]
            session.settled = True
            # Of several sessions in one source the farthest: what is added later comes after all that is there.
            self._bases[session.task.name] = max(session.base, self._bases.get(session.task.name, 0))

    def _stored(self, ids: list[str]) -> dict[str, JsonObject]:
        found: dict[str, JsonObject] = {}
        for start in range(0, len(ids), 500):
            for row in load.sessions(self._store, predicate.one_of("id", ids[start : start + 500])):
                found[row["id"]] = row
        return found

    def _hold_against(self, session: _Session, stored: JsonObject) -> None:
        """Hold a session against the stored row: client and project are immutable, being copied onto messages."""
        new = session.row
        for name in ("source_agent", "project"):
            if new[name] != stored[name]:
                what = f"session `{new['id']}`: {name} is `{stored[name]}`, found `{new[name]}`; the stored one stands"
                self._summary.report.error("lake-immutable", what, session.task.name)
        session.refused = new["source_agent"] != stored["source_agent"]
        session.project = stored["project"]

    def _base(self, session: _Session, chunks: list[Chunk]) -> int:
        """Return the place of the first record of a source that nothing is noted of, in a session that is stored.

        That is where the stored rows have it, if they are all of this source: it was read before, by a run that did
        not live to note it or by one that runs now. Otherwise, after what another source or an earlier form filled.
        """
        here = predicate.all_of(predicate.equals("session_id", to_stored(session.row["id"])), f"position < {LAST}")
        stored = _places(read.rows(self._store, MESSAGES, ["id", "position"], here))
        own = {id: place for chunk in reversed(chunks) for id, place in _places(chunk.messages).items()}
        apart = {place - own[id] for id, place in stored.items() if id in own}
        if len(apart) == 1 and stored.keys() <= own.keys() and not session.task.rewritten:
            return apart.pop() // SLOT
        return max(stored.values(), default=-SLOT) // SLOT + 1

    def _compare(self, sessions: list[_Session], messages: pa.Table, parts: pa.Table) -> None:
        """Tell which records of a source that was rewritten are not what is stored: those are not stored again."""
        for session in {id(s): s for s in sessions if s.task.rewritten}.values():
            if count := changed(self._store, to_stored(session.row["id"]), messages, parts):
                what = f"{count} records of `{session.row['id']}` are not as they were; the stored ones stand"
                self._summary.report.error("lake-changed", what, session.task.name)

    def _stored_ids(self, messages: pa.Table) -> dict[str, set[str]]:
        """Return the messages that are there of the sessions in a batch; the lake is asked once about each."""
        sessions = pc.unique(messages["session_id"]).to_pylist()
        asked = [id for id in sessions if id not in self._known_ids]
        self._known_ids |= {id: set() for id in asked} | message_ids(self._store, asked)
        return {id: ids for id in sessions if (ids := self._known_ids[id])}

    def _would_be_new(self, batch: Batch) -> New:
        """Return what of a batch is not in the lake."""
        sessions = len(batch.sessions) - len(self._stored([row["id"] for row in batch.sessions]))
        if batch.messages is None or batch.parts is None:
            return New(sessions)
        messages = set(zip(batch.messages["session_id"].to_pylist(), batch.messages["id"].to_pylist(), strict=True))
        owners = zip(batch.parts["session_id"].to_pylist(), batch.parts["message_id"].to_pylist(), strict=True)
        return New(sessions, *(sum(id not in batch.stored.get(s, ()) for s, id in each) for each in (messages, owners)))

    def _notes(self, states: Iterable[tuple[Task, State]]) -> dict[str, JsonObject]:
        return {
            source_id(task.path): replace(state, base=self._bases.pop(task.name, task.base or 0)).as_json()
            for task, state in states
            if task.path is not None
        }


def _places(messages: pa.Table) -> dict[str, int]:
    """Return the place of each message; of one that comes twice the first, which is the one stored."""
    return dict(reversed(list(zip(messages["id"].to_pylist(), messages["position"].to_pylist(), strict=True))))


def _joined(batches: list[pa.RecordBatch]) -> pa.Table:
    """Return the rows as one table whose columns are in one piece: Lance takes many small ones far slower."""
    return pa.Table.from_batches(batches).combine_chunks()


def _placed(table: pa.RecordBatch, session: _Session) -> pa.RecordBatch:
    """Return the rows at their places, under the project that is stored."""
    index = table.schema.get_field_index("position")
    if session.base:
        shifted = pc.if_else(
            pc.less(table["position"], LAST), pc.add(table["position"], session.base * SLOT), table["position"]
        )
        table = table.set_column(index, table.schema.field(index), shifted)
    if "project" in table.schema.names and session.project != session.row["project"]:
        index = table.schema.get_field_index("project")
        assert session.project is not None
        table = table.set_column(index, table.schema.field(index), pa.array([to_stored(session.project)] * len(table)))
    return table
