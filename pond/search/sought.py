"""What a search looks for: the words of a query, their weights, and the terms that the index is asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from pond.sessions import terms

_RARE, _COMMON = 0.02, 0.98  # a word counts as in at least and at most these shares of the sessions
_EVERYWHERE = 0.5  # share of the sessions from which a word says little: candidates are found without it
_LEAST = 2  # terms that are always used, however common
_MOST_WORDS, _MOST_TERMS = 32, 64  # a pasted page of text is searched by its rarest words


@dataclass(frozen=True, slots=True)
class Sought:
    """Words to look for, each once and in order, with their weights; `terms` find candidates, otherwise `others` do."""

    words: tuple[str, ...]
    weights: tuple[float, ...]
    terms: tuple[str, ...]
    others: tuple[str, ...] = ()


def sought(text: str, common: Mapping[str, float]) -> Sought:
    """Return what to look for; `common` is the share of sessions that hold a term, for common terms."""
    typed = terms.words(text)
    words = _rarest(list(dict.fromkeys(typed)), common, _MOST_WORDS)
    found = dict.fromkeys([*_index_terms(text, typed), *_joined(typed)])
    kept = [term for term in found if common.get(term, 0.0) <= _EVERYWHERE]
    if len(kept) < _LEAST:
        kept = _rarest(list(found), common, _LEAST)
    asked = _rarest(kept, common, _MOST_TERMS)
    weights = tuple(-math.log(min(max(common.get(word, 0.0), _RARE), _COMMON)) for word in words)
    rest = [term for term in found if term not in set(asked)]
    return Sought(tuple(words), weights, tuple(asked), tuple(_rarest(rest, common, _MOST_TERMS)))


def _index_terms(text: str, typed: list[str]) -> list[str]:
    """Return the terms of a query; single characters of a dense script only if nothing else was typed.

    A word that is long enough to be the end of a compound is looked for there too: `Prüfung` in `Zugangsprüfung`.
    """
    alone = {word for word in typed if len(word) == 1}
    found = [term for term in terms.terms(text).split() if len(term) > 1 or term.isascii() or term in alone]
    return found + [terms.ending(word) for word in typed if terms.may_end_a_compound(word)]


def _joined(typed: list[str]) -> list[str]:
    """Return neighbouring words as one: `file name` also means `filename` and `file_name`."""
    return [one + other for one, other in pairwise(typed) if not (terms.is_dense(one) or terms.is_dense(other))]


def _rarest(words: list[str], common: Mapping[str, float], most: int) -> list[str]:
    """Return the rarest of some words, in their order."""
    if len(words) <= most:
        return words
    kept = set(sorted(words, key=lambda word: (common.get(word, 0.0), -len(word), word))[:most])
    return [word for word in words if word in kept]
