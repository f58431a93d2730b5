"""Where records come from: a file of JSON lines, or one JSON document, behind the same three questions.

The seam carries no assumption about the transport (adapter-transport-agnostic-seam): a source has lines, can give a
line again by its offset, and knows what to call itself.
"""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from pathlib import Path
from typing import BinaryIO, Protocol

from pond.codec.report import Report
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.model.json_text import NOT_PLAIN, Json, JsonObject, NotJson, decode, decode_plain, decode_unproved, encode

_BOM = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_CHUNK = 1 << 16
_SEARCH = 1 << 18
_BLOCK = 1 << 15  # bytes of lines taken at once
HEAD = 1 << 16  # bytes of a file that count as its beginning
BUFFER = 1 << 18
LARGEST_DOCUMENT = 1 << 28  # bytes: it is in memory as a whole
BEGINNING = 8  # records
NOT_JSON = object()
_BLANK = b"\r\n \t"


# The number of its first line, the offset of each (and more), and the lines.
Block = tuple[int, Iterable[int], list[bytes]]


def whole_line(raw: bytes) -> bytes | None:
    """Return a line without blanks around it, and with its line feed; None where it is blank."""
    if raw[-2:] == b"}\n":
        return raw  # as it is: no copy on the common road
    text = raw.strip(_BLANK)
    return text + b"\n" if text else None


class Source(Protocol):
    """Something with records in it, readable more than once."""

    name: str
    path: Path | None
    form: str

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield (offset, line number, text) for every line that is not blank; the text ends with its line feed."""

    def blocks(self) -> Iterator[Block]:
        """Yield the lines as they are, many at a time; `whole_line` says what `lines` makes of each."""

    def line_at(self, offset: int) -> bytes:
        """Return the line that `lines` gave with this offset."""

    def lines_with(self, needle: bytes) -> Iterator[bytes]:
        """Yield the lines that contain `needle`."""

    def head(self, start: int) -> bytes:
        """Return the first bytes from `start` on, to see what the first lines are about; nobody reads on meanwhile."""

    def first_lines(self) -> list[bytes]:
        """Return the first lines, to look at."""

    def first_values(self) -> Iterator[Json]:
        """Yield the value of each of the first lines, to look at; NOT_JSON where it has none."""

    def take_values(self) -> dict[int, Json]:
        """Return what `decode_plain` gave for the first lines, by their offsets, to keep; the source forgets it."""


class _Beginning(ABC):
    """The first lines of a source, read and decoded once: for all who look at them, and for the reader after them."""

    def __init__(self) -> None:
        self._first: list[bytes] | None = None
        self._offsets: list[int] = []
        self._values: list[Json] = []  # what `decode_plain` gave for as many of them as somebody looked at

    @abstractmethod
    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the lines, as `Source` says."""

    def first_lines(self) -> list[bytes]:
        if self._first is None:
            opening = list(islice(self.lines(), BEGINNING))
            self._first, self._offsets = [line for _, _, line in opening], [offset for offset, _, _ in opening]
        return self._first

    def first_values(self) -> Iterator[Json]:
        """Yield the values of the first lines; read only, and without a proof that no key stands twice."""
        lines, values = self.first_lines(), self._values
        for index, line in enumerate(lines):
            if index == len(values):
                # The first one most often says whose file it is. Whoever wants to know more looks at all of them.
                values += map(decode_plain, lines[index:] if index else lines[:1])
            value = values[index]
            yield value if value is not NOT_PLAIN else _value_of(line)

    def take_values(self) -> dict[int, Json]:
        taken = dict(zip(self._offsets, self._values, strict=False))  # not all were looked at
        self._first, self._offsets, self._values = None, [], []
        return taken


def _value_of(line: bytes) -> Json:
    try:
        return decode_unproved(line, _ignore)
    except NotJson:
        return NOT_JSON


def _ignore(_: str) -> None:
    """Duplicate keys are reported when the line is read in its turn."""


