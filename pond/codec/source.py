"""The interface between clients' stores and the engine: what a source of records can be asked, whatever holds them.

A source holds the records of one session, or canonical text. Nothing above it knows a byte offset or a suffix
(adapter-transport-agnostic-seam): a place is a number that only its source understands, and so is a cursor. Records are
JSON text here, one line each, because the fast code of the engine compares and passes on text. `codec/lines.py`,
`codec/document.py` and `codec/client_store.py` implement it; the last one serves stores that an adapter brings along in
its folder.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

from pond.codec.report import Report
from pond.model.json_text import NOT_PLAIN, Json, NotJson, decode_plain, decode_unproved

BEGINNING = 8  # records
NOT_JSON = object()
BLANK = b"\r\n \t"


# The number of its first line, the place of each (and more), and the lines.
LineBlock = tuple[int, Iterable[int], list[bytes]]
Cursor = Json  # where a reading ended; only the source that made it understands it


class NeedsWhole(Exception):
    """Only a reading of the whole source can decide; says why."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a store shows a source without reading it: its size, and a number that changes with it."""

    size: int = 0
    stamp: int = 0


def whole_line(raw: bytes) -> bytes | None:
    """Return a line without surrounding blanks and with its line feed; None if it is blank."""
    if raw[-2:] == b"}\n":
        return raw  # unchanged: no copy in the common case
    text = raw.strip(BLANK)
    return text + b"\n" if text else None


class Source(Protocol):
    """Something with records in it, readable more than once."""

    name: str
    path: Path | None
    form: str
    key: str  # which session of its store it is; empty if the store holds one

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield (place, line number, text) for every line that is not blank; the text ends with its line feed."""

    def blocks(self) -> Iterator[LineBlock]:
        """Yield the raw lines, many at a time; `whole_line` says what `lines` makes of each."""

    def line_at(self, place: int) -> bytes:
        """Return the line that `lines` gave for this place."""

    def lines_with(self, needle: bytes) -> Iterator[bytes]:
        """Yield the lines that contain `needle`."""

    def head_lines(self, may_hold: Callable[[bytes], bool]) -> Iterator[bytes]:
        """Yield the lines near the beginning, unless what follows the first ones cannot hold what is wanted."""

    def first_lines(self) -> list[bytes]:
        """Return the first lines, to look at."""

    def first_values(self) -> Iterator[Json]:
        """Yield the value of each of the first lines, to look at; NOT_JSON where it has none."""

    def last_line(self) -> bytes | None:
        """Return the last line that is not blank, as `lines` gives it."""

    def take_values(self) -> dict[int, Json]:
        """Return what `decode_plain` gave for the first lines, by their places, to keep; the source forgets it."""

    def cursor(self, fault: int, place: int) -> tuple[Cursor, int] | None:
        """Return, when all lines were read, where a later reading continues, and how many lines were complete.

        The line with the number `fault`, at `place`, is the last one that could not be read: one that is still being
        written is read when it is complete. None if a later reading must start from the beginning.
        """

    def after(self, cursor: Cursor, lines: int) -> Iterator[LineBlock]:
        """Yield the lines after a cursor, which this many lines precede; raise NeedsWhole if it leads nowhere."""


class Opened(ABC):
    """An open source: gives its records, and tells whether they are still the same."""

    def __init__(self, name: str, path: Path | None, key: str = "", client: str | None = None) -> None:
        self.name, self.path = name, path  # its name in diagnostics, and its file
        self.key = key  # which session of its store it is; empty if the store holds one
        self.client = client  # if the store itself says so

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Close it."""

    @abstractmethod
    def sources(self, report: Report) -> Iterator[Source]:
        """Yield the ways to see its records, the likeliest first."""

    @abstractmethod
    def look(self) -> Look:
        """Return how the store shows it."""

    @abstractmethod
    def end(self) -> Cursor:
        """Return the cursor after everything that was there when it was opened."""

    @abstractmethod
    def digest(self, cursor: Cursor) -> str:
        """Return a digest of what is before a cursor; the cost does not depend on the size."""

    @abstractmethod
    def size_before(self, cursor: Cursor) -> int:
        """Return the size of what is before a cursor, as `look` counts it."""

    @abstractmethod
    def has_record(self) -> bool:
        """Tell whether it has a complete record: one that is being written may have none yet."""


class Beginning(ABC):
    """The first lines of a source, read and decoded once: for everyone who looks at them, and for the reader after
    them.
    """

    def __init__(self) -> None:
        self._first: list[bytes] | None = None
        self._places: list[int] = []
        self._values: list[Json] = []  # what `decode_plain` gave for those that were looked at

    @abstractmethod
    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the lines, as `Source` says."""

    def first_lines(self) -> list[bytes]:
        if self._first is None:
            opening = list(islice(self.lines(), BEGINNING))
            self._first, self._places = [line for _, _, line in opening], [place for place, _, _ in opening]
        return self._first

    def first_values(self) -> Iterator[Json]:
        """Yield the values of the first lines; read only, and without a proof that keys are unique."""
        lines, values = self.first_lines(), self._values
        for index, line in enumerate(lines):
            if index == len(values):
                # The first one usually shows the client. A caller who wants to know more looks at all of them.
                values += map(decode_plain, lines[index:] if index else lines[:1])
            value = values[index]
            yield value if value is not NOT_PLAIN else value_of(line)

    def last_line(self) -> bytes | None:
        last = None
        for _, _, last in self.lines():  # noqa: B007 - the last one is what is wanted
            pass
        return last

    def take_values(self) -> dict[int, Json]:
        taken = dict(zip(self._places, self._values, strict=False))  # not all were looked at
        self._first, self._places, self._values = None, [], []
        return taken


def value_of(line: bytes) -> Json:
    try:
        return decode_unproved(line, ignore_duplicate)
    except NotJson:
        return NOT_JSON


def ignore_duplicate(_: str) -> None:
    """Duplicate keys are reported when the line is read in its turn."""
