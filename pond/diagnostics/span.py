"""Where something is: a place in a mapping file or in a client's data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters on one line of a text file (1-based line and column); line 0 is the whole file."""

    file: str
    line: int
    column: int = 0
    length: int = 1

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"
