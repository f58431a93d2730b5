"""One JSON document with the records of a session in it, read and written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from pond.codec.lines import BOM, HEAD
from pond.codec.report import Report
from pond.codec.source import BLANK, NOT_JSON, Beginning, Cursor, LineBlock, NeedsWhole, value_of
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.model.json_text import Json, JsonObject, NotJson, decode, encode, encode_line

DOCUMENT = "document"
SUFFIX = ".json"
_ANYBODYS = re.compile(r"\{\w+\}" + re.escape(SUFFIX))
LARGEST_DOCUMENT = 1 << 28  # bytes: it is held in memory as a whole


def is_document_name(name: str) -> bool:
    """Tell whether a file's name is that of a JSON document."""
    return os.path.splitext(name)[1] == SUFFIX


def is_anybodys(pattern: str) -> bool:
    """Tell whether a file pattern fits documents with any name: settings are such files too."""
    return _ANYBODYS.fullmatch(pattern) is not None


class DocumentSource(Beginning):
    """One JSON document `{head…, items: […]}`: its head is the first record, each item one more."""

    form, key = DOCUMENT, ""

    def __init__(self, document: JsonObject, items_key: str, name: str, path: Path | None) -> None:
        super().__init__()
        self.name, self.path = name, path
        items = document.pop(items_key)
        self._lines = [encode(document), *map(encode, items)]

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        for index, line in enumerate(self._lines):
            yield index, index + 1, line + b"\n"

    def blocks(self) -> Iterator[LineBlock]:
        yield 1, range(len(self._lines)), [line + b"\n" for line in self._lines]

    def line_at(self, place: int) -> bytes:
        return self._lines[place]

    def lines_with(self, needle: bytes) -> Iterator[bytes]:
        return (line for line in self._lines if needle in line)

    def head_lines(self, may_hold: Callable[[bytes], bool]) -> Iterator[bytes]:
        seen = sum(map(len, self.first_lines()))
        if seen < HEAD and may_hold(b"\n".join(self._lines)[seen:]):
            yield from (line for _, _, line in self.lines())

    def cursor(self, fault: int, place: int) -> tuple[Cursor, int] | None:
        return None  # it is rewritten as a whole

    def after(self, cursor: Cursor, lines: int) -> Iterator[LineBlock]:
        raise NeedsWhole("a document is written anew as a whole")


def may_be_document(file: BinaryIO) -> bool:
    """Tell whether a file may be one JSON object: it begins like one, and its first line alone is not a whole one."""
    file.seek(0)
    if file.read(256).lstrip(BOM + BLANK)[:1] != b"{":
        return False
    file.seek(0)
    first = file.readline(LARGEST_DOCUMENT)
    return value_of(first.removeprefix(BOM)) is NOT_JSON or not any(line.strip(BLANK) for line in file)


def open_document(
    text: bytes, keys: tuple[str, str], name: str, path: Path | None, report: Report
) -> DocumentSource | None:
    """Return the document source if `text` is one JSON object with the two keys; otherwise None."""

    def duplicate(key: str) -> None:
        report.error("source-duplicate-key", f"`{key}` is a duplicate key", name, 1)

    head_key, items_key = keys
    try:
        value = decode(text.strip().removeprefix(BOM), duplicate)
    except NotJson:
        return None
    if type(value) is dict and head_key in value and type(value.get(items_key)) is list:
        return DocumentSource(value, items_key, name, path)
    return None


def document_of(items: Iterable[Json], items_key: str | None, name: str) -> bytes:
    """Return the document that holds these records, the first one as its head; raise SourceFault if there is none."""
    head, *rest = items = [*items] or [None]
    if items_key is None or type(head) is not dict:
        raise SourceFault(
            Diagnostic("canonical-broken", "the session has no head to make a document of", Span(name, 1))
        )
    head[items_key] = rest
    return encode_line(head)
