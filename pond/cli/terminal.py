"""The one way to standard output and standard error: nothing in a file steers the terminal.

A pipe gets the same text. For the exact characters, use `--json`.
"""

import codecs
import io
import os
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import BinaryIO, TextIO, cast
from unicodedata import east_asian_width

from pond.cli import manners
from pond.diagnostics.visible import in_json, one_line_of, visible

_ELLIPSIS = "…"
_CLEAR, _PLAIN = "\x1b[K", "\x1b[0m"
# The few ways in which text stands out; a terminal's own colours, so that they suit its background.
_STYLES = {"": "", "bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_USUAL = 80  # columns, where the terminal does not say

Piece = tuple[str, str]
"""A text, and the style it is printed in on a terminal: `bold`, `dim`, a colour, or nothing."""


def say(
    text: str = "", stream: TextIO | None = None, end: str = "\n", *, marks: Sequence[tuple[int, int]] = ()
) -> None:
    """Print text for people, on standard output if no stream is named; what would steer a terminal is written out.

    A character that the output's encoding lacks is written out too. Who puts a name or a title into a line sees to it
    that it is one line: `one_line_of`, `in_line`. Characters from a mark's start to its end are bold in colour.
    """
    edges = [0, *(at for mark in marks for at in mark), len(text)]
    pieces = [(text[start:stop], "bold" if at % 2 else "") for at, (start, stop) in enumerate(pairwise(edges))]
    say_pieces(pieces, stream, end)


def say_pieces(pieces: Iterable[Piece], stream: TextIO | None = None, end: str = "\n") -> None:
    """Print a text whose pieces have styles; without colour, the text alone."""
    stream = stream or sys.stdout
    encoding = stream.encoding or "utf-8"
    coloured = _in_colour(stream)
    shown = "".join(_painted(visible(text), style if coloured else "") for text, style in pieces)
    print(shown.encode(encoding, "backslashreplace").decode(encoding), end=end, file=stream)


def _painted(text: str, style: str) -> str:
    return f"\x1b[{_STYLES[style]}m{text}{_PLAIN}" if style and text else text


def _in_colour(stream: TextIO) -> bool:
    if manners.current.colour != "auto":
        return manners.current.colour == "always"
    return _is_terminal(stream) and not os.environ.get("NO_COLOR")


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def note(text: str) -> None:
    """Print a line on standard output that is worth knowing and is no result; `--quiet` leaves it out."""
    if not manners.current.quiet:
        say(text)


def warn(text: str) -> None:
    """Print a line on standard error."""
    say(text, sys.stderr)


class StatusLine:
    """A line of standard error that is drawn again and again; silent where standard error is no terminal."""

    def __init__(self) -> None:
        self.on = _is_terminal(sys.stderr) and not manners.current.quiet
        self._drawn = False

    def draw(self, text: str) -> None:
        """Show a text instead of the one before; what the line has no room for is cut, or it would wrap and stay."""
        if self.on:
            _steer(f"\r{fitted(one_line_of(text), _room()).rstrip()}")
            self._drawn = True

    def clear(self) -> None:
        """Leave an empty line behind."""
        if self._drawn:
            _steer("\r")
            self._drawn = False


def _room() -> int:
    """Return how many columns standard error has, without the last, where some terminals already wrap."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        columns = 0
    return (columns or _USUAL) - 1


def _steer(text: str) -> None:
    encoding = sys.stderr.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding), end=_CLEAR, file=sys.stderr, flush=True)


# --- data ------------------------------------------------------------------------------------------------------------


def json_out() -> BinaryIO:
    """Return standard output for JSON text: the bytes as they are; on a terminal the same values, harmless escapes."""
    out = sys.stdout.buffer
    return cast(BinaryIO, _Harmless(out)) if sys.stdout.isatty() else out


class _Harmless(io.RawIOBase):
    """JSON text on its way to a terminal."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode

    def write(self, data: bytes) -> int:  # type: ignore[override]  # callers that write JSON text give bytes
        self._out.write(in_json(self._decode(data)).encode("utf-8", "surrogateescape"))
        return len(data)

    def flush(self) -> None:
        self._out.flush()


# --- columns ---------------------------------------------------------------------------------------------------------


def width(text: str) -> int:
    """Return how many columns a visible text takes."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def fitted(text: str, columns: int, *, keep_end: bool = False) -> str:
    """Return a visible line in exactly so many columns: cut at its end, or at its beginning, or filled up."""
    if width(text) <= columns:
        return text + " " * (columns - width(text))
    kept, room = "", columns - 1
    for char in reversed(text) if keep_end else text:
        room -= width(char)
        if room < 0:
            break
        kept += char
    cut = _ELLIPSIS + kept[::-1] if keep_end else kept + _ELLIPSIS
    return cut + " " * (columns - width(cut))
