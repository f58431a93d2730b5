"""The writing half of ingest: stores what the readers send, each row once, in its place."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from pond.intake import claims
from pond.intake.commits import Batch, New, Storing
from pond.intake.deriving import Progress, derive
from pond.intake.reading import Begun, Chunk, Ended, Finished, Frame, Identity, Task
from pond.intake.request import Summary
from pond.intake.sources import source_id
from pond.model.json_text import JsonObject
from pond.model.lineage import may_belong
from pond.sessions import ledger, rarity
from pond.sessions.rows import session_row
from pond.sessions.stored_text import to_stored
from pond.sessions.tables import TABLES
from pond.sessions.writing import Corrected, message_ids, session_ids
from pond.substrate import upkeep
from pond.substrate.store import Store

_BYTES = 20 << 20  # bytes of rows in one commit, which bounds memory
_FRAGMENTS = 4 * upkeep.FRAGMENTS  # a first ingest of years makes many; merging them is left to the upkeep


@dataclass(slots=True)
class _Session:
    """A session that is being stored: its row, its identity, and whether it may be stored."""

    row: JsonObject
    task: Task
    identity: Identity | None  # None until it is known that no other session has its id
    refused: bool = False
    agent: str | None = None  # the kind of agent, once it is read

    @property
    def id(self) -> str:
        return to_stored(self.row["id"])


@dataclass(slots=True)
class _Pending:
    """What is read and not stored yet."""

    chunks: list[tuple[_Session, Chunk]] = field(default_factory=list)
    finished: list[_Session] = field(default_factory=list)
    ended: list[tuple[Task, Ended]] = field(default_factory=list)
    rows: int = 0
    bytes: int = 0


class Intake:
    """What one ingest stores. `known_ids` are stored message ids by session: each session is looked up once."""

    def __init__(
        self, store: Store, summary: Summary, known_ids: dict[str, set[str]], rows_per_commit: int, *, dry_run: bool
    ) -> None:  # fmt: skip
        self._store, self._summary, self._dry_run = store, summary, dry_run
        self._known_ids, self._rows_per_commit = known_ids, rows_per_commit
        self._erased = set(ledger.notes(store, ledger.ERASED))
        self._current: dict[str, _Session] = {}  # by task
        self._claims: dict[str, str] = {}  # session -> the task that brought it
        self._deferred: dict[str, Task] = {}
        self._elsewhere: dict[str, set[str]] = {}  # task -> sessions that another process has claimed
        self._pending = _Pending()
        self._storing = Storing(store)

    def take(self, task: Task, frame: Frame) -> None:
        """Take what a reader sent; store what has collected when it is enough."""
        if task.name in self._deferred:
            return
        match frame:
            case Begun():
                self._current[task.name] = self._begun(frame, task)
            case Chunk():
                self._chunk(self._current[task.name], frame)
            case Finished():
                session = self._current.pop(task.name)
                session.agent = frame.agent
                self._pending.finished.append(session)
            case Ended():
                self._current.pop(task.name, None)  # if it ended inside a session, that session is incomplete
                self._pending.ended.append((task, frame))

    def deferred(self) -> list[Task]:
        """Return the sources whose session has the id of another one, once everything else is stored.

        If another process is storing that one, wait for it; report a source whose turn does not come.
        """
        self.store()
        busy = claims.wait(self._store, set().union(*self._elsewhere.values()))
        for name in [name for name, ids in self._elsewhere.items() if ids & busy]:
            what = "another process is storing a session with the same id; run this again when it is done"
            self._summary.report.error("lake-claimed", what, name)
            del self._deferred[name]
        found, self._deferred, self._elsewhere = list(self._deferred.values()), {}, {}
        return found

    def store(self) -> None:
        """Store what has collected."""
        self._flush()
        self._count(self._storing.wait())
        self._store.forget()  # the handles of an object store may be a few seconds old
        self._claims.clear()
        self._known_ids.clear()

    def close(self, progress: Progress) -> None:
        """Store the rest, derive what waits, and merge small files."""
        self.store()
        self._storing.close()
        if not self._dry_run:
            derive(self._store, progress)
            rarity.renew(self._store)
            for table in TABLES:
                upkeep.compact(self._store, table, beyond=_FRAGMENTS)

    def _begun(self, begun: Begun, task: Task) -> _Session:
        row, identity = begun.row, begun.identity
        # A session with another stored id is not the one that was erased.
        names = {row["id"], row["parent_session_id"]} if may_belong(row) else {row["id"]}
        erased = not self._erased.isdisjoint(map(to_stored, names))
        self._summary.erased += erased
        return _Session(row, task, identity, refused=erased)

    def _chunk(self, session: _Session, chunk: Chunk) -> None:
        if session.refused:
            return
        pending = self._pending
        pending.chunks.append((session, chunk))
        pending.rows += chunk.messages.num_rows + chunk.parts.num_rows
        pending.bytes += chunk.messages.get_total_buffer_size() + chunk.parts.get_total_buffer_size()
        if pending.rows >= self._rows_per_commit or pending.bytes >= _BYTES:
            self._flush()

    # --- storing -----------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        pending, self._pending = self._pending, _Pending()
        self._settle(pending)
        batch = Batch(notes=self._ended(pending.ended))
        chunks = [chunk for session, chunk in pending.chunks if not session.refused]
        if chunks:
            batch.messages = _joined([chunk.messages for chunk in chunks])
            batch.parts = _joined([chunk.parts for chunk in chunks])
            batch.stored = self._stored_ids(batch.messages)
        now = time.time_ns() // 1000
        for session in {s.id: s for s in pending.finished if not s.refused}.values():
            before = session.identity.row if session.identity is not None else None
            if before is None:
                batch.sessions.append(session_row(session.row, now))
            elif before != session.row:
                batch.corrected.append(Corrected(before["project"], session_row(session.row, now), session.agent))
        self._count(self._would_be_new(batch) if self._dry_run else self._storing.put(batch))
        for session in pending.finished if not self._dry_run else ():
            self._known_ids.pop(session.id, None)

    def _count(self, new: New) -> None:
        self._summary.new_sessions += new.sessions
        self._summary.new_messages += new.messages
        self._summary.new_parts += new.parts

    def _settle(self, pending: _Pending) -> None:
        """Let sessions wait that another source brings too, and undecided ones that the lake knows.

        Nothing of them is stored yet; their sources are read again when everything else is stored.
        """
        sessions = [s for s in [*(s for s, _ in pending.chunks), *pending.finished] if not s.refused]
        undecided = {s.id for s in sessions if s.identity is None}
        known = session_ids(self._store, undecided)
        asked = undecided - self._known_ids.keys()
        self._known_ids |= {id: set() for id in asked} | message_ids(self._store, asked)
        lost = self._claimed_elsewhere([s for s in sessions if s.identity is None and s.id not in known])
        for session in sessions:
            if session.id in lost and session.identity is None:
                self._elsewhere.setdefault(session.task.name, set()).add(session.id)
            taken = self._claims.setdefault(session.id, session.task.name) != session.task.name and not self._dry_run
            stored = session.identity is None and (session.id in known or bool(self._known_ids.get(session.id)))
            if taken or stored or session.task.name in self._deferred or session.task.name in self._elsewhere:
                session.refused = True
                self._deferred[session.task.name] = session.task.undecided()
            elif session.identity is None:
                session.identity = Identity(session.row["id"], session.row["id"])

    def _claimed_elsewhere(self, new: Iterable[_Session]) -> set[str]:
        """Claim sessions that the lake does not know; return those that another source has claimed, in any process."""
        if self._dry_run:
            return set()
        wanted: dict[str, str] = {}
        for session in new:
            wanted.setdefault(session.id, session.task.source)
        return claims.claim(self._store, wanted)

    def _ended(self, ended: Iterable[tuple[Task, Ended]]) -> dict[str, JsonObject]:
        """Report what happened to sources that are read; return the notes about them."""
        notes: dict[str, JsonObject] = {}
        for task, end in ended:
            if task.name not in self._deferred:
                self._summary.report.add(end.report)
                self._summary.unfinished += end.unfinished
                found = task.found
                if end.state is not None and found.path is not None:
                    notes[source_id(found.path, found.key)] = end.state.as_json()
        return notes

    def _stored_ids(self, messages: pa.Table) -> dict[str, set[str]]:
        """Return the stored messages of the sessions in a batch; each session is looked up once."""
        sessions = pc.unique(messages["session_id"]).to_pylist()
        asked = [id for id in sessions if id not in self._known_ids]
        self._known_ids |= {id: set() for id in asked} | message_ids(self._store, asked)
        return {id: ids for id in sessions if (ids := self._known_ids[id])}

    def _would_be_new(self, batch: Batch) -> New:
        """Return what of a batch is not in the lake."""
        if batch.messages is None or batch.parts is None:
            return New(len(batch.sessions))
        messages = set(zip(batch.messages["session_id"].to_pylist(), batch.messages["id"].to_pylist(), strict=True))
        owners = zip(batch.parts["session_id"].to_pylist(), batch.parts["message_id"].to_pylist(), strict=True)
        counts = [sum(id not in batch.stored.get(s, ()) for s, id in each) for each in (messages, owners)]
        for session, message in messages:  # a copy in another file is not counted again
            self._known_ids[session].add(message)
        return New(len(batch.sessions), *counts)


def _joined(batches: list[pa.RecordBatch]) -> pa.Table:
    """Return the rows as one table with contiguous columns: Lance is far slower with many small pieces."""
    return pa.Table.from_batches(batches).combine_chunks()
