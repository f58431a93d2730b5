"""Which sources have to be read, and from where: decided from what the lake remembers of them."""

from __future__ import annotations

import time
from dataclasses import replace

from pond.codec.resume import Mark, NeedsWhole, Resume
from pond.handlers.ingest import Found, Request, Summary
from pond.handlers.reading import Task
from pond.handlers.sources import SOURCE, Change, State, change_of, source_id
from pond.sessions import ledger, load
from pond.sessions.stored_text import from_stored, to_stored
from pond.sessions.tables import MESSAGES, PARTS
from pond.substrate import predicate, read
from pond.substrate.store import Store

_YOUNG = 60 * 10**9  # nanoseconds
_SMALL = 8 << 20  # bytes: less is read in the process that writes, where what the lake knows is at hand


class Plan:
    """The sources of one ingest, held against the lake."""

    def __init__(self, store: Store, request: Request, summary: Summary, known_ids: dict[str, set[str]]) -> None:
        self._store, self._request, self._summary = store, request, summary
        self._known_ids = known_ids  # filled with what was asked on the way: stored session id -> its message ids
        self._states = {id: State(**value) for id, value in ledger.notes(store, SOURCE).items()}

    def task_for(self, found: Found) -> Task | None:
        """Return how to read a file, or None where it is as it was."""
        if found.path is None:
            return Task(found.name, None, found.client, self._request.project)
        state = self._states.get(source_id(found.path))
        if state is not None and found.client not in (None, state.client):
            state = None  # somebody says whose it is, and knows better
        change = change_of(found.path, found.size, found.mtime_ns, state)
        self._summary.files[change.value] += 1
        if change is Change.UNCHANGED:
            assert state is not None
            self._summary.known_faults += state.faults
            return None
        self._summary.bytes += found.size
        task = Task(
            found.name, found.path, found.client, self._request.project, size=found.size,
            rewritten=change is Change.REWRITTEN, young=self._is_young(found),
        )  # fmt: skip
        return self._continued(task, state) if state is not None and change is Change.GROWN else task

    def _is_young(self, found: Found) -> bool:
        return self._request.live and time.time_ns() - found.mtime_ns < _YOUNG

    def _continued(self, task: Task, state: State) -> Task:
        """Return the task that reads only what was added, where that can be told from the rest."""
        task = replace(task, base=state.base)
        if state.mark is None or len(state.sessions) != 1:
            return task
        row = load.session(self._store, state.sessions[0])
        if row is None:
            return task  # its rows are not complete, or were erased
        try:
            mark = Mark.from_json(state.mark)
        except (NeedsWhole, TypeError):
            return task
        session_id = to_stored(state.sessions[0])
        here = predicate.equals("session_id", session_id)
        ids = read.rows(self._store, MESSAGES, ["id"], here)["id"].to_pylist()
        self._known_ids[session_id] = set(ids)
        held = predicate.all_of(here, "data_size IS NOT NULL")
        hashes = read.rows(self._store, PARTS, ["data_hash"], held)["data_hash"].to_pylist()
        resume = Resume(mark, row, list(map(from_stored, ids)))
        here_too = task.size - mark.offset < _SMALL
        return replace(task, resume=resume, payloads=frozenset(hashes), near=here_too)
