"""Ctrl-C and SIGTERM at moments when stopping would leave something behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_STOPS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def held() -> Iterator[Sequence[int]]:
    """Delay signals that stop the command until the end of the block; give those that came, to check meanwhile.

    Only the main thread receives signals: in other threads nothing is delayed, and none come.
    """
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    before = [(number, signal.signal(number, lambda number, _: came.append(number))) for number in _STOPS]
    try:
        yield came
    finally:
        for number, handler in before:
            signal.signal(number, handler or signal.SIG_DFL)
        if came:
            signal.raise_signal(came[0])
