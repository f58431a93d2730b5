"""Session text that a client keeps compressed with Zstandard, read as plain text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

MAGIC = b"\x28\xb5\x2f\xfd"  # how a frame begins; JSON text never does
SUFFIX = ".zst"
_PIECE = 1 << 16


def is_compressed(file: BinaryIO) -> bool:
    """Tell whether a file is compressed, from its first bytes; the position does not move."""
    return bool(file.peek(len(MAGIC))[: len(MAGIC)] == MAGIC)  # type: ignore[attr-defined]


def unpacked(file: BinaryIO) -> Iterator[bytes]:
    """Yield the text of a compressed file in pieces of bounded size; raise OSError if it is damaged or cut off.

    Everything before the damage is yielded first.
    """
    done = 0
    try:
        for piece in _pieces(_opened(file), _PIECE):
            done += len(piece)
            yield piece
        return
    except OSError:
        stream = _opened(file)
    # The piece with the damage was lost: read once more up to there, then byte by byte.
    while done:
        done -= len(stream.read(min(_PIECE, done)))
    yield from _pieces(stream, 1)


def _opened(file: BinaryIO) -> Any:
    import pyarrow as pa  # slow to import, and few files are compressed

    own = os.fdopen(os.dup(file.fileno()), "rb")  # the stream closes what it reads
    own.seek(0)
    return pa.CompressedInputStream(pa.PythonFile(own, "r"), "zstd")


def _pieces(stream: Any, size: int) -> Iterator[bytes]:
    while piece := stream.read(size):
        yield piece


def first_bytes(path: Path, count: int) -> bytes:
    """Return the beginning of a file's text, compressed or not; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            if not is_compressed(file):
                return file.read(count)
            found = b""
            for piece in unpacked(file):
                found += piece
                if len(found) >= count:
                    break
            return found[:count]
    except OSError:
        return b""
