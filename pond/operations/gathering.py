"""Requests to store events, committed together: while one commit is made, new requests collect for the next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from pond.diagnostics.failures import Failure
from pond.operations.failing import RequestError

if TYPE_CHECKING:  # the first caller that stores loads Lance
    from pond.intake.events import Sent
    from pond.intake.present import Present
    from pond.operations.service import Service
    from pond.substrate.store import Store

THREADS = 4  # namespaces that are written at the same time
_MOST_WAITING = 200_000  # events that may wait for one namespace
_TIDY_EVERY = 5.0  # seconds, while events keep coming, or
_SHARE = 16  # this many times the duration of the last one
_COMMITS = 12  # after which small files are merged
_QUIET = 1.0  # seconds without a request, after which tables are tidied
_LONGEST_WAIT = 0.25  # seconds, and never longer than two commits take
_THOROUGHLY_EVERY = 60.0  # seconds


@dataclass(slots=True)
class _Queue:
    """What waits for one namespace, whether a thread works on it, and what its tables need."""

    waiting: list[tuple[Sent, Future[Sent]]] = field(default_factory=list)
    running: bool = False
    untidy: bool = False
    tidied: float = field(default_factory=time.monotonic)
    thorough: float = field(default_factory=time.monotonic)
    pause: float = _TIDY_EVERY
    known: Present | None = None
    commits: int = 0  # since small files were merged
    together: int = 0  # requests that were in progress when the last commit ended
    patience: float = 0.0  # seconds to wait for as many again


class Gathering:
    """Stores the events of all requests of a service; one thread at a time writes a namespace."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._queues: dict[str | None, _Queue] = {}
        self._lock = threading.Condition()
        self._threads = ThreadPoolExecutor(THREADS, "storing")
        self.commits = 0
        self._closing = False

    def put(self, namespace: str | None, sent: Sent) -> Future[Sent]:
        """Store events soon; the future has the result for each once they are committed."""
        done: Future[Sent] = Future()
        with self._lock:
            queue = self._queues.setdefault(namespace, _Queue())
            if sum(len(each.events) for each, _ in queue.waiting) + len(sent.events) > _MOST_WAITING:
                what = "too many events are waiting to be stored"
                raise RequestError(Failure.STORAGE_UNAVAILABLE, "exhausted", what)
            queue.waiting.append((sent, done))
            self._lock.notify_all()
            self._begin(namespace, queue)
        return done

    def tidy(self) -> None:
        """Tidy the tables of namespaces that received events and no longer do."""
        with self._lock:
            for namespace, queue in list(self._queues.items()):
                if queue.untidy:
                    self._begin(namespace, queue)
                elif not queue.running and not queue.waiting:
                    del self._queues[namespace]

    def tidy_now(self, namespace: str | None) -> None:
        """Tidy the tables of a namespace before continuing."""
        from pond.intake.tidying import tidy

        tidy(self._service.writing(namespace))
        with self._lock:
            if (queue := self._queues.get(namespace)) is not None:
                queue.untidy = False

    def close(self) -> None:
        """Store everything that waits."""
        with self._lock:
            self._closing = True
            self._lock.notify_all()
        self._threads.shutdown()

    def _begin(self, namespace: str | None, queue: _Queue) -> None:
        if not queue.running:
            queue.running = True
            self._threads.submit(self._work, namespace, queue)

    def _work(self, namespace: str | None, queue: _Queue) -> None:
        from pond.intake.tidying import put_together, tidy

        while True:
            with self._lock:
                # Clients that were just answered send their next request in a moment: together they cost one commit.
                self._lock.wait_for(lambda: len(queue.waiting) >= queue.together, queue.patience)
                if queue.untidy and not self._closing:  # tidying waits until nothing more comes
                    self._lock.wait_for(lambda: queue.waiting or self._closing, _QUIET)
                taken, queue.waiting = queue.waiting, []
                due = (
                    queue.untidy and not self._closing and (not taken or time.monotonic() - queue.tidied > queue.pause)
                )
                if not taken and not due:
                    queue.running = False
                    return
            queue.together, queue.patience = 0, 0.0
            if taken:
                begun = time.monotonic()
                self._store(namespace, queue, taken)
                queue.untidy, queue.commits = True, queue.commits + 1
                queue.patience = min(_LONGEST_WAIT, 2 * (time.monotonic() - begun)) if queue.together > 1 else 0.0
            if queue.commits >= _COMMITS and not due:
                queue.commits = 0
                self._upkeep(namespace, put_together)
            if due:
                begun = time.monotonic()
                thoroughly = not taken or begun > queue.thorough + _THOROUGHLY_EVERY
                self._upkeep(namespace, partial(tidy, thoroughly=thoroughly))
                queue.commits = 0
                queue.tidied = time.monotonic()
                # Storing comes first: tidying takes a small part of the time.
                queue.thorough = queue.tidied if thoroughly else queue.thorough
                queue.pause = max(_TIDY_EVERY, _SHARE * (queue.tidied - begun))
                queue.untidy = bool(taken)

    def _store(self, namespace: str | None, queue: _Queue, taken: list[tuple[Sent, Future[Sent]]]) -> None:
        from pond.intake.events import store_events
        from pond.intake.present import Present

        queue.known = queue.known or Present()
        try:
            store_events(self._prepared(namespace), [sent for sent, _ in taken], queue.known)
            self._service.wrote(namespace)
            self.commits += 1
            queue.together = len(taken) + len(queue.waiting)
        except BaseException as error:
            for _, done in taken:
                done.set_exception(error)
        else:
            for sent, done in taken:
                done.set_result(sent)

    def _prepared(self, namespace: str | None) -> Store:
        """Return the store of a namespace that has all its tables."""
        from pond.sessions.tables import SESSIONS
        from pond.sessions.writing import prepare

        store = self._service.writing(namespace)
        if store.existing(SESSIONS) is None:
            prepare(store)
        return store

    def _upkeep(self, namespace: str | None, work: Callable[[Store], None]) -> None:
        from pond.substrate.signals import LakeError

        try:
            work(self._service.writing(namespace))
        except (LakeError, RequestError):
            return  # nobody waits for it; the rest is done next time
