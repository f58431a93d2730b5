"""Passages: pieces of a text short enough that words in one of them belong together.

A message is as good as its best passage. Of a long text only the passages that hold most of the words are looked at:
the time that one message takes is bounded, however long it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from pond.search.sought import Sought
from pond.sessions import terms

_SIZE = 400  # characters of a passage; anything from 250 to 800 ranks as well (decision 0026)
_LONG = 2000  # characters of a text that is looked at whole
_MOST = 8  # passages of a longer text
_BEGINNING = 4  # letters that two words must share to be taken for forms of one
_INSIDE, _LIKE_INSIDE = 6, 0.8  # a word of so many letters counts so much where it stands inside another


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text, where it begins in it, and how well each sought word is met there, from 0 to 1."""

    start: int
    text: str
    met: tuple[float, ...]
    size: int  # words


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
    needles = [(word[:_BEGINNING], weight) for word, weight in zip(sought.words, sought.weights, strict=True)]

    def promise(piece: tuple[int, str]) -> float:
        lowered = piece[1].casefold()
        return sum(weight for needle, weight in needles if needle in lowered)

    best = sorted(pieces, key=lambda piece: (-promise(piece), piece[0]))[:_MOST]
    return sorted(best)


def _judged(start: int, text: str, sought: Sought) -> Passage:
    words = terms.words(text)
    held = set(words)
    if not text.isascii():
        held |= {terms.without_diacritics(word) for word in held}
    wanted = {word[:_BEGINNING] for word in sought.words if word not in held and len(word) >= _BEGINNING}
    alike: dict[str, list[str]] = {}
    for word in held if wanted else ():
        if word[:_BEGINNING] in wanted:
            alike.setdefault(word[:_BEGINNING], []).append(word)
    met = tuple([1.0 if word in held else _likeness(word, alike, words) for word in sought.words])
    return Passage(start, text, met, len(words))


def _likeness(word: str, alike: dict[str, list[str]], words: list[str]) -> float:
    """Return how much the nearest form of a word that is not there itself is like it."""
    best = max(
        (shared(word, other) / max(len(word), len(other)) for other in alike.get(word[:_BEGINNING], ())), default=0.0
    )
    if best < _LIKE_INSIDE and len(word) >= _INSIDE and any(word in other for other in words):
        return _LIKE_INSIDE
    return best


def shared(one: str, other: str) -> int:
    """Return how many letters two words have in common at their beginnings."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
