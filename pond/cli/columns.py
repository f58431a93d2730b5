"""Tables of text: columns as wide as they must be, and no wider than the terminal."""

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence

from pond.cli.terminal import fitted, width

_NARROWEST = 4
_BETWEEN = "  "


def room() -> int | None:
    """Return how many columns the terminal has; None where standard output is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def within(lines: Iterable[str], columns: int | None) -> Iterator[str]:
    """Yield lines, each cut where the terminal ends."""
    for line in lines:
        yield line if columns is None else fitted(line, columns).rstrip()


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], columns: int | None
) -> Iterator[str]:
    """Yield the lines of a table; some columns are set to the right, and the widest are cut where there is no room."""
    widths = [max(map(width, column)) for column in zip(heads, *rows, strict=True)]
    if columns is not None:
        _fit(widths, columns - len(_BETWEEN) * (len(widths) - 1))
    for row in (heads, *rows):
        yield _BETWEEN.join(map(_cell, row, widths, right)).rstrip()


def _fit(widths: list[int], columns: int) -> None:
    """Take from the widest columns until all fit, or none can give any more."""
    while (over := sum(widths) - columns) > 0:
        widest = max(widths)
        if widest <= _NARROWEST:
            return
        beside = max((each for each in widths if each < widest), default=_NARROWEST)
        among = widths.count(widest)
        step = max(1, min(widest - max(beside, _NARROWEST), -(-over // among)))
        widths[:] = [each - step if each == widest else each for each in widths]


def _cell(text: str, room: int, right: bool) -> str:
    cut = fitted(text, room)
    return cut.rstrip().rjust(room) if right and width(text) <= room else cut
