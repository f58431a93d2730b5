"""Tern keeps all its rooms in one database: a row for each record, in the order in which they were said."""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

NAMES = ("*.tern",)
FORM = "tern"
SUFFIX = ".tern"
_TABLE = "CREATE TABLE said (place INTEGER PRIMARY KEY AUTOINCREMENT, room TEXT, record TEXT)"


class Rooms:
    """An open database. A record's place is its row number."""

    def __init__(self, path: Path) -> None:
        try:
            self._rows = sqlite3.connect(f"file:{path}?mode=ro", uri=True, check_same_thread=False)
            self._rows.execute("SELECT place, room, record FROM said LIMIT 1")
        except sqlite3.Error as error:
            raise OSError(str(error)) from None

    def close(self) -> None:
        self._rows.close()

    def sessions(self) -> list[str]:
        return [room for (room,) in self._rows.execute("SELECT DISTINCT room FROM said ORDER BY room")]

    def look(self, session: str) -> tuple[int, int]:
        wanted = "SELECT coalesce(sum(length(record)), 0), coalesce(max(place), 0) FROM said WHERE room = ?"
        size, last = self._rows.execute(wanted, (session,)).fetchone()
        return size, last

    def records(self, session: str, after: int) -> Iterator[tuple[int, bytes]]:
        wanted = "SELECT place, record FROM said WHERE room = ? AND place > ? ORDER BY place"
        return ((place, record.encode()) for place, record in self._rows.execute(wanted, (session, after)))

    def record(self, session: str, place: int) -> bytes:
        (record,) = self._rows.execute("SELECT record FROM said WHERE place = ?", (place,)).fetchone()
        text: bytes = record.encode()
        return text

    def digest(self, session: str, place: int) -> str:
        digest = hashlib.sha256()
        for at, record in self.records(session, 0):
            if at <= place:
                digest.update(b"%d %s\n" % (at, record))
        return digest.hexdigest()


def open_store(path: Path) -> Rooms:
    return Rooms(path)


def written(records: Iterable[bytes]) -> bytes:
    """Return a database with one room. Which one, its first record says."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "rooms.tern")
        add(place, "room", records)
        return place.read_bytes()


def add(path: Path, room: str, records: Iterable[bytes]) -> None:
    """Write records into a database, as the client does."""
    new = not path.exists()
    rows = sqlite3.connect(path)
    with rows:
        if new:
            rows.execute(_TABLE)
        rows.executemany("INSERT INTO said (room, record) VALUES (?, ?)", [(room, text.decode()) for text in records])
    rows.close()
