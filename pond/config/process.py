"""Keeps a process that moves much data through its memory from holding on to what it has freed."""

from __future__ import annotations

import ctypes
import sys

import pyarrow as pa

_M_ARENA_MAX = -8
_ARENAS = 2  # of the C library: it makes eight for each core, and each keeps a peak of its own


def bound_memory() -> None:
    """Let freed memory go back to the system, in this process and in those forked from it later."""
    pa.set_memory_pool(pa.system_memory_pool())
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # not every C library has it
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, _ARENAS)
