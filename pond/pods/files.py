"""Files of the pod store: read whole, replaced whole, one writer at a time.

A lock is held on the folder itself, so no lock file is left behind, and a killed process holds none. A record is
written beside the old one, made durable, and takes its name in one step: a reader sees one or the other.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import random
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from pond.pods.faults import Busy, Corrupt, StorageFailed
from pond.pods.record import MOST_BYTES

RECORD = "metadata.json"
_UNFINISHED = f".{RECORD}."  # how the names of records begin that are being written
_FOLDER, _OWNER_ONLY = 0o700, 0o600
_FOLDER_ITSELF = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_ELSEWHERE = "is not in a folder of its own"
_PAUSE = 0.002, 0.01  # seconds between two tries for a lock


@contextlib.contextmanager
def failing(what: str) -> Iterator[None]:
    """Turn what the file system refuses into a fault that says so; that something is not there is no refusal."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StorageFailed(f"cannot {what}: {(error.strerror or str(error)).lower()}") from None


@contextlib.contextmanager
def locked(folder: Path, name: str, patience: float) -> Iterator[int]:
    """Hold the lock of a folder and give its handle; raise FileNotFoundError where there is none, Busy in the end."""
    end = time.monotonic() + patience
    while True:
        handle = _opened(folder, name)
        try:
            _lock(handle, name, end)
            if _is_still(folder, handle):
                yield handle
                return
        finally:
            os.close(handle)  # which lets the lock go


def _opened(folder: Path, name: str) -> int:
    try:
        with failing(f"open `{folder}`"):
            return os.open(folder, _FOLDER_ITSELF)
    except StorageFailed:
        if folder.is_symlink() or not folder.is_dir():
            raise Corrupt(name, _ELSEWHERE) from None
        raise


def _lock(handle: int, name: str, end: float) -> None:
    while not _has_locked(handle, name):
        if time.monotonic() > end:
            raise Busy(f"others keep changing pod `{name}`")
        time.sleep(random.uniform(*_PAUSE))


def _has_locked(handle: int, name: str) -> bool:
    with failing(f"lock pod `{name}`"):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another has it
            return False
    return True


def _is_still(folder: Path, handle: int) -> bool:
    """Tell whether a folder is the one that was opened: it may have been removed, and made again, meanwhile."""
    try:
        found = os.stat(folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(handle))


def make_folder(folder: Path) -> None:
    """Make a folder that only its owner can enter, and those above it, so that they survive a crash."""
    with failing(f"make `{folder}`"):
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        for each in reversed(missing):
            with contextlib.suppress(FileExistsError):
                os.mkdir(each, _FOLDER)
            _sync(each.parent)


def content(folder: Path, name: str) -> bytes | None:
    """Return the bytes of a pod's record, or None where there is none; raise Corrupt for what is no plain file."""
    if folder.is_symlink():
        raise Corrupt(name, _ELSEWHERE)
    try:
        handle = os.open(folder / RECORD, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Corrupt(name, "is a link") from None
        raise StorageFailed(f"cannot read pod `{name}`: {(error.strerror or '').lower()}") from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Corrupt(name, "is no file")
        with failing(f"read pod `{name}`"), os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(MOST_BYTES + 1)
    finally:
        os.close(handle)


def replace(folder: int, data: bytes, name: str) -> None:
    """Put a record in place of the one before it: whole, and durable when this returns. The lock must be held."""
    with failing(f"write pod `{name}`"):
        _tidy(folder)
        beside = f"{_UNFINISHED}{os.urandom(6).hex()}"
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY, dir_fd=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(handle)
            os.replace(beside, RECORD, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside, dir_fd=folder)
            raise
        os.fsync(folder)


def remove(folder: int, path: Path, name: str) -> None:
    """Remove a record, and its folder where nothing else is in it. The lock must be held."""
    with failing(f"remove pod `{name}`"):
        os.unlink(RECORD, dir_fd=folder)
        _tidy(folder)
        os.fsync(folder)
        with contextlib.suppress(OSError):  # other files there are not ours
            os.rmdir(path)
        _sync(path.parent)


def _tidy(folder: int) -> None:
    """Remove what killed writers left: nobody else writes while the lock is held."""
    for each in os.listdir(folder):
        if each.startswith(_UNFINISHED):
            os.unlink(each, dir_fd=folder)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
