"""Makes the vectors that messages wait for, a few hundred at a time, and stores each as soon as it is made.

A run keeps no notes. The messages themselves show what waits, so the next run continues one that was killed, and
several may work at once: they avoid each other as far as they can, and no vector is stored twice.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from pond.diagnostics.diagnostic import Diagnostic
from pond.embed.bulk import Batch, embedded
from pond.embed.embedder import Embedder, opened
from pond.embed.faults import BadVectors, EmbedError
from pond.embed.model import Model
from pond.sessions import vectors
from pond.sessions.tables import MESSAGES, VECTORS
from pond.substrate import upkeep
from pond.substrate.store import Store

if TYPE_CHECKING:
    from pond.embed.embedder import Vectors

Progress = Callable[[int, int], None]  # messages done, and the total

_WINDOW = 1024  # messages whose texts are in memory at once
# Between two commits lie so many seconds, times what the last one took: more where storage is slow, up to a limit,
# because a kill loses what was made since the last one.
_EVERY, _MOST, _SHARE = 1.0, 5.0, 40
_PENDING = 1024  # vectors that wait for a commit, at most
_PATIENCE = 16  # texts that a model may refuse one after the other


@dataclass
class Embedded:
    """The result: messages that got a vector, those whose text the model refused and why, those that still wait."""

    model: str
    embedded: int = 0
    refused: int = 0
    waiting: int = 0
    fault: Diagnostic | None = None


@dataclass
class _Run:
    """Vectors that are being stored."""

    store: Store
    embedder: Embedder
    threads: int
    done: Embedded
    tell: Callable[[int], None]  # called with the number of finished messages
    keys: list[pa.Table] = field(default_factory=list)
    rows: list[Vectors] = field(default_factory=list)
    passed: int = 0
    refused: int = 0  # in a row
    due: float = 0.0  # time of the next commit

    def window(self, row_ids: list[int]) -> bool:
        """Embed the messages of one window; tell whether another process had already done some of them."""
        found = vectors.texts(self.store, self.embedder.label, row_ids)
        texts = found["search_text"].to_pylist()
        for batch in embedded(self.embedder, texts, self.threads):
            self._take(found.select(MESSAGES.keys), batch)
        others = len(row_ids) - int(found.num_rows)
        self._pass(others)
        return others > 0

    def _pass(self, messages: int) -> None:
        self.passed += messages
        self.tell(self.passed)

    def _take(self, keys: pa.Table, batch: Batch) -> None:
        self._pass(len(batch.places))
        if batch.vectors is None:
            self._refuse(batch.refused)
            return
        self.keys.append(keys.take(batch.places))
        self.rows.append(batch.vectors)
        self.done.embedded += len(batch.places)
        self.refused = 0
        if time.monotonic() >= self.due or sum(map(len, self.rows)) >= _PENDING:
            self.flush()

    def _refuse(self, fault: BadVectors | None) -> None:
        assert fault is not None
        self.done.refused += 1
        self.refused += 1
        self.done.fault = fault.diagnostics[0]
        if self.refused == _PATIENCE:
            raise fault

    def flush(self) -> None:
        """Stage what is there; fold if that is due."""
        began = time.monotonic()
        if not self.keys:
            return
        self._stage()
        took = time.monotonic() - began
        if vectors.fold_is_due(self.store):
            vectors.fold(self.store, self.embedder.label)
        upkeep.compact(self.store, VECTORS, beyond=upkeep.FRAGMENTS)
        self.due = time.monotonic() + min(_MOST, max(_EVERY, _SHARE * took))

    def _stage(self) -> None:
        import numpy as np

        vectors.stage(self.store, self.embedder.label, pa.concat_tables(self.keys), np.concatenate(self.rows))
        self.keys, self.rows = [], []


def embed(
    store: Store, model: Model, *, threads: int, anew: bool = False, progress: Progress = lambda done, of: None
) -> Embedded:
    """Give every message with text the vector of that text (session-embed-from-canonical).

    The model is opened only if something waits. If it fails, what it made before is kept, and the fault is in the
    answer.
    """
    done = Embedded(model.label)
    if store.existing(MESSAGES) is None:
        return done
    if anew or vectors.waiting(store, model.label):
        _embed(store, opened(model), done, threads, anew, progress)
        done.waiting = vectors.waiting(store, model.label)
    vectors.settle(store, model.label)
    return done


def _embed(store: Store, embedder: Embedder, done: Embedded, threads: int, anew: bool, progress: Progress) -> None:
    vectors.prepare(store, embedder.label, embedder.dimensions, anew=anew)
    vectors.fold(store, embedder.label)  # left by an earlier run
    waiting = vectors.waiting_rows(store, embedder.label)
    run = _Run(store, embedder, threads, done, lambda passed: progress(passed, len(waiting)))
    try:
        _all(run, waiting)
    except EmbedError as error:
        done.fault = error.diagnostics[0]
    finally:
        run.flush()
    vectors.fold(store, embedder.label)


def _all(run: _Run, waiting: list[int]) -> None:
    """Embed what waits, the newest first.

    If another process was faster, it probably works in the same order, so the rest is done in another order.
    """
    left = [waiting[start : start + _WINDOW] for start in range(0, len(waiting), _WINDOW)]
    while left:
        if run.window(left.pop()):
            random.shuffle(left)
