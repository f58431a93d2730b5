"""What the lake remembers of each source, and what that says of the file as it is now.

A source is recognised from what is stored in the lake and from nothing else: a lake that was made anew knows none.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import xxhash

from pond.codec.fingerprint import beside_state, fingerprint
from pond.codec.registry import CANONICAL, adapter, clients
from pond.codec.source import open_regular
from pond.diagnostics.diagnostic import PondError
from pond.model.json_text import JsonObject, encode

SOURCE = "source"


class Change(Enum):
    """What became of a source since it was last read."""

    NEW = "new"
    UNCHANGED = "unchanged"
    GROWN = "grown"  # what was read stands as it stood
    REWRITTEN = "rewritten"  # replaced, cut off, or changed where it had been read


@dataclass(frozen=True, slots=True)
class State:
    """A source when it was last read, to its end."""

    path: str
    host: str
    size: int
    mtime_ns: int
    end: int  # bytes that the fingerprint covers
    fingerprint: str
    beside: str
    client: str | None  # None: no adapter recognised it
    reader: str  # what read it: the mapping's number, or the clients known then
    sessions: list[str] = field(default_factory=list)  # the ids they are stored under
    mark: JsonObject | None = None
    records: int = 0
    problems: list[JsonObject] = field(default_factory=list)  # diagnostics, as `diagnostics.render` prints them
    drift: dict[str, int] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        return {name: getattr(self, name) for name in self.__slots__}  # shallow: there is one for each file


def source_id(path: Path) -> str:
    """Return the key of a file's note: the same path on another machine is another source."""
    return f"{platform.node()}:{os.path.abspath(path)}"


def reader_of(client: str | None) -> str:
    """Return what reads the files of a client now; what nobody recognised is looked at again by new clients."""
    if client is None:
        return ",".join(clients())
    return CANONICAL if client == CANONICAL else str(adapter(client).module.MAP)


def _beside(client: str | None, path: Path) -> str:
    """Return a digest of what belongs to a session and stands in other files; nothing where there is none."""
    if client is None or client not in clients():
        return ""
    owner = adapter(client)
    listed = owner.listed(path)
    return beside_state(path, owner.module.BESIDE) + (xxhash.xxh3_64_hexdigest(encode([*listed])) if listed else "")


def change_of(path: Path, size: int, mtime_ns: int, state: State | None) -> Change:
    """Tell what became of a file; only one that is not as it was is opened."""
    if state is None or state.reader != reader_of(state.client):
        return Change.NEW if state is None else Change.GROWN
    beside = _beside(state.client, path)
    if (size, mtime_ns) == (state.size, state.mtime_ns):
        return Change.UNCHANGED if beside == state.beside else Change.GROWN
    if size <= state.size:  # a file of the same size with a new date may have been changed anywhere
        return Change.REWRITTEN
    return Change.GROWN if _begins_as_before(path, state) else Change.REWRITTEN


def _begins_as_before(path: Path, state: State) -> bool:
    try:
        with open_regular(path) as file:
            return fingerprint(file, state.end) == state.fingerprint
    except PondError:
        return False  # reported when it is read


def observed(path: Path, client: str | None, end: int | None, found: os.stat_result) -> State:
    """Return the state of a file that was read up to `end`; None is all of it, as it was when its reading began."""
    length = found.st_size if end is None else end
    with open_regular(path) as file:
        digest = fingerprint(file, length)
    return State(
        os.path.abspath(path), platform.node(), found.st_size, found.st_mtime_ns, length, digest,
        _beside(client, path), client, reader_of(client),
    )  # fmt: skip


def stores(environ: dict[str, str], names: Iterable[str]) -> list[tuple[str, Path]]:
    """Return the folders in which these clients keep their sessions on this machine, where there are any."""
    found = []
    for name in names:
        declared = adapter(name).declared().get("store")
        if declared is not None:
            home = Path(environ.get(declared["variable"]) or os.path.expanduser(declared["home"]))
            found += [(name, home / folder) for folder in declared["folders"] if (home / folder).is_dir()]
    return found
