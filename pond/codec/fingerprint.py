"""Whether a file is still the one that was read: digests that cost the same for a small file and for a huge one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import xxhash

from pond.codec.paths import beside

_EDGE = 64 << 10  # bytes looked at where a file begins, and before the end of what was read
_WINDOW, _WINDOWS = 4 << 10, 14  # looked at between them
_COVERED = 2 * _EDGE + _WINDOWS * _WINDOW  # what is not longer is looked at entirely


def fingerprint(file: BinaryIO, end: int) -> str:
    """Return a digest of the first `end` bytes of a file; the position in the file does not move.

    A file that was replaced, cut off or written anew before `end` has another one, unless it differs only between the
    windows: a client that goes on with a file does not touch single bytes in the midst of it.
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
    """Return a digest of the files beside a session as the directory shows them; nothing where there are none."""
    digest, some = xxhash.xxh3_128(), False
    for name, file in beside(path, patterns):
        try:
            found = os.stat(file)
        except OSError:
            continue  # it went while we looked: the next look finds another state
        digest.update(f"{name}\0{found.st_size}\0{found.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
        some = True
    return digest.hexdigest() if some else ""
