"""A process that dies in the midst of a change: at the chosen call to the system, without a chance to tidy up."""

import os
from collections.abc import Callable
from typing import Any

from pond.pods import files

DIED, DONE, REFUSED = 9, 0, 3


class _Dying:
    """The module `os`, but the process ends at its n-th call."""

    def __init__(self, at: int) -> None:
        self._left = at

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if not callable(real) or name in ("fspath", "urandom"):
            return real

        def call(*args: object, **more: object) -> object:
            self._left -= 1
            if self._left < 0:
                os._exit(DIED)
            return real(*args, **more)

        return call


def start(change: Callable[[], object], at: int | None) -> int:
    """Start a process that makes a change and dies at a call, or not at all; return its id."""
    pid = os.fork()
    if pid:
        return pid
    code = REFUSED
    try:
        if at is not None:
            vars(files)["os"] = _Dying(at)
        change()
        code = DONE
    finally:
        os._exit(code)


def ended(pid: int) -> int:
    """Wait for a process and return its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
