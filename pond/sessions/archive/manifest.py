"""What an archive claims to hold, read without trusting any of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pond._version import __version__
from pond.model.json_text import Json, JsonObject, NotJson, decode, encode
from pond.sessions.archive.refusal import ArchiveError, shown
from pond.sessions.tables import MESSAGES, PARTS, SESSIONS

NAME = "manifest.json"
FORMAT = 1
TABLES = (SESSIONS, MESSAGES, PARTS)
MOST_MEMBERS = 50_000  # a payload above four megabytes has its own file

_VERSION = "format"  # must be checked first in every future format
_TABLES = "|".join(table.name for table in TABLES)
# The files of a fresh table. No other name is allowed, so none can lead out of the folder.
_MEMBER = re.compile(
    rf"(?P<table>{_TABLES})\.lance/"
    r"(?P<file>data/[0-9a-z]{1,64}\.lance|data/[0-9a-z]{1,64}/[0-9a-z]{1,64}\.blob|_versions/[0-9]{1,20}\.manifest)",
    re.ASCII,
)
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_LARGEST = 1 << 62


class FileEntry(NamedTuple):
    """One file: its bytes and their hash."""

    size: int
    sha256: str


class Extent(NamedTuple):
    """How much a table holds: rows, and the unpacked bytes of all their texts and payloads."""

    version: int
    rows: int
    bytes: int


@dataclass(frozen=True)
class Manifest:
    """The tables of an archive and their files."""

    tables: Mapping[str, Extent]
    members: Mapping[str, FileEntry]

    def files(self, table: str) -> list[str]:
        """Return the files of a table, by their names within it."""
        start = f"{table}.lance/"
        return [name.removeprefix(start) for name in self.members if name.startswith(start)]

    def encoded(self) -> bytes:
        """Return the manifest as text; the same for the same tables and files."""
        tables: JsonObject = {name: extent._asdict() for name, extent in sorted(self.tables.items())}
        members: JsonObject = {name: member._asdict() for name, member in sorted(self.members.items())}
        return encode({_VERSION: FORMAT, "pond": __version__, "tables": tables, "members": members}) + b"\n"


def read(text: bytes) -> Manifest:
    """Return the manifest in a text; raise ArchiveError for anything else."""
    try:
        value = decode(text, _twice)
    except NotJson as error:
        raise _broken(str(error)) from None
    if type(value) is not dict or type(value.get(_VERSION)) is not int or value[_VERSION] < 1:
        raise _broken("expected an object with the format's version")
    if value[_VERSION] > FORMAT:
        raise ArchiveError("archive-newer", f"it has format {value[_VERSION]}, this pond reads up to {FORMAT}")
    tables, members = value.get("tables"), value.get("members")
    if type(tables) is not dict or set(tables) != {table.name for table in TABLES} or type(members) is not dict:
        raise _broken(f"expected the tables {_TABLES.replace('|', ', ')} and their members")
    if len(members) > MOST_MEMBERS:
        raise ArchiveError("archive-too-large", f"it lists more than {MOST_MEMBERS} members")
    return Manifest(
        {name: Extent(*_numbers(tables[name], f"table `{name}`", Extent._fields)) for name in tables},
        {name: _member(name, about) for name, about in members.items()},
    )


def is_member(name: str) -> bool:
    """Tell whether a table's file may have this name."""
    return _MEMBER.fullmatch(name) is not None


def _member(name: str, about: Json) -> FileEntry:
    if not is_member(name):
        raise ArchiveError("archive-member", f"no table has a file `{shown(name)}`")
    (size,) = _numbers(about, f"member `{name}`", ("size",))
    digest = about.get("sha256")
    if type(digest) is not str or not _HASH.fullmatch(digest):
        raise _broken(f"expected a hash for `{name}`")
    return FileEntry(size, digest)


def _numbers(about: Json, what: str, names: tuple[str, ...]) -> list[int]:
    values = [about.get(name) for name in names] if type(about) is dict else []
    numbers = [value for value in values if type(value) is int and 0 <= value < _LARGEST]
    if len(numbers) != len(names):
        raise _broken(f"expected {', '.join(names)} of {what} as numbers")
    return numbers


def _twice(key: str) -> None:
    raise _broken(f"`{shown(key)}` is a duplicate key")


def _broken(reason: str) -> ArchiveError:
    return ArchiveError("archive-unreadable", f"its manifest: {reason}")
