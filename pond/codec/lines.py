"""A file of JSON lines: what most clients write, and canonical text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import BinaryIO

from pond.codec.source import BLANK, Beginning, Cursor, LineBlock, NeedsWhole, whole_line
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.model import compressed

SUFFIX = ".jsonl"
BOM = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_CHUNK = 1 << 16
_SEARCH = 1 << 18
_BLOCK = 1 << 15  # bytes of lines taken at once
HEAD = 1 << 16  # bytes of a file that count as its beginning


def is_lines_name(name: str) -> bool:
    """Tell whether a file's name is that of JSON lines."""
    return os.path.splitext(name)[1] == SUFFIX


def plain_name(name: str) -> str:
    """Return the name of a compressed file of lines without compression; any other name unchanged."""
    return name.removesuffix(compressed.SUFFIX) if name.endswith(SUFFIX + compressed.SUFFIX) else name


class LineSource(Beginning):
    """A file of JSON lines. Reads line by line: memory is bounded by the longest line."""

    form, key = "lines", ""

    def __init__(self, file: BinaryIO, name: str, path: Path | None, *, compressed: bool = False) -> None:
        super().__init__()
        self.name, self.path = name, path
        self.end = (0, 0)  # after `lines`: the offset after the last one, and how many ended with a line feed
        self.compressed = compressed  # `file` is an unpacked copy: its offsets mean nothing later
        self._file = file

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        for first, offsets, block in self.blocks():
            for number, (offset, raw) in enumerate(zip(offsets, block, strict=False), first):
                if (line := whole_line(raw)) is not None:
                    yield offset, number, line

    def blocks(self) -> Iterator[LineBlock]:
        return self._from(0, 0)

    def _from(self, start: int, before: int) -> Iterator[LineBlock]:
        """Yield the lines from the offset `start` on; `before` is the number of lines before it."""
        file = self._file
        file.seek(0)
        head = file.read(4)
        # Zeros alone are not text of any width: a file system that lost a block can produce such lines.
        if head[:2] in _WIDE or (head[1::2] == b"\0\0") != (head[::2] == b"\0\0"):
            raise SourceFault(Diagnostic("source-encoding", "expected UTF-8, found UTF-16 text", Span(self.name, 0)))
        offset, ended = start or (len(BOM) if head.startswith(BOM) else 0), before
        file.seek(offset)
        while block := file.readlines(_BLOCK):
            yield ended + 1, accumulate(map(len, block), initial=offset), block
            offset += sum(map(len, block))
            ended += len(block)
            if (last := block[-1])[-1:] != b"\n":
                ended -= 1
                offset -= 0 if last.strip(BLANK) else len(last)
                break  # the writer may continue this line: what follows now does not start a new one
        self.end = offset, ended

    def cursor(self, fault: int, place: int) -> tuple[Cursor, int] | None:
        if self.compressed:
            return None
        offset, lines = self.end
        return (place if fault > lines else offset), lines

    def after(self, cursor: Cursor, lines: int) -> Iterator[LineBlock]:
        at_line = self._begins_line(cursor)
        blocks = self._from(cursor, lines)
        opening = [*islice(blocks, 1)]
        if opening and not at_line and whole_line(opening[0][2][0]) is not None:
            raise NeedsWhole("the last line was not complete when it was read")
        return chain(opening, blocks)

    def _begins_line(self, offset: int) -> bool:
        """Tell whether a line begins at `offset`; raise NeedsWhole if the file is shorter than that."""
        if offset == 0:
            return True
        last = os.pread(self._file.fileno(), 1, offset - 1)
        if not last:
            raise NeedsWhole("the file is shorter than what was read of it")
        return last == b"\n"

    def head_lines(self, may_hold: Callable[[bytes], bool]) -> Iterator[bytes]:
        seen = sum(map(len, self.first_lines()))
        if seen >= HEAD:
            return
        self._file.seek(seen)
        if not may_hold(self._file.read(HEAD - seen)):  # from the buffer, which the first lines have filled
            return
        for offset, _, line in self.lines():
            if offset > HEAD:
                return
            yield line

    def line_at(self, offset: int) -> bytes:
        return next(self.lines_from(offset))[1]

    def lines_with(self, needle: bytes) -> Iterator[bytes]:
        file = self._file
        file.seek(0)
        while chunk := file.read(_SEARCH):
            chunk += file.readline()  # whole lines only
            if needle in chunk:
                yield from (line.strip(BLANK) for line in chunk.split(b"\n") if needle in line)

    def last_line(self) -> bytes | None:
        end = os.fstat(self._file.fileno()).st_size
        start, text = end, b""
        while start and b"\n" not in text.strip(BLANK):
            start = max(0, start - _CHUNK)
            text = os.pread(self._file.fileno(), end - start, start)
        line = text.strip(BLANK).rpartition(b"\n")[2].removeprefix(BOM)
        return whole_line(line)

    def lines_from(self, offset: int) -> Iterator[tuple[int, bytes]]:
        """Yield (offset, line) from `offset` on; the position of `lines` does not move."""
        start, begun = offset, []  # a long line comes in many pieces: they are joined once
        while chunk := os.pread(self._file.fileno(), _CHUNK, offset):
            offset += len(chunk)
            first, *more = chunk.split(b"\n")
            begun.append(first)
            for piece in more:
                line = b"".join(begun)
                if text := line.strip(BLANK):
                    yield start, text
                start += len(line) + 1
                begun = [piece]
        if text := b"".join(begun).strip(BLANK):
            yield start, text
