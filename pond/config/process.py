"""What pond may change about the process it runs in; the role of the process decides.

A command owns its process, and so does a server, for many requests at once. A program that imports pond owns its
process itself: there pond changes nothing, neither at import nor later.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

_NOBODY_ELSE = 0o077
_M_ARENA_MAX = -8
_ARENAS = 2  # of the C library: by default it makes eight for each core, and each keeps its own peak
# Lance reads these when it is loaded: log errors only, and limit read-ahead, unless the user says otherwise.
_LANCE = {"LANCE_LOG": "error", "LANCE_DEFAULT_IO_BUFFER_SIZE": str(64 << 20)}


class Role(Enum):
    """What a process is."""

    COMMAND = "command"  # does one thing and ends
    SERVER = "server"  # answers requests in several threads
    LIBRARY = "library"  # belongs to another program


_role = Role.LIBRARY


def become(role: Role) -> None:
    """Set the role of this process, before it does anything; forked processes have the same role."""
    global _role
    _role = role
    if role is not Role.LIBRARY:
        _keep_to_the_owner()
        for name, value in _LANCE.items():
            os.environ.setdefault(name, value)


def may_fork() -> bool:
    """Tell whether work may be spread over forked processes: only in a command, and only before Lance runs threads."""
    return _role is Role.COMMAND and hasattr(os, "fork") and "lance" not in sys.modules


def bound_memory() -> None:
    """Return freed memory to the system, in this process and in those forked from it later."""
    if _role is Role.LIBRARY:
        return
    import pyarrow as pa  # slow to import, and most commands move no data

    pa.set_memory_pool(pa.system_memory_pool())
    if sys.platform == "linux":
        import ctypes

        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # not every C library has it
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, _ARENAS)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the cycle collector: events are trees and are freed at once, so searching for cycles only costs time.

    It affects all threads of a process, so only a command pauses it.
    """
    if _role is not Role.COMMAND or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _keep_to_the_owner() -> None:
    """Make every new file and directory of this process private; existing ones keep their mode.

    Sessions hold what people typed and what their tools read.
    """
    before = os.umask(_NOBODY_ELSE)
    if before & ~_NOBODY_ELSE:
        os.umask(before | _NOBODY_ELSE)  # the user's umask may be stricter
