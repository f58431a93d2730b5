"""Passages: pieces of a text short enough that words in one of them belong together.

A message is as good as its best passage. For a long text, only the passages with most of the words are considered: the
time for one message is bounded, however long it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from pond.search.sought import Sought
from pond.sessions import terms

_SIZE = 400  # characters of a passage; anything from 250 to 800 ranks as well (decision 0026)
_LONG = 2000  # characters of a text that is searched whole
_MOST = 8  # passages of a longer text
_CHOOSING = 16  # query words that choose these, the rarest: the cost of a pasted page over long texts stays bounded
_BEGINNING = 4  # letters that two words must share to count as forms of one
# Latin letters with diacritics, and diacritics by themselves.
_MARKED = re.compile("[\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff]")
_INSIDE, _LIKE_INSIDE = 6, 0.8  # a word of this many letters counts this much inside another one


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text, where it begins, and how well each query word is matched there, from 0 to 1."""

    start: int
    text: str
    met: tuple[float, ...]


def passages(text: str, sought: Sought) -> list[Passage]:
    """Return the passages of a text in order; for a long one those with most of the query words."""
    pieces = _cut(text)
    if len(text) > _LONG:
        pieces = _promising(pieces, sought)
    return [_judged(start, piece, sought) for start, piece in pieces]


def _cut(text: str) -> list[tuple[int, str]]:
    """Cut a text at the ends of lines, and lines that are too long at spaces."""
    pieces: list[tuple[int, str]] = []
    begin = end = 0
    for line in text.splitlines(keepends=True):
        if end > begin and end - begin + len(line) > _SIZE:
            pieces.append((begin, text[begin:end]))
            begin = end
        end += len(line)
        while end - begin > _SIZE * 3 // 2:
            at = text.rfind(" ", begin + _SIZE // 2, begin + _SIZE) + 1 or begin + _SIZE
            pieces.append((begin, text[begin:at]))
            begin = at
    if end > begin or not pieces:
        pieces.append((begin, text[begin:end]))
    return pieces


def _promising(pieces: list[tuple[int, str]], sought: Sought) -> list[tuple[int, str]]:
    lowered = [piece.casefold() for _, piece in pieces]
    starts = list(accumulate((len(piece) + 1 for piece in lowered), initial=0))
    whole = "\n".join(lowered)  # searched as one text: most pieces of a long text hold none of the words
    promises = [0.0] * len(pieces)
    heaviest = sorted(zip(sought.words, sought.weights, strict=True), key=lambda each: -each[1])[:_CHOOSING]
    for word, weight in heaviest:
        at = whole.find(word[:_BEGINNING])
        while at >= 0:
            number = bisect_right(starts, at) - 1
            promises[number] += weight
            at = whole.find(word[:_BEGINNING], starts[number + 1])
    best = sorted(range(len(pieces)), key=lambda number: (-promises[number], number))[:_MOST]
    return [pieces[number] for number in sorted(best)]


def _judged(start: int, text: str, sought: Sought) -> Passage:
    words = _telling_words(text, sought)
    if not words:
        return Passage(start, text, (0.0,) * len(sought.words))
    held = words if text.isascii() else words | {terms.without_diacritics(word) for word in words}
    alike: dict[str, list[str]] = {}
    for word in held:
        alike.setdefault(word[:_BEGINNING], []).append(word)
    joined = " ".join(words)
    met = tuple([1.0 if word in held else _likeness(word, alike, joined) for word in sought.words])
    return Passage(start, text, met)


def _telling_words(text: str, sought: Sought) -> set[str]:
    """Return the words of a text that may match a query word, with or without their diacritics.

    Only pieces that hold the beginning of a query word, or letters with diacritics, are split: splitting all of them
    would take most of the time.
    """
    spaced = " ".join(terms.normal(text).split())
    lowered = spaced.casefold()
    if len(lowered) != len(spaced):  # places in one are not those in the other
        pieces = set(spaced.split())
    else:
        pieces = _pieces_with({word[:_BEGINNING] for word in sought.words}, spaced, lowered)
        if not text.isascii() and _MARKED.search(lowered):
            pieces |= {piece for piece in spaced.split() if _MARKED.search(piece)}
    return {word for piece in pieces for word in terms.words_of_piece(piece)}


def _pieces_with(needles: Iterable[str], text: str, lowered: str) -> set[str]:
    """Return what is between two spaces of a text, if it holds one of the needles."""
    pieces: set[str] = set()
    for needle in needles:
        at = lowered.find(needle)
        while at >= 0:
            end = text.find(" ", at)
            end = end if end >= 0 else len(text)
            pieces.add(text[text.rfind(" ", 0, at) + 1 : end])
            at = lowered.find(needle, end)
    return pieces


def _likeness(word: str, alike: Mapping[str, list[str]], joined: str) -> float:
    """Return how similar the nearest form of a missing word is to it."""
    others = alike.get(word[:_BEGINNING])
    best = max(shared(word, other) / max(len(word), len(other)) for other in others) if others else 0.0
    if best < _LIKE_INSIDE and len(word) >= _INSIDE and word in joined:
        return _LIKE_INSIDE
    return best


def shared(one: str, other: str) -> int:
    """Return how many letters two words have in common at their beginnings."""
    for at, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return at
    return min(len(one), len(other))
