"""Work in forked processes, as cheap to start as the system's own `fork`: for conversions, proofs and the lake.

The standard library's pool takes longer to import and start than converting a small store. A forked process already has
the work; tasks go there, and frames come back. A process that is ahead waits until its frames are taken, so memory is
bounded by a pipe and not by the sources.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import select
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

Result = TypeVar("Result")
Spread: TypeAlias = Generator[Result | object, None, None]
Work: TypeAlias = Callable[[Any], Iterator[Any]]
DIED = object()  # the result of a task whose process died before it finished

_STOPS = (signal.SIGINT, signal.SIGTERM)
_LENGTH = 8
_CHUNK = 1 << 20
_AHEAD = 1 << 20  # bytes that a process may be ahead, if the system allows a pipe of this size


class Pool:
    """A few processes that do `work`, which yields frames for a task; close it to end them.

    They are forked when the pool is made. A caller that loads a library with threads must do so afterwards, and cannot
    have dead processes `renewed`.
    """

    def __init__(self, work: Work, count: int, *, renewed: bool = False) -> None:
        self._work, self._renewed = work, renewed
        self._members: dict[int, _Member] = {}  # by the pipe that brings its frames
        self._frozen = count > 0  # without processes, a pool leaves the garbage collector alone
        if self._frozen:
            gc.freeze()  # the collector of a child need not touch, and so copy, what is here
        self._start(count)

    def run(self, tasks: Iterator[Any], is_near: Callable[[Any], bool] = lambda _: False) -> Iterator[tuple[Any, Any]]:
        """Yield (task, frame) as frames come; None is a task's last frame, DIED if its process died.

        An exception among the frames is what ended the work on the task. Tasks that are near, and all tasks if no
        process is left, are done here.
        """
        idle = [*self._members.values()]
        busy: dict[int, _Member] = {}
        while True:
            near = _hand_out(tasks, idle, busy, is_near)
            if near is None and not busy:
                return
            for pipe in select.select(list(busy), [], [])[0] if near is None else ():
                member = busy[pipe]
                task = member.task
                for frame, last in member.arrived():
                    if last:
                        del busy[pipe]
                        idle += [member] if frame is not DIED else self._replaced(member)
                        near = near or _hand_out(tasks, idle, busy, is_near)  # the caller may take long over the frame
                    if frame is not None:
                        yield task, frame
                    if last and frame is not DIED:
                        yield task, None
            if near is not None:
                yield from ((near, frame) for frame, _ in _answer(self._work, near) if frame is not None)
                yield near, None

    def _replaced(self, member: _Member) -> list[_Member]:
        del self._members[member.frames]
        member.close()
        return self._start(1) if self._renewed else []

    def _start(self, count: int) -> list[_Member]:
        """Start processes and add them to the members.

        A signal waits until every process is known here and knows how to handle it.
        """
        held: set[int] = {*signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)} if count else set()
        started = []
        try:
            for _ in range(count):
                member = _Member(self._work, held)
                self._members[member.frames] = member
                started.append(member)
        finally:
            if count:
                signal.pthread_sigmask(signal.SIG_SETMASK, held)
        return started

    def close(self) -> None:
        """End the processes, whatever they are doing: they clean up and report nothing."""
        if self._frozen:
            gc.unfreeze()
        members, self._members = self._members, {}
        for member in members.values():
            member.close()


def _hand_out(
    tasks: Iterator[Any], idle: list[_Member], busy: dict[int, _Member], is_near: Callable[[Any], bool]
) -> Any:  # fmt: skip
    """Give tasks to idle processes; return one that is to be done here."""
    while (idle or not busy) and (task := next(tasks, None)) is not None:
        if not idle or is_near(task):
            return task
        member = idle.pop()
        busy[member.frames] = member
        member.begin(task)
    return None


class _Member:
    """One process: the pipe for tasks, and the one for frames."""

    def __init__(self, work: Work, held: set[int]) -> None:
        taking, self._tasks = os.pipe()
        self.frames, sending = os.pipe()
        _widen(sending)
        self.task: Any = None
        self._coming = bytearray()
        self._process = os.fork()
        if self._process == 0:
            os.close(self._tasks)
            os.close(self.frames)
            _serve(work, taking, sending, held)
        os.close(taking)
        os.close(sending)

    def begin(self, task: Any) -> None:
        """Give the process a task; if it is dead, that is noticed when its frames are waited for."""
        self.task = task
        with contextlib.suppress(BrokenPipeError):
            _send(self._tasks, task)

    def arrived(self) -> Iterator[tuple[Any, bool]]:
        """Yield the frames that have arrived completely, and whether each is the last; DIED if no more will come."""
        chunk = os.read(self.frames, _CHUNK)
        if not chunk:
            yield DIED, True
            return
        self._coming += chunk
        while len(self._coming) >= _LENGTH:
            end = _LENGTH + int.from_bytes(self._coming[:_LENGTH], "little")
            if len(self._coming) < end:
                return
            frame = pickle.loads(bytes(self._coming[_LENGTH:end]))
            del self._coming[:end]
            yield frame

    def close(self) -> None:
        os.close(self._tasks)
        os.close(self.frames)
        os.kill(self._process, signal.SIGTERM)  # not waited for yet: the number still belongs to it
        os.waitpid(self._process, 0)


def _widen(pipe: int) -> None:
    """Let a pipe hold more, if the system and memory allow it."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _AHEAD)


def _serve(work: Work, taking: int, sending: int, held: set[int]) -> None:
    """Answer tasks until there are no more; never returns."""
    code = 1
    try:
        for stop in _STOPS:
            signal.signal(stop, _leave)
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        with open(taking, "rb") as tasks:
            while head := tasks.read(_LENGTH):
                task = pickle.loads(tasks.read(int.from_bytes(head, "little")))
                for answer in _answer(work, task):
                    _send(sending, answer)
        code = 0
    except (SystemExit, OSError, EOFError):
        pass  # told to stop, or nobody listens any more
    finally:
        os._exit(code)  # this process must not flush or clean up anything of its parent


def _leave(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def _answer(work: Work, task: Any) -> Iterator[tuple[Any, bool]]:
    """Yield the frames of a task, and whether each is the last; a bug of ours costs only this task."""
    before: list[Any] = []
    try:
        for frame in work(task):
            yield from ((each, False) for each in before)
            before = [frame]
    except Exception as error:
        yield from ((each, False) for each in before)
        before = [error]
    yield from ((each, True) for each in before or [None])


def _send(pipe: int, value: object) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    left = memoryview(len(data).to_bytes(_LENGTH, "little") + data)
    while left:
        left = left[os.write(pipe, left) :]


def spread(work: Callable[[int], Result], first_to_last: Sequence[int], count: int) -> Spread[Result]:
    """Yield the results of `work(0)`, `work(1)`, …, started in the order given; DIED if a process was killed.

    Whatever ends the iteration also ends the processes.
    """

    def frames(number: int) -> Iterator[tuple[Result]]:
        yield (work(number),)  # a result may be None, which as a frame would mean the end

    pool = Pool(frames, count, renewed=True)
    try:
        results = ((number, frame) for number, frame in pool.run(iter(first_to_last)) if frame is not None)
        yield from _in_order(results, len(first_to_last))
    finally:
        pool.close()


def _in_order(results: Iterator[tuple[int, object]], count: int) -> Iterator[object]:
    early: dict[int, object] = {}
    for number in range(count):
        while number not in early:
            finished, result = next(results)
            early[finished] = result
        result = early.pop(number)
        if isinstance(result, Exception):
            raise result
        yield result[0] if isinstance(result, tuple) else result
