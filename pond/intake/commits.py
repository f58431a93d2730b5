"""Batches into the lake, one after the other: while one is stored, the next one collects."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from pond.intake.sources import SOURCE
from pond.model.json_text import JsonObject
from pond.sessions import ledger
from pond.sessions.writing import Corrected, correct_sessions, write_rows, write_sessions
from pond.substrate.store import Store


@dataclass(slots=True)
class Batch:
    """What is stored together, in this order: rows, sessions that are then complete, sources that are then read."""

    messages: pa.Table | None = None
    parts: pa.Table | None = None
    stored: dict[str, set[str]] = field(default_factory=dict)  # messages known to be there, by session
    sessions: list[JsonObject] = field(default_factory=list)
    corrected: list[Corrected] = field(default_factory=list)
    notes: dict[str, JsonObject] = field(default_factory=dict)


class New(NamedTuple):
    """How much of a batch was new."""

    sessions: int = 0
    messages: int = 0
    parts: int = 0


class Storing:
    """Stores batches in order, in its own thread with its own handles: Lance works outside of Python."""

    def __init__(self, store: Store) -> None:
        self._store = Store(store.catalog, beside=store)
        self._thread = ThreadPoolExecutor(1, "storing")
        self._running: Future[New] | None = None

    def put(self, batch: Batch) -> New:
        """Store a batch when the one before it is stored; return what was new in that one, or raise its error."""
        before = self.wait()
        self._running = self._thread.submit(self._store_batch, batch)
        return before

    def wait(self) -> New:
        """Return what was new in the current batch, once it is stored."""
        running, self._running = self._running, None
        return New() if running is None else running.result()

    def close(self) -> None:
        """Stop the thread after what it is doing."""
        self._thread.shutdown(wait=False)

    def _store_batch(self, batch: Batch) -> New:
        messages = parts = 0
        if batch.messages is not None:
            messages, parts = write_rows(self._store, batch.messages, batch.parts, batch.stored)
        sessions = write_sessions(self._store, batch.sessions)
        correct_sessions(self._store, batch.corrected)
        if batch.notes:
            ledger.note(self._store, SOURCE, batch.notes)
        return New(sessions, messages, parts)
