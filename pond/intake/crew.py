"""Processes that read while the lake is written. They are forked before Lance is loaded: it runs threads of its own.

Each gets a task, sends frames, and ends its answer with None. What they send waits in a short queue, so that memory is
bounded by the queue and not by the sources.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Work: TypeAlias = Callable[[Any], Iterator[Any]]
_WAITING = 4  # frames
_LENGTH = 8
DIED = object()  # the last frame of a task whose process did not live to finish it


class Crew:
    """A few processes that do `work`; close it to end them."""

    def __init__(self, work: Work, count: int, is_near: Callable[[Any], bool] = lambda _: False) -> None:
        self._frames: queue.Queue[tuple[Any, object]] = queue.Queue(_WAITING * max(1, count))
        self._members = [_Member(work) for _ in range(count)]
        self._work, self._is_near = work, is_near

    def run(self, tasks: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield (task, frame) as frames come; None is a task's last frame, DIED where its process died.

        An exception among the frames is what ended the work on the task.
        Without processes, and where a task is near, the work is done here.
        """
        idle = list(self._members)
        busy: dict[int, _Member] = {}
        while True:
            while (idle or not busy) and (task := next(tasks, None)) is not None:
                if not idle or self._is_near(task):
                    yield from self._here(task)
                    continue
                member = idle.pop()
                busy[id(task)] = member
                member.begin(task, self._frames)
            if not busy:
                return
            task, frame = self._frames.get()
            yield task, frame
            if frame is None or frame is DIED:
                member = busy.pop(id(task))
                idle.append(member if frame is None else self._replaced(member))

    def _here(self, task: Any) -> Iterator[tuple[Any, Any]]:
        for frame in _answer(self._work, task):
            yield task, frame
        yield task, None

    def _replaced(self, member: _Member) -> _Member:
        """Stand in for a process that died: Lance is loaded by now, so the work is done in this one."""
        member.close()
        self._members.remove(member)
        stand_in = _StandIn(self._work)
        self._members.append(stand_in)
        return stand_in

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        for member in self._members:
            member.close()
        self._members = []


class _Member:
    """One process, and the socket to it."""

    def __init__(self, work: Work) -> None:
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._process = os.fork()
        if self._process == 0:
            ours.close()
            _serve(work, theirs)
        theirs.close()

    def begin(self, task: Any, frames: queue.Queue[tuple[Any, object]]) -> None:
        """Give the process a task; its frames go into the queue."""
        threading.Thread(target=self._receive, args=(task, frames), daemon=True).start()

    def _receive(self, task: Any, frames: queue.Queue[tuple[Any, object]]) -> None:
        frame: object = DIED
        try:
            _send(self._socket, task)
            while (frame := _take(self._socket)) is not None and frame is not DIED:
                frames.put((task, frame))
        except OSError:
            frame = DIED
        frames.put((task, frame))

    def close(self) -> None:
        self._socket.close()
        try:
            os.kill(self._process, signal.SIGKILL)  # it holds nothing that needs an orderly end
        finally:
            os.waitpid(self._process, 0)


class _StandIn(_Member):
    """Does the work in a thread of this process."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def _receive(self, task: Any, frames: queue.Queue[tuple[Any, object]]) -> None:
        for frame in _answer(self._work, task):
            frames.put((task, frame))
        frames.put((task, None))

    def close(self) -> None:
        """There is nothing to end."""


def _serve(work: Work, connection: socket.socket) -> None:
    """Answer tasks until nobody asks any more; never returns."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        while (task := _take(connection)) is not DIED:
            for frame in _answer(work, task):
                _send(connection, frame)
            _send(connection, None)
    except (OSError, EOFError):
        pass  # the parent is gone
    finally:
        os._exit(0)


def _answer(work: Work, task: Any) -> Iterator[Any]:
    try:
        yield from work(task)
    except Exception as error:  # it costs this task, and no other
        yield error


def _send(connection: socket.socket, value: object) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    connection.sendall(len(data).to_bytes(_LENGTH, "little"))
    connection.sendall(data)


def _take(connection: socket.socket) -> Any:
    """Return the next value; DIED where the other side is gone."""
    head = _exactly(connection, _LENGTH)
    data = _exactly(connection, int.from_bytes(head, "little")) if head is not None else None
    return DIED if data is None else pickle.loads(data)


def _exactly(connection: socket.socket, size: int) -> bytearray | None:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        got = connection.recv_into(view)
        if not got:
            return None
        view = view[got:]
    return data
