"""Where the sockets of running servers lie. Every command looks there first, so this imports next to nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping


def runtime_directory(environ: Mapping[str, str]) -> str | None:
    """Return the directory of this user's sockets; None where there is no home for it."""
    for variable, below in (("XDG_RUNTIME_DIR", "pond"), ("XDG_CACHE_HOME", "pond"), ("HOME", ".cache/pond")):
        # The XDG specification: a relative path is to be ignored.
        if os.path.isabs(base := environ.get(variable, "")):
            return os.path.join(base, below)
    home = os.path.expanduser("~")
    return os.path.join(home, ".cache/pond") if os.path.isabs(home) and not environ.get("HOME") else None


def is_own(socket: str) -> bool:
    """Tell whether a socket file and its directory belong to this user, and nobody else can write there."""
    try:
        above, own = os.stat(os.path.dirname(socket)), os.lstat(socket)
    except OSError:
        return False
    return above.st_uid == own.st_uid == os.getuid() and not above.st_mode & 0o022
