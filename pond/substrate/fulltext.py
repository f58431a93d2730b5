"""Queries to a full-text index as plain values; only here they become Lance's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AnyWord:
    """The text has one of the words; more and rarer words rank higher."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AllWords:
    """The text has each of the words, anywhere."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InARow:
    """The text has these words, one directly after the other."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of these hold."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of these holds."""

    parts: tuple[Condition, ...]


Condition = AnyWord | AllWords | InARow | AllOf | AnyOf


def full_text(column: str, words: Sequence[str], conditions: Sequence[Condition] = ()) -> Any:
    """Return a query for rows that meet each condition, ranked by the words; without conditions, a word must match."""
    from lance.query import BooleanQuery, Occur

    ranking = _asked(column, AnyWord(tuple(words)))
    if not conditions:
        return ranking
    return BooleanQuery([*((Occur.MUST, _asked(column, each)) for each in conditions), (Occur.SHOULD, ranking)])


def _asked(column: str, condition: Condition) -> Any:
    from lance.query import BooleanQuery, FullTextOperator, MatchQuery, Occur, PhraseQuery

    match condition:
        case AnyWord(words):
            return MatchQuery(" ".join(words), column)
        case AllWords(words):
            return MatchQuery(" ".join(words), column, operator=FullTextOperator.AND)
        case InARow(words):
            return PhraseQuery(" ".join(words), column)
        case AllOf(parts):
            return BooleanQuery([(Occur.MUST, _asked(column, part)) for part in parts])
        case AnyOf(parts):
            return BooleanQuery([(Occur.SHOULD, _asked(column, part)) for part in parts])