class LineSource(_Beginning):
    """A file of JSON lines. Reads line by line: memory is bounded by the longest line."""

    form = "lines"

    def __init__(self, file: BinaryIO, name: str, path: Path | None, *, compressed: bool = False) -> None:
        super().__init__()
        self.name, self.path = name, path
        self.end = (0, 0)  # after `lines`: the offset behind the last one, and how many ended with a line feed
        self.compressed = compressed  # `file` is the text of a compressed one: no offset in it means anything later
        self._file = file

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        for first, offsets, block in self.blocks():
            for number, (offset, raw) in enumerate(zip(offsets, block, strict=False), first):
                if (line := whole_line(raw)) is not None:
                    yield offset, number, line

    def blocks(self, start: int = 0, before: int = 0) -> Iterator[Block]:
        """Yield the lines, as `Source` says, from the offset `start` on; `before` so many lines have ended there."""
        file = self._file
        file.seek(0)
        head = file.read(4)
        # Zeros alone are no text of any width: a file system that lost a block gives such lines, among others.
        if head[:2] in _WIDE or (head[1::2] == b"\0\0") != (head[::2] == b"\0\0"):
            raise SourceFault(Diagnostic("source-encoding", "expected UTF-8, found UTF-16 text", Span(self.name, 0)))
        offset, ended = start or (len(_BOM) if head.startswith(_BOM) else 0), before
        file.seek(offset)
        while block := file.readlines(_BLOCK):
            yield ended + 1, accumulate(map(len, block), initial=offset), block
            offset += sum(map(len, block))
            ended += len(block)
            if (last := block[-1])[-1:] != b"\n":
                ended -= 1
                offset -= 0 if last.strip(_BLANK) else len(last)
                break  # whoever writes the file may go on with this line: what follows now is none of its own
        self.end = offset, ended

    def begins_line(self, offset: int) -> bool:
        """Tell whether a line begins at `offset`; raise EOFError where the file is shorter than that."""
        if offset == 0:
            return True
        last = os.pread(self._file.fileno(), 1, offset - 1)
        if not last:
            raise EOFError
        return last == b"\n"

    def head(self, start: int) -> bytes:
        self._file.seek(start)
        return self._file.read(HEAD - start)  # from the buffer, which the first lines have filled

    def line_at(self, offset: int) -> bytes:
        return next(self.lines_from(offset))[1]

    def lines_with(self, needle: bytes) -> Iterator[bytes]:
        file = self._file
        file.seek(0)
        while chunk := file.read(_SEARCH):
            chunk += file.readline()  # whole lines only
            if needle in chunk:
                yield from (line.strip(_BLANK) for line in chunk.split(b"\n") if needle in line)

    def lines_from(self, offset: int) -> Iterator[tuple[int, bytes]]:
        """Yield (offset, line) from `offset` on; the position of `lines` does not move."""
        start, begun = offset, []  # a long line comes in many pieces: they are put together once
        while chunk := os.pread(self._file.fileno(), _CHUNK, offset):
            offset += len(chunk)
            first, *more = chunk.split(b"\n")
            begun.append(first)
            for piece in more:
                line = b"".join(begun)
                if text := line.strip(_BLANK):
                    yield start, text
                start += len(line) + 1
                begun = [piece]
        if text := b"".join(begun).strip(_BLANK):
            yield start, text


class DocumentSource(_Beginning):
    """One JSON document `{head…, items: […]}`: its head is the first record, each item one more."""

    form = "document"

    def __init__(self, document: JsonObject, items_key: str, name: str, path: Path | None) -> None:
        super().__init__()
        self.name, self.path = name, path
        items = document.pop(items_key)
        self._lines = [encode(document), *map(encode, items)]

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        for index, line in enumerate(self._lines):
            yield index, index + 1, line + b"\n"

    def blocks(self) -> Iterator[Block]:
        yield 1, range(len(self._lines)), [line + b"\n" for line in self._lines]

    def line_at(self, offset: int) -> bytes:
        return self._lines[offset]

    def lines_with(self, needle: bytes) -> Iterator[bytes]:
        return (line for line in self._lines if needle in line)

    def head(self, start: int) -> bytes:
        return b"\n".join(self._lines)[start:]


def may_be_document(file: BinaryIO) -> bool:
    """Tell whether a file may be one JSON object: it begins like one, and its first line alone is not all of one."""
    file.seek(0)
    if file.read(256).lstrip(_BOM + _BLANK)[:1] != b"{":
        return False
    file.seek(0)
    first = file.readline(LARGEST_DOCUMENT)
    return _value_of(first.removeprefix(_BOM)) is NOT_JSON or not any(line.strip(_BLANK) for line in file)


def open_document(
    text: bytes, keys: tuple[str, str], name: str, path: Path | None, report: Report
) -> DocumentSource | None:
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
        return open(path, "rb", buffering=BUFFER)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceFault(Diagnostic("source-unreadable", reason, Span(str(path), 0))) from None
