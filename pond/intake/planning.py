"""Which sources must be read, and from where: decided from what the lake remembers about them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from pond.codec.facts import own_id
from pond.codec.finding import FoundSource
from pond.codec.resume import Checkpoint, Continuation
from pond.codec.source import NeedsWhole
from pond.intake.reading import ID_SEPARATOR, EarlierReading, Identity, Task
from pond.intake.request import Request, Summary
from pond.intake.sources import SOURCE, Change, KeptOpen, State, change_of, source_id
from pond.model.json_text import JsonObject
from pond.sessions import ledger, load
from pond.sessions.stored_text import from_stored, to_stored
from pond.sessions.turns import before
from pond.sessions.writing import payload_hashes, positions_of, record_count
from pond.substrate.store import Store

_A_MOMENT = 60  # seconds
_SMALL = 8 << 20  # bytes: less is read in the writing process, which knows the lake


@dataclass
class IngestPlan:
    """The sources of one ingest, compared with the lake.

    `known_ids` collects what was asked: stored session id -> its message ids. `contested` are sources whose session may
    no longer be the one they were stored as: their records decide, when all others are stored.
    """

    store: Store
    request: Request
    summary: Summary
    known_ids: dict[str, set[str]]
    contested: list[Task] = field(default_factory=list)

    def __post_init__(self) -> None:
        notes = ledger.notes(self.store, SOURCE)
        self._states = {id: State.from_json(value) for id, value in notes.items()}

    def has_suffixes(self) -> bool:
        """Tell whether a session is stored under another id than its own, as far as earlier sources show."""
        return any(ID_SEPARATOR in id for state in self._states.values() for id in state.sessions)

    def task_for(self, found: FoundSource) -> Task | None:
        """Return how to read a source now, or None if it is unchanged or contested."""
        if found.path is None:
            return Task(found, self.request.project)
        state = self._states.get(source_id(found.path, found.key))
        if state is not None and found.client not in (None, state.client):
            state = None  # the caller names the client, and knows better
        change = change_of(found, state, kept := KeptOpen())
        if change is Change.UNCHANGED:
            assert state is not None
            self.summary.files[change.value] += 1
            self.summary.known += state.problems
            return None
        self.summary.bytes += found.size
        task = Task(found, self.request.project, being_written=self._is_being_written(found.path), kept=kept)
        if state is None or not state.sessions:
            self.summary.files[change.value] += 1
            return task
        task = replace(task, candidates=tuple(state.sessions))
        resumed = self._continued(task, state) if change is Change.GROWN else None
        if resumed is None:
            kept.drop()
            self.contested.append(task)
        else:
            self.summary.files[change.value] += 1
        return resumed

    def _is_being_written(self, path: Path) -> bool:
        try:
            return self.request.live and time.time() - os.stat(path).st_mtime < _A_MOMENT
        except OSError:
            return False

    def _continued(self, task: Task, state: State) -> Task | None:
        """Return the task that reads only what was added; None if another source may have added to the session."""
        if len(state.sessions) != 1:
            return None
        session_id = state.sessions[0]
        row = load.session(self.store, session_id)
        checkpoint = _checkpoint(state)
        if row is None or checkpoint is None:
            return None  # its rows are not complete, or were erased
        positions = positions_of(self.store, to_stored(session_id))
        if record_count(positions.values()) != checkpoint.records:
            return None
        self.known_ids[to_stored(session_id)] = set(positions)
        payloads = payload_hashes(self.store, to_stored(session_id))
        return replace(
            task,
            continuation=Continuation(checkpoint, row, list(map(from_stored, positions))),
            earlier=EarlierReading(tuple(_lasting(state.problems, checkpoint)), state.drift, state.records),
            sole=Identity(
                session_id,
                own_id(row),
                row,
                checkpoint.records,
                payloads,
                before=before(self.store, to_stored(session_id)),
            ),
            near=task.size - state.size < _SMALL,
        )


def _lasting(problems: list[JsonObject], checkpoint: Checkpoint) -> Iterator[JsonObject]:
    """Yield the problems before the checkpoint; an incomplete last line is read again."""
    return (problem for problem in problems if problem.get("line", 0) <= checkpoint.lines)


def _checkpoint(state: State) -> Checkpoint | None:
    if state.checkpoint is None:
        return None
    try:
        return Checkpoint.from_json(state.checkpoint)
    except (NeedsWhole, TypeError):
        return None
