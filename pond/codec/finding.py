"""Which sources a caller's inputs mean: files, folders of clients, or standard input. All commands use this."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from pond.codec.client_store import OpenSession, client_of_store, sessions_in
from pond.codec.files import open_regular
from pond.codec.openfile import OpenFile
from pond.codec.report import Report
from pond.codec.session_files import SessionFiles
from pond.codec.source import Look, Opened

_MOST_LISTED = 5  # names in one message


@dataclass(frozen=True, slots=True)
class FoundSource:
    """One source: where it is, its name, and its place in the directory in which it was found."""

    path: Path | None  # None is standard input
    name: str
    folder: Path | None = None
    number: int = 0
    child: bool = False  # not named by the caller; belongs to a session that was
    client: str | None = None  # if the caller or the store says so
    key: str = ""  # of one session in a store that holds many
    seen: Look | None = None  # how it looked when it was found, if somebody looked
    spool: Path | None = None  # a copy of standard input, to be opened more than once

    @property
    def size(self) -> int:
        return self.look().size

    def look(self) -> Look:
        """Return how the store shows it; None if it cannot be looked at, which is reported when it is opened."""
        if self.seen is not None or self.path is None:
            return self.seen or Look()
        try:
            found = os.stat(self.path)
        except OSError:
            return Look()
        return Look(found.st_size, found.st_mtime_ns)

    def date(self) -> float | None:
        """Return when the input was last written, if it is a file."""
        return os.stat(self.path).st_mtime if self.path is not None else None

    def open(self) -> Opened:
        """Open the source; what cannot be read twice (standard input, a pipe) is first copied to a temporary file."""
        if self.key and self.path is not None and self.client is not None:
            return OpenSession(self.client, self.path, self.key, self.name)
        return OpenFile.unpacked(self._open(), self.name, self.path)

    def _open(self) -> BinaryIO:
        if self.path is None:
            return _spool(sys.stdin.buffer) if self.spool is None else open_regular(self.spool)
        if self.folder is None and _is_pipe(self.path):
            with open(self.path, "rb") as pipe:
                return _spool(pipe)
        return open_regular(self.path)


def _is_pipe(path: Path) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


def _spool(stream: BinaryIO) -> BinaryIO:
    file = tempfile.TemporaryFile(prefix="pond-")  # noqa: SIM115 - the caller closes it
    shutil.copyfileobj(stream, file, 1 << 20)
    file.seek(0)
    return cast(BinaryIO, file)


def expand(inputs: list[str], report: Report) -> list[FoundSource]:
    """Return the sources that the inputs mean; report missing ones, and if there are none at all."""
    found = [*discover(((text, None) for text in inputs), report)]
    if not found and not report.errors:
        report.nothing_found(inputs)
    return [replace(each, number=number) for number, each in enumerate(found)]


def discover(inputs: Iterable[tuple[str, str | None]], report: Report) -> Iterator[FoundSource]:
    """Yield the sources that the inputs mean, each with its client if known; report missing ones."""
    for text, client in inputs:
        path = Path(text)
        if text == "-":
            yield FoundSource(None, "<stdin>", client=client)
        elif path.is_dir():
            for file in find_files(path, report):
                yield from _held(FoundSource(file, str(file), path, client=client), report)
        elif os.path.lexists(path):
            yield from _held(FoundSource(path, text, client=client), report)
        else:
            report.error("source-unreadable", "no such file or directory", text)


def _held(found: FoundSource, report: Report) -> Iterator[FoundSource]:
    """Yield the sources of a file: itself, or each session of a store that holds many."""
    assert found.path is not None
    keeper = client_of_store(found.path)
    if keeper is None:
        yield found
        return
    try:
        held = sessions_in(keeper, found.path)
    except OSError as error:
        report.error("source-unreadable", (error.strerror or str(error)).lower(), found.name)
        return
    for key, look in held:
        yield replace(found, name=f"{found.name}#{key}", client=keeper, key=key, seen=look)


def find_files(directory: Path, report: Report) -> Iterator[Path]:
    """Yield the session files of a store, sorted; report what cannot be read. Links are not followed."""
    session_files = SessionFiles()

    def unreadable(error: OSError) -> None:
        report.error("source-unreadable", (error.strerror or "unreadable").lower(), str(error.filename))

    for folder, names, files in os.walk(directory, onerror=unreadable):
        names.sort()
        yield from (path for name in sorted(files) if (path := Path(folder, name)) in session_files)
        if files and (owner := session_files.missing_owner(folder)) is not None:
            what = f"the session of these files, `{os.path.basename(owner)}`, is not there: {_listed(files)}"
            report.error("source-orphan", what, folder)


def _listed(names: list[str]) -> str:
    shown = ", ".join(sorted(names)[:_MOST_LISTED])
    return shown + (f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else "")
