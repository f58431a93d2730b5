"""A session file that is open: JSON lines or one document, compressed or not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pond.codec.document import LARGEST_DOCUMENT, is_document_name, may_be_document, open_document
from pond.codec.fingerprint import fingerprint
from pond.codec.lines import LineSource
from pond.codec.registry import adapter, clients
from pond.codec.report import Report
from pond.codec.source import Cursor, Look, Opened, Source
from pond.codec.unpacked import Unpacked, plain
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.model.compressed import is_compressed

_PIECE = 1 << 20


class OpenFile(Opened):
    """A file and the ways to see it. Its cursors are offsets."""

    def __init__(self, file: BinaryIO, name: str, path: Path | None) -> None:
        super().__init__(name, path)
        self.file = file
        self._look: Look | None = None
        self._whole = ""  # the digest of a compressed file

    @classmethod
    def unpacked(cls, file: BinaryIO, name: str, path: Path | None) -> OpenFile:
        """Return a file that may be compressed; raise SourceFault for something no client would write."""
        opened = cls(file, name, path)
        if is_compressed(file):
            opened.look()
            opened._whole = fingerprint(file, opened.end())
            opened.file = plain(file, name)
        return opened

    def close(self) -> None:
        self.file.close()

    def sources(self, report: Report) -> Iterator[Source]:
        packed = isinstance(self.file, Unpacked)
        if isinstance(self.file, Unpacked) and self.file.fault is not None:
            report.diagnostics.append(self.file.fault)
        named = self.path is not None and is_document_name(self.path.name)
        if named and (document := self._document(report)) is not None:
            yield document
            return
        yield LineSource(self.file, self.name, self.path, compressed=packed)
        if not named and (document := self._document(report)) is not None:
            yield document

    def _document(self, report: Report) -> Source | None:
        shapes = {adapter(c).module.DOCUMENT for c in clients()} - {None}
        if not shapes or not may_be_document(self.file):
            return None
        self.file.seek(0)
        text = self.file.read(LARGEST_DOCUMENT + 1)
        if len(text) > LARGEST_DOCUMENT:
            what = f"one JSON document of more than {LARGEST_DOCUMENT >> 20} MB"
            raise SourceFault(Diagnostic("source-too-large", what, Span(self.name, 1)))
        found = (open_document(text, keys, self.name, self.path, report) for keys in sorted(shapes))
        return next((document for document in found if document is not None), None)

    def look(self) -> Look:
        if self._look is None:
            found = os.fstat(self.file.fileno())
            self._look = Look(found.st_size, found.st_mtime_ns)
        return self._look

    def end(self) -> Cursor:
        return self.look().size

    def digest(self, cursor: Cursor) -> str:
        return self._whole or fingerprint(self.file, cursor)

    def size_before(self, cursor: Cursor) -> int:
        return int(cursor)

    def has_record(self) -> bool:
        if isinstance(self.file, Unpacked):
            return True  # no client writes a compressed file line by line
        self.file.seek(0)
        return any(b"\n" in piece for piece in iter(lambda: self.file.read(_PIECE), b""))
