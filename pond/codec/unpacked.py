"""A compressed session file as the plain text it holds: spooled to disk, so that memory stays bounded."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator
from typing import BinaryIO, cast

from pond.codec.files import BUFFER
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.model.compressed import is_compressed, unpacked

# What no client writes: session text shrinks to about a tenth, a bomb to a thousandth or less.
_FREE = 256 << 20  # bytes of text that any file may have
_RATIO = 200
_MOST = 32 << 30


class Unpacked(io.BufferedRandom):
    """The text of a compressed file, in a file without a name."""

    fault: Diagnostic | None = None  # why this is not all of it


def plain(file: BinaryIO, name: str) -> BinaryIO:
    """Return an open file unchanged, or its text if it is compressed (then closed); raise SourceFault for a bomb.

    A damaged file gives the text before the damage; `open_input` reports the fault.
    """
    if not is_compressed(file):
        return file
    with file:
        text = Unpacked(tempfile.TemporaryFile(prefix="pond-", buffering=0), BUFFER)  # noqa: SIM115 - the caller closes it
        try:
            _fill(text, unpacked(file), os.fstat(file.fileno()).st_size, name)
        except BaseException:
            text.close()
            raise
    text.seek(0)
    return cast(BinaryIO, text)


def _fill(text: Unpacked, pieces: Iterator[bytes], size: int, name: str) -> None:
    most = min(_MOST, max(_FREE, _RATIO * size))
    while True:
        try:
            piece = next(pieces, b"")
        except OSError as error:
            text.fault = Diagnostic("source-compressed", _reason(error), Span(name, 0))
            return
        if not piece:
            return
        text.write(piece)
        if text.tell() > most:
            what = f"a file of {size} bytes holds more than {most} bytes of text"
            raise SourceFault(Diagnostic("source-too-large", what, Span(name, 0)))


def _reason(error: OSError) -> str:
    cut = "truncated" in str(error).lower()
    return f"the compressed data {'ends too soon' if cut else 'is damaged'}; the text before that was read"
