"""The threads that answer: the warm one first, every one where they are needed, none lost."""

import threading
from concurrent.futures import wait

import pytest

from pond.transports.http.threads import Threads


def _settled(threads: Threads) -> None:
    """Wait until every thread has fallen idle again: a result is there a moment before."""
    while len(threads._idle) < len(threads._threads):
        pass


def test_one_request_after_the_other_is_answered_by_one_thread() -> None:
    threads = Threads(4, "test")
    together = threading.Barrier(4)
    assert len({each.result() for each in [threads.submit(_named, together) for _ in range(4)]}) == 4
    names = set()
    for _ in range(50):
        _settled(threads)
        names.add(threads.submit(threading.get_ident).result())
    assert len(names) == 1
    threads.shutdown()


def _named(together: threading.Barrier) -> int:
    together.wait(60)
    return threading.get_ident()


def test_everything_that_was_taken_is_done_before_the_end() -> None:
    threads, gate, done = Threads(3, "test"), threading.Event(), []

    def work(number: int) -> None:
        gate.wait(60)
        done.append(number)

    futures = [threads.submit(work, number) for number in range(100)]
    futures[-1].cancel()
    gate.set()
    threads.shutdown()
    wait(futures)
    assert sorted(done) == list(range(99))
    with pytest.raises(RuntimeError):
        threads.submit(work, 0)


def test_an_error_belongs_to_its_request() -> None:
    threads = Threads(1, "test")
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 // 0).result()
    assert threads.submit(lambda: 2).result() == 2
    threads.shutdown()
