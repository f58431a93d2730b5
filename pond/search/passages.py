"""Passages: pieces of a text short enough that words in one of them belong together.

A message is as good as its best passage. Of a long text only the passages that hold most of the words are looked at:
the time that one message takes is bounded, however long it is.
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
_LONG = 2000  # characters of a text that is looked at whole
_MOST = 8  # passages of a longer text
_CHOOSING = 16  # sought words by which these are chosen, the rarest: a pasted page over long texts stays bounded
_BEGINNING = 4  # letters that two words must share to be taken for forms of one
# Latin letters with diacritics, and diacritics by themselves.
_MARKED = re.compile("[\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff]")
_INSIDE, _LIKE_INSIDE = 6, 0.8  # a word of so many letters counts so much where it stands inside another


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text, where it begins in it, and how well each sought word is met there, from 0 to 1."""

    start: int
    text: str
    met: tuple[float, ...]


def passages(text: str, sought: Sought) -> list[Passage]:
    """Return the passages of a text in order; of a long one those that hold most of what is sought."""
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
    whole = "\n".join(lowered)  # looked through as one: most pieces of a long text hold nothing of what is sought
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
    """Return the words of a text that may meet a sought one, with or without their diacritics.

    Only pieces that hold the beginning of a sought word, or letters with diacritics, are taken apart: to take all of
    them apart is what most of the time would go to.
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
    """Return what stands between two spaces of a text, where it holds one of the needles."""
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
    """Return how much the nearest form of a word that is not there itself is like it."""
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
