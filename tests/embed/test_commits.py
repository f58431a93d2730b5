"""What a kill can lose while a lake is embedded: never more than a few seconds' work, however slow the storage is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pond.embed import bulk
from pond.lake import embedding
from pond.lake.embedding import embed
from pond.sessions import vectors
from tests.embed.lakes import embedded_ids, far, filled
from tests.embed.server import Endpoint

MESSAGES_HERE = 400
A_BATCH = 1.0  # seconds that the model takes for one


class Clocked:
    """A clock that moves while a batch is embedded, staged or folded; and how long what was staged had waited."""

    def __init__(self, staging: float = 0.0, folding: float = 0.0) -> None:
        self.now, self.staging, self.folding = 1000.0, staging, folding
        self.waiting: list[tuple[float, int]] = []  # when a batch was made, and its size
        self.oldest: list[float] = []  # of each commit: how long its first vector had waited
        self.sizes: list[int] = []
        self._embedded, self._stage, self._fold = bulk.embedded, vectors.stage, vectors.fold

    def monotonic(self) -> float:
        return self.now

    def embedded(self, *given: Any) -> Iterator[bulk.Batch]:
        for batch in self._embedded(*given):
            self.now += A_BATCH
            self.waiting.append((self.now, len(batch.places)))
            yield batch

    def stage(self, store: Any, label: str, keys: Any, rows: Sequence[Any]) -> int:
        self.oldest.append(self.now - self.waiting[0][0])
        self.sizes.append(len(rows))
        assert sum(size for _, size in self.waiting) == len(rows)
        self.waiting.clear()
        self.now += self.staging
        return self._stage(store, label, keys, rows)  # type: ignore[arg-type]

    def fold(self, *given: Any) -> int:
        self.now += self.folding
        return self._fold(*given)


def _ticking(monkeypatch: pytest.MonkeyPatch, **takes: float) -> Clocked:
    clock = Clocked(**takes)
    monkeypatch.setattr(embedding, "time", clock)
    monkeypatch.setattr(embedding, "embedded", clock.embedded)
    monkeypatch.setattr(vectors, "stage", clock.stage)
    monkeypatch.setattr(vectors, "fold", clock.fold)
    return clock


@pytest.mark.parametrize("staging", [0.01, 0.5, 30.0])
def test_vectors_wait_a_few_seconds_for_their_commit(
    tmp_path: Path, server: Endpoint, monkeypatch: pytest.MonkeyPatch, staging: float
) -> None:
    clock, store = _ticking(monkeypatch, staging=staging), filled(tmp_path / "lake", MESSAGES_HERE)
    assert embed(store, far(server), threads=1).embedded == MESSAGES_HERE
    assert max(clock.oldest) <= embedding._MOST
    assert len(embedded_ids(store, far(server))) == MESSAGES_HERE


def test_slow_storage_is_not_asked_after_every_batch(
    tmp_path: Path, server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, store = _ticking(monkeypatch, staging=1.0), filled(tmp_path / "lake", MESSAGES_HERE)
    embed(store, far(server), threads=1)
    assert max(clock.oldest[1:-1]) >= embedding._MOST - A_BATCH


def test_a_long_fold_does_not_put_off_the_next_commit(
    tmp_path: Path, server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_FOLD_FROM", 1)
    clock, store = _ticking(monkeypatch, folding=60.0), filled(tmp_path / "lake", MESSAGES_HERE)
    embed(store, far(server), threads=1)
    assert max(clock.oldest) <= embedding._EVERY


def test_no_more_than_so_many_vectors_wait(tmp_path: Path, server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_PENDING", 40)
    monkeypatch.setattr(embedding, "_EVERY", 1000.0)
    monkeypatch.setattr(embedding, "_MOST", 1000.0)
    clock, store = _ticking(monkeypatch), filled(tmp_path / "lake", MESSAGES_HERE)
    embed(store, far(server), threads=1)
    assert max(clock.sizes) < 40 + 16  # and the batch in hand
