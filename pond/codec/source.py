"""Where records come from: a file of JSON lines, or one JSON document, behind the same three questions.

The seam carries no assumption about the transport (adapter-transport-agnostic-seam): a source has lines, can give a
line again by its offset, and knows what to call itself.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from pond.codec.report import Report
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.model.json_text import JsonObject, NotJson, decode, encode

_BOM = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_CHUNK = 1 << 16
_BLANK = b"\r\n \t"


class Source(Protocol):
    """Something with records in it, readable more than once."""

    name: str
    path: Path | None
    form: str

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield (offset, line number, text) for every line that is not blank."""

    def line_at(self, offset: int) -> bytes:
        """Return the line that `lines` gave with this offset."""


class LineSource:
    """A file of JSON lines. Reads line by line: memory is bounded by the longest line."""

    form = "lines"

    def __init__(self, file: BinaryIO, name: str, path: Path | None) -> None:
        self.name, self.path = name, path
        self._file = file

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        file = self._file
        file.seek(0)
        start = file.read(4)
        if start[:2] in _WIDE or start[1::2] == b"\0\0" or start[::2] == b"\0\0" and len(start) == 4:
            raise SourceFault(Diagnostic("source-encoding", "expected UTF-8, found UTF-16 text", Span(self.name, 1)))
        offset = len(_BOM) if start.startswith(_BOM) else 0
        file.seek(offset)
        number = 0
        for raw in file:
            number += 1
            line = raw.strip(_BLANK)
            if line:
                yield offset, number, line
            offset += len(raw)

    def line_at(self, offset: int) -> bytes:
        return next(self.lines_from(offset))

    def lines_from(self, offset: int) -> Iterator[bytes]:
        """Yield the lines from `offset` on; the position of `lines` does not move."""
        rest = b""
        while chunk := os.pread(self._file.fileno(), _CHUNK, offset):
            offset += len(chunk)
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                if line := line.strip(_BLANK):
                    yield line
        if rest := rest.strip(_BLANK):
            yield rest


class DocumentSource:
    """One JSON document `{head…, items: […]}`: its head is the first record, each item one more."""

    form = "document"

    def __init__(self, document: JsonObject, items_key: str, name: str, path: Path | None) -> None:
        self.name, self.path = name, path
        items = document.pop(items_key)
        self._lines = [encode(document), *map(encode, items)]

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        for index, line in enumerate(self._lines):
            yield index, index + 1, line

    def line_at(self, offset: int) -> bytes:
        return self._lines[offset]


def open_document(text: bytes, keys: tuple[str, str], name: str, path: Path | None, report: Report) -> DocumentSource | None:
    """Return the document source, where `text` is one JSON object with the two keys; None where it is not."""

    def duplicate(key: str) -> None:
        report.error("source-duplicate-key", f"`{key}` stands twice in one object", name, 1)

    head_key, items_key = keys
    try:
        value = decode(text.strip().removeprefix(_BOM), duplicate)
    except NotJson:
        return None
    if type(value) is dict and head_key in value and type(value.get(items_key)) is list:
        return DocumentSource(value, items_key, name, path)
    return None


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file; raise SourceFault for anything else, without ever blocking on a pipe."""
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise SourceFault(Diagnostic("source-not-a-file", "expected a regular file", Span(str(path), 0)))
        return open(path, "rb")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceFault(Diagnostic("source-unreadable", reason, Span(str(path), 0))) from None
