"""Whether a file is still the one that was read: digests that cost the same for small and huge files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import xxhash

from pond.codec.paths import beside

_EDGE = 64 << 10  # bytes checked at the beginning of a file, and before the end of what was read
_WINDOW, _WINDOWS = 4 << 10, 14  # checked in between
_COVERED = 2 * _EDGE + _WINDOWS * _WINDOW  # a file up to this size is checked entirely


def fingerprint(file: BinaryIO, end: int) -> str:
    """Return a digest of the first `end` bytes of a file; the position in the file does not move.

    A file that was replaced, cut off or rewritten before `end` has another digest, unless it differs only between the
    windows: a client that continues a file does not change single bytes in its middle.
    """
    digest = xxhash.xxh3_128(end.to_bytes(8, "little"))
    for start, size in _windows(end):
        digest.update(os.pread(file.fileno(), size, start))
    return digest.hexdigest()


def _windows(end: int) -> Iterator[tuple[int, int]]:
    """Yield offset and size of the places that are looked at, in order."""
    if end <= _COVERED:
        yield 0, end
        return
    yield 0, _EDGE
    between = end - 2 * _EDGE - _WINDOW
    for number in range(_WINDOWS):
        yield _EDGE + between * number // (_WINDOWS - 1), _WINDOW
    yield end - _EDGE, _EDGE


def beside_state(path: Path, patterns: tuple[str, ...]) -> str:
    """Return a digest of the files beside a session as the directory lists them; empty if there are none."""
    digest, some = xxhash.xxh3_128(), False
    for name, file in beside(path, patterns):
        try:
            found = os.stat(file)
        except OSError:
            continue  # it disappeared just now: the next look finds another state
        digest.update(f"{name}\0{found.st_size}\0{found.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
        some = True
    return digest.hexdigest() if some else ""
