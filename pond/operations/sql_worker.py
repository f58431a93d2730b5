"""Processes that run queries, started on demand and used again."""

from __future__ import annotations

import select
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import IO, Any, cast

from pond.config.settings import Settings
from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError
from pond.diagnostics.failures import Failure
from pond.diagnostics.span import Span
from pond.model.json_text import JsonObject, decode_stored, encode
from pond.operations.failing import RequestError

_GRACE = 5.0  # seconds that a query may exceed its time before it is killed
_START = 60.0  # seconds that the process has to start
_PROGRAM = "pond.operations.sql_process"


class Worker:
    """One process that runs queries, one at a time."""

    def __init__(self, settings: Settings) -> None:
        self._seconds = settings.sql.seconds
        # -P: nothing from the current directory is ever imported.
        words = [sys.executable, "-P", "-m", _PROGRAM]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        self.end = weakref.finalize(self, _end, self._process)
        self.waits = True  # it has answered everything that it was asked
        begin = {name: getattr(settings, name) for name in ("lake", "namespace", "storage", "namespaces")}
        self._send(begin | {"sql": asdict(settings.sql)})
        self._frame(time.monotonic() + _START)

    @property
    def can_be_asked(self) -> bool:
        """Whether it has answered everything and is alive."""
        return self.waits and self._process.poll() is None

    def ask(self, request: JsonObject) -> Iterator[tuple[bytes, bytes]]:
        """Yield the frames of the answer; raise the error that it holds. A caller that does not read all of it must
        `end`.
        """
        from pond.operations.sql_process import DONE, ERROR

        self.waits = False
        self._send(request)
        deadline = time.monotonic() + self._seconds + _GRACE
        while True:
            kind, data = self._frame(deadline)
            self.waits = kind in (DONE, ERROR)
            if kind == ERROR:
                raise _read(decode_stored(data.decode()))
            yield kind, data
            if kind == DONE:
                return

    def _send(self, message: JsonObject) -> None:
        try:
            self._pipe(self._process.stdin).write(encode(message) + b"\n")
        except OSError:
            raise _ended() from None

    def _frame(self, deadline: float) -> tuple[bytes, bytes]:
        from pond.operations.sql_process import HEAD

        kind, length = HEAD.unpack(self._bytes(HEAD.size, deadline))
        return kind, self._bytes(length, deadline)

    def _bytes(self, length: int, deadline: float) -> bytes:
        pipe, data = self._pipe(self._process.stdout), bytearray()
        ready = select.poll()
        ready.register(pipe, select.POLLIN)
        while len(data) < length:
            if not ready.poll(max(deadline - time.monotonic(), 0) * 1000):
                raise _limit(f"the query took longer than {self._seconds:g} seconds, and had to be stopped")
            some = pipe.read(length - len(data))
            if not some:
                raise _ended()
            data += some
        return bytes(data)

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe


class Workers:
    """The processes of a service: as many as there are queries at once; idle ones are kept."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._idle = settings, cast("list[Worker]", [])
        self._lock = threading.Lock()

    @contextmanager
    def one(self) -> Iterator[Worker]:
        """Give a worker for one query; it is used again unless the query was left unfinished."""
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        worker = idle if idle is not None and idle.can_be_asked else Worker(self._settings)
        try:
            yield worker
        finally:
            self._give_back(worker)

    def _give_back(self, worker: Worker) -> None:
        with self._lock:
            if worker.can_be_asked and not self._idle:
                self._idle.append(worker)
                return
        worker.end()

    def close(self) -> None:
        """End the idle ones."""
        with self._lock:
            while self._idle:
                self._idle.pop().end()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _limit(message: str) -> UsageError:
    return UsageError(Diagnostic("sql-limit", message, help="ask for less, or raise the limits in pond.toml"))


def _ended() -> UsageError:
    return _limit("the query crashed its process, probably because it ran out of memory")


def _read(written: JsonObject) -> PondError:
    """Return the error that a process reports."""
    diagnostics = [_diagnostic(each) for each in written["diagnostics"]]
    if "failure" in written:
        (failure,) = (each for each in Failure if each.code == written["failure"])
        details: dict[str, Any] = dict(written["details"])
        return RequestError(failure, details.pop("reason"), diagnostics[0].message, **details)
    return (UsageError if written["usage"] else PondError)(*diagnostics)


def _diagnostic(fields: JsonObject) -> Diagnostic:
    span = Span(*fields.pop("span")) if "span" in fields else None
    return Diagnostic(span=span, **fields)
