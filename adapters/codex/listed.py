"""What the client's list of sessions says about one of them: the names that a person gave it.

`session_index.jsonl` is in the client's home, beside the folders of rollouts. A line is added whenever a person names a
session, and the last one counts. No rollout holds the name.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from pond.model.compressed import SUFFIX
from pond.model.json_text import JsonObject, NotJson, decode_unproved, encode

FILE = "session_index.jsonl"
_FOLDERS = ("sessions", "archived_sessions")
_ID = 36  # length of a UUID, which ends the name of a rollout


def entries(path: Path) -> tuple[JsonObject, ...]:
    """Return the lines of the list about the session of this rollout, each once, in order."""
    text = os.path.abspath(path)  # as text: some stores have many thousand files
    end = max(text.rfind(f"{os.sep}{name}{os.sep}") for name in _FOLDERS)
    if end < 0:
        return ()
    file = f"{text[:end]}{os.sep}{FILE}"
    try:
        found = os.stat(file)
    except OSError:
        return ()
    stem = path.name.removesuffix(SUFFIX).removesuffix(".jsonl")
    return _listed(file, found.st_size, found.st_mtime_ns).get(stem[-_ID:], ())


@lru_cache(maxsize=4)
def _listed(path: str, size: int, mtime_ns: int) -> dict[str, tuple[JsonObject, ...]]:
    """Return the lines of a list by the session they name; it is read again when it has changed."""
    found: dict[str, dict[bytes, JsonObject]] = {}
    try:
        with open(path, "rb") as file:
            for line in file:
                entry = _entry(line)
                if entry is not None:
                    found.setdefault(entry["id"], {}).setdefault(encode(entry), entry)
    except OSError:
        return {}
    return {id: tuple(lines.values()) for id, lines in found.items()}


def _entry(line: bytes) -> JsonObject | None:
    """Return a line that names a session; like the client, ignore all others."""
    try:
        value = decode_unproved(line.strip(), lambda _: None)
    except NotJson:
        return None
    named = type(value) is dict and type(value.get("id")) is str and type(value.get("thread_name")) is str
    return value if named else None
