"""Files that appear complete or not at all, and never replace another."""

from __future__ import annotations

import contextlib
import filecmp
import os
from pathlib import Path
from typing import BinaryIO

from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span

ELSEWHERE = "choose another file, or move this one away"
_BUFFER = 1 << 18  # a record is a few kilobytes; the system is asked once for many of them


class NewFile:
    """A file that gets its name when it is complete; a failure leaves nothing behind.

    `with NewFile(path) as out: …` gives it its final name at the end. An existing file with the same bytes is left
    alone (a second run changes nothing); one with other bytes is an error.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._named: str | None = None  # the temporary name, if the system has no unnamed files

    def __enter__(self) -> BinaryIO:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = _nameless(self.path.parent)
            if handle is None:
                handle, self._named = _named(self.path.parent)
        except OSError as error:
            raise failed(self.path, error) from None
        self._file = os.fdopen(handle, "wb", _BUFFER)
        return self._file

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        try:
            if kind is None:
                self._file.flush()
                self._put(self._named or f"/proc/self/fd/{self._file.fileno()}")
        except OSError as failure:
            raise failed(self.path, failure) from None
        finally:
            with contextlib.suppress(OSError):
                self._file.close()
            if self._named is not None:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self._named)
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            raise failed(self.path, error) from None

    def _put(self, written: str) -> None:
        try:
            # Fails if something is there: no race, no overwriting. The link in /proc is the open file, and Python asks
            # the system to follow it only if a directory is given (which is not used).
            os.link(written, self.path, src_dir_fd=self._file.fileno(), follow_symlinks=self._named is None)
        except FileExistsError:
            _refuse_another(written, self.path)
        except OSError:
            if self._named is None or os.path.lexists(self.path):
                raise
            os.rename(self._named, self.path)  # a file system without hard links


class HeldFile:
    """A file that is written now and gets its name later, or never: `release` gives it one. A failure leaves nothing.

    `location` is its future name, for error messages.
    """

    def __init__(self, folder: Path, location: str) -> None:
        self._folder, self._location = folder, location

    def __enter__(self) -> tuple[BinaryIO, Path]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, name = _named(self._folder)
        except OSError as error:
            raise failed(self._location, error) from None
        self._file, self._path = os.fdopen(handle, "wb", _BUFFER), Path(name)
        return self._file, self._path

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        try:
            self._file.close()
        except OSError as failure:
            kind, error = OSError, failure
        if kind is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            raise failed(self._location, error) from None


def release(held: Path, path: Path) -> None:
    """Give a held file its name, as `NewFile` does."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(held, path)
        except FileExistsError:
            _refuse_another(str(held), path)
        except OSError:
            if os.path.lexists(path):
                raise
            os.rename(held, path)  # a file system without hard links
        with contextlib.suppress(FileNotFoundError):
            held.unlink()
    except OSError as error:
        raise failed(path, error) from None


def _refuse_another(written: str, path: Path) -> None:
    if not path.is_file() or not filecmp.cmp(written, path, shallow=False):
        what = "a different file already exists; nothing was overwritten"
        raise SourceFault(Diagnostic("output-exists", what, Span(str(path), 0), help=ELSEWHERE)) from None


def _nameless(folder: Path) -> int | None:
    """Open a file without a name, which even a killed process does not leave behind; None if that is not possible."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError:
        return None  # not on this file system; or the attempt with a name reports the reason


def _named(folder: Path) -> tuple[int, str]:
    """Open a new file with a temporary name and the mode that the umask gives any other file."""
    name = os.path.join(folder, f".pond-{os.urandom(8).hex()}.tmp")
    return os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0), 0o666), name


def failed(path: Path | str, error: OSError) -> SourceFault:
    """Return the fault for output that cannot be written."""
    return SourceFault(Diagnostic("output-failed", (error.strerror or str(error)).lower(), Span(str(path), 0)))
