"""Exact phrases: what the index is asked for, and whether a text really holds one.

A text holds a phrase letter for letter, apart from case and white space, between word boundaries. The index cuts words
at humps: `GitHub` is `git` and `hub`. Somebody who types "github actions" means that text too. So the index is asked
for more than what was typed, and each text that it finds is compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from pond.search.query.query import Query
from pond.search.sought import Sought
from pond.sessions import terms
from pond.sessions.search_text import indexable
from pond.substrate import predicate
from pond.substrate.fulltext import AllOf, AllWords, AnyOf, AnyWord, Condition, InARow

MOST = 16  # phrases of a query that the index is asked for: hundreds would crash Lance
_IN_A_ROW = 32  # words of a phrase that are asked for in a row
_APART = 6  # words of a phrase that may be cut at humps in the text
_COMPARED = 200  # characters of a phrase that Lance compares


def demanded(query: Query) -> tuple[str, ...]:
    """Return the phrases of a query. Signs alone, which no word ranks, are one: a person who types `=>` wants that."""
    if query.phrases or not query.words or terms.words(query.words):
        return query.phrases
    return (query.words,)


class Spelled:
    """A text to be compared with phrases."""

    def __init__(self, text: str) -> None:
        self._text = _normal(text)
        self._folded = _folded(self._text)

    def holds(self, phrase: str) -> bool:
        """Tell whether the text holds a phrase, as whole words."""
        if _spelling(phrase) not in self._folded:  # nearly always this is enough
            return False
        pattern = _pattern(phrase)
        found = pattern.search(self._text)
        while found is not None:
            if _is_edge(self._text, found.start()) and _is_edge(self._text, found.end()):
                return True
            found = pattern.search(self._text, found.start() + 1)
        return False


@lru_cache(maxsize=1 << 14)  # a phrase is at least three characters of a query
def _spelling(phrase: str) -> str:
    return _folded(_normal(indexable(phrase)))


@lru_cache(maxsize=256)
def _pattern(phrase: str) -> re.Pattern[str]:
    words = _normal(indexable(phrase)).split()
    alike = (re.sub("ss|[ßẞ]", "(?:ss|ß)", re.escape(word), flags=re.IGNORECASE) for word in words)
    return re.compile(r"\s+".join(alike), re.IGNORECASE)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _normal(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _is_edge(text: str, at: int) -> bool:
    """Tell whether a word may begin or end at a place in a text: the same places as among the terms."""
    if at in (0, len(text)):
        return True
    before, here = terms.words(text[at - 1]), terms.words(text[at])
    if not before or not here or terms.is_dense(text[at - 1]) or terms.is_dense(text[at]):
        return True
    return terms.words(text[at - 1 : at + 2])[0] == before[0]


def conditions(wanted: Sequence[str]) -> list[Condition]:
    """Return what the index is asked for; phrases that it cannot answer are left to the comparison of texts."""
    return [found for phrase in wanted[:MOST] if (found := condition(phrase)) is not None]


def found_by_phrase(sought: Sought, wanted: Sequence[str]) -> bool:
    """Tell whether the terms that are asked for find every text with the phrases: they hold a word of one of these."""
    asked = set(sought.terms)
    return any(word in asked for phrase in wanted[:MOST] for word in terms.words(_normal(indexable(phrase)).lower()))


def filters(column: str, wanted: Sequence[str], excluded: Sequence[str]) -> Iterator[str]:
    """Yield filters that let all texts with the wanted phrases through, and hardly one with an excluded one."""
    for phrase in wanted[:MOST]:
        if words := indexable(phrase)[:_COMPARED].split():
            yield predicate.says(column, words)
    for phrase in excluded[:MOST]:
        if len(phrase) <= _COMPARED and (words := indexable(phrase).split()):
            yield predicate.lacking(column, predicate.says(column, words, whole=True))


def condition(phrase: str) -> Condition | None:
    """Return what the terms of a text with this phrase must match; None if only signs were typed.

    The words follow each other as they were typed, or without humps. Or the text has humps that nobody typed: a word
    that is cut once is there whole beside its pieces, so all words are there, and the end of one of them.
    """
    text = _normal(indexable(phrase))
    typed, plain = _without_halves(terms.words(text)), _without_halves(terms.words(text.lower()))
    if not plain:
        return None
    rows = dict.fromkeys(InARow(tuple(words[:_IN_A_ROW])) for words in (typed, plain))
    some = plain[:_APART]
    ends = tuple(
        dict.fromkeys(word[at:] for word in some if not terms.is_dense(word) for at in range(1, len(word) - 1))
    )
    return AnyOf((*rows, AllOf((AllWords(tuple(some)), AnyWord(ends))))) if ends else AnyOf(tuple(rows))


def _without_halves(words: list[str]) -> list[str]:
    """Return words without a single character of a dense script at either end: the text may have it in a pair."""
    begin, end = 0, len(words)
    while begin < end and _is_half(words[begin]):
        begin += 1
    while end > begin and _is_half(words[end - 1]):
        end -= 1
    return words[begin:end]


def _is_half(word: str) -> bool:
    return len(word) == 1 and terms.is_dense(word)
