"""Budgets of bytes, kept on whole pieces: a piece that does not fit is left for the next page, and only a piece that is
larger than a page by itself is cut, with a word about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MOST_LINES = 1_900  # of an answer: some clients show no more than 2,000


def size(lines: Iterable[str]) -> int:
    """Return how many bytes lines take, each with its end."""
    return sum(len(line.encode("utf-8", "surrogatepass")) + 1 for line in lines)


def cut(lines: Sequence[str], room: int) -> list[str]:
    """Return as much of lines as fits, by whole characters; the last line may be cut."""
    kept: list[str] = []
    for line in lines[:MOST_LINES]:
        need = size([line])
        if need > room:
            shortened = line.encode("utf-8", "surrogatepass")[: max(room - 1, 0)].decode("utf-8", "ignore").rstrip()
            return [*kept, shortened] if shortened.strip() else kept
        kept.append(line)
        room -= need
    return kept


def fitting(pieces: Sequence[Sequence[str]], room: int, lines: int = MOST_LINES) -> int:
    """Return how many pieces fit, in their order."""
    for count, piece in enumerate(pieces):
        room -= size(piece)
        lines -= len(piece)
        if room < 0 or lines < 0:
            return count
    return len(pieces)
