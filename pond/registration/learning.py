"""Lets a client write its entry itself: its own command runs in an empty home, and what it writes there is taken over.

So the form is the client's, also in a version that pond does not know, and nothing else of a person's files is read or
rewritten by it: pond puts the entry into the real file, and only the entry.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pond.diagnostics.diagnostic import PondError
from pond.registration.clients import Client, Entry
from pond.registration.files import entry_in, text_of
from pond.registration.launching import Launch

_PATIENCE = 60.0  # seconds that a client may take
_KEPT = ("PATH", "LANG", "LC_ALL", "TERM", "TMPDIR")


def learned(client: Client, launch: Launch, environ: Mapping[str, str]) -> Entry | None:
    """Return the entry that the client writes; None where it is not here, fails, or writes something else."""
    program = client.program(environ)
    words = client.add(launch) if client.add is not None else ()
    if program is None or not words:
        return None
    with tempfile.TemporaryDirectory(prefix="pond-mcp-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        own = {name: environ[name] for name in _KEPT if name in environ}
        own |= {"HOME": folder, "CI": "1", "NO_COLOR": "1", "XDG_CONFIG_HOME": str(home / ".config")}
        own |= {"XDG_DATA_HOME": str(home / "data"), "XDG_STATE_HOME": str(home / "state")}
        own |= {"XDG_CACHE_HOME": str(home / "cache")}
        try:
            done = subprocess.run(
                [program, *words], cwd=folder, env=own, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=_PATIENCE, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return None
        file = client.file(home, own)
        found = _written(client, file) if done.returncode == 0 and os.path.exists(file) else None
    return found if found is not None and _names(found, launch) else None


def _written(client: Client, file: Path) -> Entry | None:
    try:
        return entry_in(client, text_of(file))
    except (ValueError, PondError):
        return None


def _names(entry: object, launch: Launch) -> bool:
    """Tell whether an entry leads to pond."""
    if isinstance(entry, dict):
        return any(_names(each, launch) for each in entry.values())
    if isinstance(entry, list):
        return any(_names(each, launch) for each in entry)
    return entry == (launch.url or launch.words[0])
