"""Work spread over forked processes, as cheap to begin as the system's own `fork`.

The standard library's pool takes longer to import and to start than a small store to convert. A forked process has the
work already; what travels is one number on the way there and one result on the way back.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import tempfile
from array import array
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeAlias, TypeVar

Result = TypeVar("Result")
Spread: TypeAlias = Generator[Result | object, None, None]
DIED = object()  # the result of work whose process did not live to tell

_STOPS = (signal.SIGINT, signal.SIGTERM)
_NUMBER = array("q").itemsize
_CHUNK = 1 << 16


def spread(work: Callable[[int], Result], first_to_last: Sequence[int], count: int) -> Spread[Result]:
    """Yield the results of `work(0)`, `work(1)`, …, begun in the order given; DIED where a process was killed.

    Whatever ends the iteration ends the processes too: they unwind what they were doing and say nothing.
    """
    with tempfile.TemporaryFile(prefix="pond-") as queue:
        # An open file has one position for all who inherited it: reading a number takes it from the queue.
        queue.write(array("q", first_to_last).tobytes())
        queue.seek(0)
        gc.freeze()  # what is here stays here: the collector of a child need not touch, and so copy, it
        children: dict[int, int] = {}  # the pipe its results come by -> process
        try:
            _start(work, queue.fileno(), count, children)

            def replace() -> list[int]:
                left = len(first_to_last) * _NUMBER - os.lseek(queue.fileno(), 0, os.SEEK_CUR)
                return _start(work, queue.fileno(), 1, children) if left > 0 else []

            yield from _in_order(_results(children, replace, len(first_to_last)), len(first_to_last))
        finally:
            gc.unfreeze()
            for pipe, process in children.items():
                os.close(pipe)
                os.kill(process, signal.SIGTERM)  # not yet waited for: the number is still its own
                os.waitpid(process, 0)


def _start(work: Callable[[int], object], queue: int, count: int, children: dict[int, int]) -> list[int]:
    """Start processes and take them among the children; return their pipes.

    A signal waits until every process is known here, and knows there what to do about it.
    """
    held = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    started = []
    try:
        for _ in range(count):
            pipe, process = _fork(work, queue, held)
            children[pipe] = process
            started.append(pipe)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    return started


def _in_order(results: Iterator[tuple[int, object]], count: int) -> Iterator[object]:
    early: dict[int, object] = {}
    for number in range(count):
        while number not in early:
            try:
                finished, result = next(results)
            except StopIteration:  # nobody is left to do it
                early[number] = DIED
            else:
                early[finished] = result
        result = early.pop(number)
        if isinstance(result, Exception):
            raise result
        yield result


def _results(children: dict[int, int], replace: Callable[[], list[int]], most: int) -> Iterator[tuple[int, object]]:
    """Yield (number, result) as they come, until the last process has closed its pipe.

    A process that died is replaced while there is work, at the most so often: what it died of costs nothing else.
    """
    coming = {pipe: bytearray() for pipe in children}
    while coming:
        for pipe in select.select(list(coming), [], [])[0]:
            chunk = os.read(pipe, _CHUNK)
            if not chunk:
                del coming[pipe]
                if most > 0:
                    most -= 1
                    coming |= {new: bytearray() for new in replace()}
                continue
            waiting = coming[pipe]
            waiting += chunk
            while len(waiting) >= _NUMBER:
                end = _NUMBER + int.from_bytes(waiting[:_NUMBER], "little")
                if len(waiting) < end:
                    break
                yield pickle.loads(bytes(waiting[_NUMBER:end]))
                del waiting[:end]


def _fork(work: Callable[[int], object], queue: int, held: set[int]) -> tuple[int, int]:
    """Start a process; return the pipe its results come by, and its number."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return reading, process
    code = 1
    try:
        for stop in _STOPS:
            signal.signal(stop, _leave)
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        os.close(reading)
        with open(writing, "wb") as out:
            while taken := os.read(queue, _NUMBER):
                number = array("q", taken)[0]
                result = pickle.dumps((number, _done(work, number)), pickle.HIGHEST_PROTOCOL)
                out.write(len(result).to_bytes(_NUMBER, "little") + result)
                out.flush()
        code = 0
    except (SystemExit, OSError):
        pass  # told to stop, or nobody listens any more
    finally:
        os._exit(code)  # nothing of the parent's is this process's to flush or to clean up


def _done(work: Callable[[int], object], number: int) -> object:
    try:
        return work(number)
    except Exception as error:  # a fault of the program: the parent raises it
        return error


def _leave(number: int, _: object) -> None:
    raise SystemExit(128 + number)
