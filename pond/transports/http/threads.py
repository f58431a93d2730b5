"""The threads that answer requests: whichever was busy last takes the next request."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Work = Callable[[], None]


class Threads(Executor):
    """A pool that wakes the thread that fell idle last.

    Each thread opens the lake for itself. Python's own pool wakes its threads in turn, so that one client alone
    would be answered from as many opened lakes as there are threads, each of them cold.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._threads: list[threading.Thread] = []
        self._idle: list[SimpleQueue[_Work | None]] = []  # the one that fell idle last at the end
        self._waiting: deque[_Work] = deque()
        self._closed = False
        self._lock = threading.Lock()

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Run a function in a thread, as soon as there is one."""
        future: Future[_T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the threads are ended")
            self._give(lambda: _run(future, lambda: fn(*args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take nothing more; what was taken is done."""
        with self._lock:
            self._closed = True
            for inbox in self._idle:
                inbox.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _give(self, work: _Work) -> None:
        if self._idle:
            self._idle.pop().put(work)
        elif len(self._threads) < self._most:
            name = f"{self._name}-{len(self._threads)}"
            self._threads.append(threading.Thread(target=self._work, args=[work], name=name, daemon=True))
            self._threads[-1].start()
        else:
            self._waiting.append(work)

    def _work(self, first: _Work) -> None:
        inbox: SimpleQueue[_Work | None] = SimpleQueue()
        work: _Work | None = first
        while work is not None:
            work()
            del work  # nothing of a request is kept while none follows
            work = self._next(inbox)

    def _next(self, inbox: SimpleQueue[_Work | None]) -> _Work | None:
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            if self._closed:
                return None
            self._idle.append(inbox)
        return inbox.get()


def _run(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)
