"""What the lake remembers about each source, and what that says about its current state.

Only what is stored in the lake identifies a source: a new lake knows none.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import xxhash

from pond.codec.finding import FoundSource
from pond.codec.fingerprint import beside_state
from pond.codec.registry import CANONICAL, adapter, clients
from pond.codec.source import Cursor, Opened
from pond.diagnostics.diagnostic import PondError
from pond.model.json_text import JsonObject, encode

SOURCE = "source"
_STORED_NAMES = {"checkpoint": "mark"}  # fields with another name in existing lakes
_FIELDS = {stored: name for name, stored in _STORED_NAMES.items()}


class Change(Enum):
    """What happened to a source since it was last read."""

    NEW = "new"
    UNCHANGED = "unchanged"
    GROWN = "grown"  # what was read is unchanged
    REWRITTEN = "rewritten"  # replaced, cut off, or changed in the part that had been read


@dataclass(frozen=True, slots=True)
class State:
    """A source when it was last read, to its end."""

    path: str
    host: str
    size: int
    mtime_ns: int  # or another stamp of the store
    end: Cursor  # the fingerprint covers everything before it
    fingerprint: str
    beside: str
    client: str | None  # None: no adapter recognised it
    reader: str  # what read it: the mapping's number, or the clients known at the time
    sessions: list[str] = field(default_factory=list)  # their stored ids
    checkpoint: JsonObject | None = None
    records: int = 0
    problems: list[JsonObject] = field(default_factory=list)  # diagnostics, as `diagnostics.render` prints them
    drift: dict[str, int] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        # Shallow: there is one for each file.
        return {_STORED_NAMES.get(name, name): getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, value: JsonObject) -> State:
        """Return the state from the value that `as_json` made."""
        return cls(**{_FIELDS.get(name, name): field for name, field in value.items()})


def source_id(path: Path, key: str = "") -> str:
    """Return the key of a source's note: the same path on another machine is another source."""
    return f"{platform.node()}:{os.path.abspath(path)}" + (f"#{key}" if key else "")


def reader_of(client: str | None) -> str:
    """Return what reads the files of a client now; new clients look again at what no client recognised."""
    if client is None:
        return ",".join(clients())
    return CANONICAL if client == CANONICAL else str(adapter(client).module.MAP)


def _beside(client: str | None, path: Path) -> str:
    """Return a digest of what belongs to a session but is in other files; empty if there is nothing."""
    if client is None or client not in clients():
        return ""
    owner = adapter(client)
    listed = owner.listed(path)
    return beside_state(path, owner.module.BESIDE) + (xxhash.xxh3_64_hexdigest(encode([*listed])) if listed else "")


def change_of(found: FoundSource, state: State | None, kept: KeptOpen) -> Change:
    """Tell what happened to a source; only a changed one is opened, and kept open if it grew."""
    if state is None or state.reader != reader_of(state.client):
        return Change.NEW if state is None else Change.GROWN
    assert found.path is not None
    look = found.look()
    if (look.size, look.stamp) == (state.size, state.mtime_ns):
        return Change.UNCHANGED if _beside(state.client, found.path) == state.beside else Change.GROWN
    if look.size <= state.size:  # a source of the same size with a new date may have been changed anywhere
        return Change.REWRITTEN
    return Change.GROWN if _begins_as_before(found, state, kept) else Change.REWRITTEN


class KeptOpen:
    """A source that is open in this process, so that reading it here need not open it again."""

    def __init__(self) -> None:
        self._opened: Opened | None = None

    def __reduce__(self) -> tuple[type[KeptOpen], tuple[()]]:
        return KeptOpen, ()  # an open file cannot be passed to another process

    def keep(self, opened: Opened) -> None:
        """Hold it open until it is taken or no longer needed."""
        self._opened = opened

    def drop(self) -> None:
        """Close it: it will not be read now."""
        if (opened := self.take()) is not None:
            opened.close()

    def take(self) -> Opened | None:
        """Return what is open, for the caller to close."""
        opened, self._opened = self._opened, None
        return opened


def _begins_as_before(found: FoundSource, state: State, kept: KeptOpen) -> bool:
    try:
        opened = found.open()
        if opened.digest(state.end) == state.fingerprint:
            kept.keep(opened)
            return True
        opened.close()
    except (PondError, OSError):
        pass  # reported when it is read
    return False


def observed(found: FoundSource, opened: Opened, client: str | None, cursor: Cursor) -> State:
    """Return the state of an open source that was read up to a cursor; None means all that was there at first."""
    assert found.path is not None
    look, end = opened.look(), opened.end() if cursor is None else cursor
    return State(
        os.path.abspath(found.path), platform.node(), look.size, look.stamp, end, opened.digest(end),
        _beside(client, found.path), client, reader_of(client),
    )  # fmt: skip


def stores(environ: dict[str, str], names: Iterable[str]) -> list[tuple[str, Path]]:
    """Return the folders in which these clients keep their sessions on this machine, if they exist."""
    found = []
    for name in names:
        declared = adapter(name).declared().get("store")
        if declared is not None:
            home = Path(environ.get(declared["variable"]) or os.path.expanduser(declared["home"]))
            found += [(name, home / folder) for folder in declared["folders"] if (home / folder).is_dir()]
    return found
