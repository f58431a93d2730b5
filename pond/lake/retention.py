"""What clients are about to delete of their own history. Each adapter's folder describes what its client does."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pond.codec.files import open_regular
from pond.codec.registry import adapter, clients
from pond.diagnostics.diagnostic import PondError
from pond.intake.sources import source_id, stores
from pond.model.json_text import Json, JsonObject

AHEAD = 7  # days
_DAY = 24 * 3600


@dataclass(frozen=True)
class Retention:
    """What a client will delete soon, and how to stop it."""

    client: str
    days: int  # after which a session file is deleted
    due: int  # files that are deleted within a week
    unstored: list[str]  # those whose records are not all in the lake
    settings: str  # the file
    setting: str  # what to write into it
    problem: str  # what is wrong with the current value, if anything


def retentions(environ: Mapping[str, str], now: float, notes: Mapping[str, JsonObject]) -> list[Retention]:
    """Return which clients will delete session files within a week; `notes` are those of the sources by their keys."""
    found = (_retention(client, environ, now, notes) for client in clients())
    return [each for each in found if each is not None and (each.due or each.problem)]


def _retention(
    client: str, environ: Mapping[str, str], now: float, notes: Mapping[str, JsonObject]
) -> Retention | None:
    declared = adapter(client).declared().get("retention")
    folders = [folder for _, folder in stores(dict(environ), [client])]
    if declared is None or not folders:
        return None
    settings = folders[0].parent / declared["settings"]
    value = _setting(settings, declared["key"], declared["days"])
    if type(value) is not int or value < 0:
        return None  # it is not known how the client handles that
    due = list(_due(folders, declared["files"], now - (value - AHEAD) * _DAY)) if value else []
    unstored = [str(path) for path, size in due if not _is_stored(notes.get(source_id(path)), size)]
    line = f'"{declared["key"]}": {declared["keep"]}'
    problem = "" if value else f"`{declared['key']}` is 0: {declared['zero']}"
    return Retention(client, value, len(due), unstored, str(settings), line, problem)


def _is_stored(note: JsonObject | None, size: int) -> bool:
    """Tell whether all records of a file are in the lake: its current state was read, and nothing was refused."""
    return (
        note is not None
        and note["size"] == size
        and not any(problem["severity"] == "error" for problem in note["problems"])
    )


def _setting(settings: Path, key: str, default: int) -> Json:
    """Return the value that a client finds in its settings; None if they cannot be read."""
    if not settings.exists():
        return default
    try:
        with open_regular(settings) as file:
            found = json.load(file)
    except (PondError, OSError, ValueError, RecursionError):
        return None
    return found.get(key, default) if isinstance(found, dict) else None


def _due(folders: Iterable[Path], files: str, before: float) -> Iterable[tuple[Path, int]]:
    """Yield the files that were last changed before then, and their sizes."""
    for folder in folders:
        for path in sorted(folder.glob(files)):
            try:
                found = os.stat(path)
            except OSError:
                continue
            if found.st_mtime < before:
                yield path, found.st_size
