"""Sessions hold what people typed and what their tools read: what pond makes is its owner's alone."""

from __future__ import annotations

import os

_NOBODY_ELSE = 0o077


def owner_only() -> None:
    """Make every file and directory of this process private from now on; what is there keeps its mode.

    For the start of a process: a command or a server decides this once. A library must not, the umask is its caller's.
    """
    before = os.umask(_NOBODY_ELSE)
    if before & ~_NOBODY_ELSE:
        os.umask(before | _NOBODY_ELSE)  # a person may want even less
