"""Plain BM25 over words: what any search reaches, and how hard the labelled sets are."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from math import log

import pond

_WORD = re.compile(r"\w+")
_K1, _B = 1.2, 0.75  # the usual ones
_HITS = 10


@dataclass(frozen=True, slots=True)
class _Row:
    session_id: str
    id: str
    text: str
    role: str
    client: str
    project: str
    at: str


def plain_words(text: str) -> list[str]:
    """Return the words of a text."""
    return _WORD.findall(text.casefold())


class Reference:
    """The searchable messages of a lake, ranked by the words that they share with a query."""

    def __init__(self, lake: pond.Lake, words: Callable[[str], list[str]] = plain_words) -> None:
        self._words = words
        self._rows = list(_rows(lake))
        self._lengths: list[int] = []
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, row in enumerate(self._rows):
            counts = Counter(words(row.text))
            self._lengths.append(counts.total())
            for word, count in counts.items():
                self._postings[word].append((number, count))
        self._mean = sum(self._lengths) / len(self._lengths)

    def ranked(self, query: str, filters: Mapping[str, str]) -> list[tuple[str, str]]:
        """Return the best messages, best first; a message that forks have copied once."""
        scores = self._scores(query, filters)
        best = nsmallest(3 * _HITS, scores, key=lambda number: (-scores[number], number))
        found: dict[str, tuple[str, str]] = {}
        for row in (self._rows[number] for number in best):
            found.setdefault(row.id, (row.session_id, row.id))
        return list(found.values())[:_HITS]

    def match(self, query: str, filters: Mapping[str, str]) -> float:
        """Return how much of the query's weight the best message has, from 0 to 1."""
        weights = {word: self._weight(word) for word in self._words(query)}
        covered: dict[int, float] = defaultdict(float)
        for word, weight in weights.items():
            for number, _ in self._postings.get(word, ()):
                if _kept(self._rows[number], filters):
                    covered[number] += weight
        return max(covered.values(), default=0.0) / sum(weights.values())

    def _scores(self, query: str, filters: Mapping[str, str]) -> dict[int, float]:
        scores: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(self._words(query)):
            weight = self._weight(word)
            for number, count in self._postings.get(word, ()):
                if _kept(self._rows[number], filters):
                    long = _K1 * (1 - _B + _B * self._lengths[number] / self._mean)
                    scores[number] += weight * count * (_K1 + 1) / (count + long)
        return scores

    def _weight(self, word: str) -> float:
        having = len(self._postings.get(word, ()))
        return log(1 + (len(self._rows) - having + 0.5) / (having + 0.5))


def _rows(lake: pond.Lake) -> Iterator[_Row]:
    sessions = {row["id"]: row for row in lake.to_arrow("sessions", ["id", "source_agent", "project"]).to_pylist()}
    columns = ["session_id", "id", "search_text", "role", "timestamp"]
    rows = lake.to_arrow("messages", columns).to_pylist()
    for row in sorted(rows, key=lambda row: (row["timestamp"], row["session_id"], row["id"])):
        if row["search_text"] is not None:
            session = sessions[row["session_id"]]
            of = (session["source_agent"], session["project"])
            yield _Row(row["session_id"], row["id"], row["search_text"], row["role"], *of, row["timestamp"].isoformat())


def _kept(row: _Row, filters: Mapping[str, str]) -> bool:
    """Tell whether a message is one of those that the filters leave."""
    facts = {"role": row.role, "client": row.client, "project": row.project, "session": row.session_id}
    for name, value in filters.items():
        if name == "since":
            kept = row.at >= value
        elif name == "until":
            kept = row.at < value
        else:
            kept = facts[name] == value
        if not kept:
            return False
    return True
