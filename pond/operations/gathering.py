"""Requests to store events, committed together: while one commit is made, those that arrive gather for the next."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pond.diagnostics.failures import Failure
from pond.operations.failing import RequestError

if TYPE_CHECKING:  # Lance is loaded by whoever stores first
    from pond.intake.events import Sent
    from pond.operations.service import Service

THREADS = 4  # namespaces that are written at the same moment
_MOST_WAITING = 200_000  # events that may wait for one namespace
_TIDY_EVERY = 3.0  # seconds, while events keep coming


@dataclass(slots=True)
class _Queue:
    """What waits for one namespace, whether somebody is at it, and what its tables need since then."""

    waiting: list[tuple[Sent, Future[Sent]]] = field(default_factory=list)
    running: bool = False
    untidy: bool = False
    tidied: float = 0.0


class Gathering:
    """Stores the events of all requests of a service; each namespace is written by one thread at a time."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._queues: dict[str | None, _Queue] = {}
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(THREADS, "storing")
        self.commits = 0

    def put(self, namespace: str | None, sent: Sent) -> Future[Sent]:
        """Store events soon; the future has them once they are committed, and says what became of each."""
        done: Future[Sent] = Future()
        with self._lock:
            queue = self._queues.setdefault(namespace, _Queue())
            if sum(len(each.events) for each, _ in queue.waiting) + len(sent.events) > _MOST_WAITING:
                what = "more events wait to be stored than there is room for"
                raise RequestError(Failure.STORAGE_UNAVAILABLE, "exhausted", what)
            queue.waiting.append((sent, done))
            self._begin(namespace, queue)
        return done

    def tidy(self) -> None:
        """Let the tables be tidied of namespaces to which events came, and no more do."""
        with self._lock:
            for namespace, queue in list(self._queues.items()):
                if queue.untidy:
                    self._begin(namespace, queue)
                elif not queue.running and not queue.waiting:
                    del self._queues[namespace]

    def tidy_now(self, namespace: str | None) -> None:
        """Tidy the tables of a namespace before going on."""
        from pond.intake.tidying import tidy

        tidy(self._service.writing(namespace))
        with self._lock:
            if (queue := self._queues.get(namespace)) is not None:
                queue.untidy = False

    def close(self) -> None:
        """Store everything that waits."""
        self._threads.shutdown()

    def _begin(self, namespace: str | None, queue: _Queue) -> None:
        if not queue.running:
            queue.running = True
            self._threads.submit(self._work, namespace, queue)

    def _work(self, namespace: str | None, queue: _Queue) -> None:
        while True:
            with self._lock:
                taken, queue.waiting = queue.waiting, []
                due = queue.untidy and (not taken or time.monotonic() - queue.tidied > _TIDY_EVERY)
                if not taken and not due:
                    queue.running = False
                    return
            if taken:
                self._store(namespace, taken)
                queue.untidy = True
            if due:
                self._tidy(namespace)
                queue.untidy, queue.tidied = bool(taken), time.monotonic()

    def _store(self, namespace: str | None, taken: list[tuple[Sent, Future[Sent]]]) -> None:
        from pond.intake.events import store_events

        try:
            store_events(self._service.writing(namespace), [sent for sent, _ in taken])
            self._service.wrote(namespace)
            self.commits += 1
        except BaseException as error:
            for _, done in taken:
                done.set_exception(error)
        else:
            for sent, done in taken:
                done.set_result(sent)

    def _tidy(self, namespace: str | None) -> None:
        from pond.intake.tidying import tidy
        from pond.substrate.signals import LakeError

        try:
            tidy(self._service.writing(namespace))
        except (LakeError, RequestError):
            return  # nobody waits for it; what is left is done the next time
