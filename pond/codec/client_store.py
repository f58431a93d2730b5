"""Sources in stores that an adapter brings along: one store, such as a database, holds many sessions.

The module `store.py` of an adapter's folder has what `StorePart` and `ClientStore` name, and imports nothing from the
engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Protocol, cast

from pond.codec.registry import Adapter, adapter, clients, part_of
from pond.codec.report import Report
from pond.codec.source import Beginning, Cursor, LineBlock, Look, NeedsWhole, Opened, Source

_AT_ONCE = 500  # records of a block


class ClientStore(Protocol):
    """An open store. Sessions have keys, records have places: numbers that grow from record to record."""

    def close(self) -> None:
        """Close it."""

    def sessions(self) -> list[str]:
        """Return the keys of the sessions it holds, sorted."""

    def look(self, session: str) -> tuple[int, int]:
        """Return the size of a session and a number that changes with it; nothing is read for this."""

    def records(self, session: str, after: int) -> Iterator[tuple[int, bytes]]:
        """Yield (place, JSON text) of each record after a place, in order; all records are after 0."""

    def record(self, session: str, place: int) -> bytes:
        """Return the JSON text of the record at a place."""

    def digest(self, session: str, place: int) -> str:
        """Return a digest of the records up to and including a place."""


class StorePart(Protocol):
    """What the part `store.py` of an adapter offers."""

    NAMES: tuple[str, ...]  # patterns of the files that are such stores
    FORM: str  # the mark of sessions from such a store
    SUFFIX: str  # of a file that holds one session

    def open_store(self, path: Path) -> ClientStore:
        """Open a store; raise OSError if that fails."""

    def written(self, records: Iterable[bytes]) -> bytes:
        """Return a store in the client's own form that holds one session with these records."""


def store_part(owner: Adapter) -> StorePart | None:
    """Return the store module of an adapter whose client keeps many sessions in one store, if there is one."""
    return cast("StorePart | None", part_of(owner, "store"))


@cache
def _parts() -> tuple[tuple[str, StorePart], ...]:
    found = ((client, store_part(adapter(client))) for client in clients())
    return tuple((client, part) for client, part in found if part is not None)


def client_of_store(path: Path) -> str | None:
    """Return the client to whose store a file belongs, by its name; None for any other file."""
    return next((client for client, part in _parts() if any(fnmatch(path.name, name) for name in part.NAMES)), None)


def sessions_in(client: str, path: Path) -> list[tuple[str, Look]]:
    """Return the keys and the looks of the sessions in a store; raise OSError if it cannot be read."""
    store = _opened(client, path)
    try:
        return [(key, Look(*store.look(key))) for key in store.sessions()]
    finally:
        store.close()


def _opened(client: str, path: Path) -> ClientStore:
    part = store_part(adapter(client))
    assert part is not None
    return part.open_store(path)


class OpenSession(Opened):
    """One session of a store. Its cursors are the places of records."""

    def __init__(self, client: str, path: Path, key: str, name: str) -> None:
        super().__init__(name, path, key, client)
        self._part = store_part(adapter(client))
        self._store = _opened(client, path)
        self._look = Look(*self._store.look(key))

    def close(self) -> None:
        self._store.close()

    def sources(self, report: Report) -> Iterator[Source]:
        assert self._part is not None
        yield KeptSource(self._store, self.key, self.name, self.path, self._part.FORM)

    def look(self) -> Look:
        return self._look

    def end(self) -> Cursor:
        return self._look.stamp

    def digest(self, cursor: Cursor) -> str:
        return self._store.digest(self.key, cursor)

    def size_before(self, cursor: Cursor) -> int:
        return self._look.size

    def has_record(self) -> bool:
        return next(self._store.records(self.key, 0), None) is not None


class KeptSource(Beginning):
    """The records of one session of a store, as lines for the engine."""

    def __init__(self, store: ClientStore, key: str, name: str, path: Path | None, form: str) -> None:
        super().__init__()
        self.name, self.path, self.key, self.form = name, path, key, form
        self._store = store
        self._end = (0, 0)  # the place of the last record read, and how many there were

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        for number, (place, text) in enumerate(self._store.records(self.key, 0), 1):
            yield place, number, text + b"\n"

    def blocks(self) -> Iterator[LineBlock]:
        return self.after(0, 0)

    def after(self, cursor: Cursor, lines: int) -> Iterator[LineBlock]:
        if type(cursor) is not int:
            raise NeedsWhole("the checkpoint is of another kind of store")
        self._end = cursor, lines
        records = self._store.records(self.key, cursor)
        while block := [record for record, _ in zip(records, range(_AT_ONCE), strict=False)]:
            first = self._end[1] + 1
            yield first, [place for place, _ in block], [text + b"\n" for _, text in block]
            self._end = block[-1][0], first + len(block) - 1

    def cursor(self, fault: int, place: int) -> tuple[Cursor, int] | None:
        return self._end

    def line_at(self, place: int) -> bytes:
        return self._store.record(self.key, place)

    def lines_with(self, needle: bytes) -> Iterator[bytes]:
        return (line for _, _, line in self.lines() if needle in line)

    def head_lines(self, may_hold: Callable[[bytes], bool]) -> Iterator[bytes]:
        return (line for _, _, line in self.lines())
