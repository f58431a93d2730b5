"""Enough of a message to judge it: a short text whole, otherwise its beginning and the text around the match."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pond.search.passages import Passage, shared
from pond.search.sought import Sought
from pond.sessions import terms

_WHOLE = 800  # characters of a text that is shown whole
_BEGINNING = 300  # characters of a longer one
_WINDOW = 480  # characters around the match
_ALIKE = 4  # letters that a form of a word shares with it
_PIECE = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The text shown, a window if the text is only a beginning, and where matched words are in it."""

    text: str
    snippet: str | None
    marks: list[tuple[int, int]]  # in the snippet if there is one, otherwise in the text


def excerpt(text: str, passage: Passage | None, sought: Sought, phrases: tuple[str, ...]) -> Excerpt:
    """Return what to show of a message."""
    if len(text) <= _WHOLE:
        return Excerpt(text, None, _marks(text, sought, phrases))
    window = _window(text, passage, phrases)
    return Excerpt(text[:_BEGINNING], window, _marks(window, sought, phrases))


def _window(text: str, passage: Passage | None, phrases: tuple[str, ...]) -> str:
    at, length = (passage.start, len(passage.text)) if passage is not None else (0, 0)
    for phrase in phrases:
        if (found := text.casefold().find(phrase.casefold())) >= 0:
            at, length = found, len(phrase)
            break
    spare = max(_WINDOW - length, 0)
    begin = max(0, at - spare // 2)
    end = min(len(text), begin + _WINDOW)
    begin = max(0, end - _WINDOW)
    return text[begin:end].strip()


def _marks(text: str, sought: Sought, phrases: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return where words of the query, and forms of them, are in a text: in order, without overlaps."""
    spans: list[tuple[int, int]] = []
    folded = text.casefold()
    if len(folded) == len(text):  # otherwise places in one are not those in the other
        for phrase in phrases:
            at = folded.find(phrase.casefold())
            while at >= 0:
                spans.append((at, at + len(phrase)))
                at = folded.find(phrase.casefold(), at + 1)
    forms: dict[str, list[str]] = {}
    for word in sought.words:
        forms.setdefault(word[:_ALIKE], []).append(word)
    for piece in _PIECE.finditer(text):
        spans += _of_piece(piece[0], piece.start(), forms, sought)
    return _apart(spans)


def _of_piece(piece: str, start: int, forms: dict[str, list[str]], sought: Sought) -> list[tuple[int, int]]:
    if terms.is_dense(piece):
        pairs = [word for word in sought.words if terms.is_dense(word)]
        return [(start + at, start + at + len(pair)) for pair in pairs for at in _places(piece, pair)]
    if any(_is_form(part, word) for part in terms.words(piece) for word in forms.get(part[:_ALIKE], ())):
        return [(start, start + len(piece))]
    return []


def _places(text: str, part: str) -> list[int]:
    return [at for at in range(len(text)) if text.startswith(part, at)]


def _is_form(part: str, word: str) -> bool:
    if part == word:
        return True
    return len(word) > _ALIKE and shared(part, word) >= max(_ALIKE, min(len(part), len(word)) * 2 // 3)


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, end))
    return merged
