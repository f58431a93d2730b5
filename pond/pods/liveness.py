"""Whether children are alive. They are asked, each for a bounded time; what a record says of them is a hint."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pond.types import PodChild

_AT_ONCE = 64  # children asked at the same time
_PAUSE = 0.01


# What became of a child: `missing`, it has no socket; `stopped`, its socket is there and nobody listens; `unreachable`,
# it did not answer in time, or could not be asked.
Liveness = Literal["alive", "missing", "stopped", "unreachable"]
Ask = Callable[["PodChild", float], Liveness]
"""Asks one child for at most so many seconds."""


def by_socket(child: PodChild, seconds: float) -> Liveness:
    """Ask a child by connecting to its socket; nothing is sent."""
    path = child.get("socket_path")
    if path is None:
        return "missing"
    end = time.monotonic() + seconds
    while True:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
                client.settimeout(max(end - time.monotonic(), _PAUSE))
                client.connect(path)
            return "alive"
        except FileNotFoundError:
            return "missing"
        except ConnectionRefusedError:
            return "stopped"
        except BlockingIOError:  # it listens, and has more callers waiting than it takes
            if time.monotonic() > end:
                return "unreachable"
            time.sleep(_PAUSE)
        except (OSError, ValueError):  # no answer in time; or no path that could be a socket's
            return "unreachable"


def asked(children: Sequence[PodChild], ask: Ask, seconds: float) -> dict[str, Liveness]:
    """Return what became of each child. One that does not answer in time is unreachable, however it was asked."""
    found: dict[str, Liveness] = {}
    for start in range(0, len(children), _AT_ONCE):
        found |= _together(children[start : start + _AT_ONCE], ask, seconds)
    return found


def _together(children: Sequence[PodChild], ask: Ask, seconds: float) -> dict[str, Liveness]:
    answers: dict[str, Liveness] = {}
    failed: list[BaseException] = []

    def run(child: PodChild) -> None:
        try:
            answers[child["name"]] = ask(child, seconds)
        except BaseException as error:  # raised below, in the thread that asked
            failed.append(error)

    threads = [threading.Thread(target=run, args=(child,), daemon=True) for child in children]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 2 * seconds  # the time each is given, and as much again to come to its answer
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    for error in failed:
        raise error
    given = dict(answers)  # an answer now is too late
    return {child["name"]: given.get(child["name"], "unreachable") for child in children}
