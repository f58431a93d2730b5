"""Candidates for a search: what Lance finds, with the filter applied before it ranks (search-prefilter-pushdown).

An arm is one way to find candidates; each says how well a message fits, on its own scale. Full text is one arm, vectors
can be another: ranking takes any number of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pond.model.json_text import JsonObject
from pond.search import phrases
from pond.search.sought import Sought
from pond.sessions.load import with_micros
from pond.sessions.tables import MESSAGES
from pond.substrate import fulltext, predicate, read
from pond.substrate.store import Store

POOL = 150  # candidates that are scored again: fewer lose answers, more gain none (decision 0026)
_FEW = 10  # candidates that are too few: then the common words of the query are used too
CANDIDATE = ("session_id", "id", "role", "timestamp", "timestamp_text", "search_text")  # the columns of a candidate


@dataclass(slots=True)
class Candidate:
    """A message in the pool, with its stored ids, and how well it fits by each arm: 0 if that did not find it."""

    row: int  # its row id
    session_id: str
    id: str
    role: str
    micros: int | None  # the time, and its own spelling where it has one
    time_text: str | None
    text: str
    arms: dict[str, float] = field(default_factory=dict)
    beside: bool = False  # no arm found it: it is there because of its neighbour

    @property
    def key(self) -> tuple[str, str]:
        return self.session_id, self.id


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which messages can match: the filter, what they must contain, and what they must not."""

    where: str | None
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def allows(self, text: str) -> bool:
        """Tell whether a text holds each phrase, and no excluded one."""
        if not (self.phrases or self.without):
            return True
        spelled = phrases.Spelled(text)
        return all(map(spelled.holds, self.phrases)) and not any(map(spelled.holds, self.without))

    @property
    def spelled(self) -> str | None:
        """Return the phrases as a filter. It reads every text, and lets a little too much through."""
        return predicate.all_of(*phrases.filters("search_text", self.phrases, self.without))

    @property
    def shown(self) -> str | None:
        """Return the filter if nothing is ranked: all conditions, for messages with a text."""
        return predicate.all_of(self.where, SEARCHABLE, self.spelled)


class Snapshot:
    """The messages at one version: all queries of a search see the same rows, whatever is written meanwhile."""

    def __init__(self, store: Store, version: int | None = None) -> None:
        self._messages = read.Pinned(store, MESSAGES, version)
        self.version = self._messages.version

    def has(self, column: str) -> bool:
        """Tell whether messages have this column: vector columns come and go."""
        return column in self._messages.names

    def table(self, columns: Sequence[str], where: str | None, **limits: Any) -> pa.Table:
        """Return columns of the matching messages, with their row ids."""
        return self._messages.rows(columns, where, row_ids=True, **limits)

    def rows(self, columns: Sequence[str], where: str | None, **limits: Any) -> list[JsonObject]:
        """Return the matching messages, with their row ids."""
        return with_micros(self.table(columns, where, **limits), "timestamp")

    def count(self, wanted: Wanted) -> int:
        """Return how many messages with a text pass the filter."""
        return self._messages.count(predicate.all_of(wanted.where, SEARCHABLE))

    def full_text(self, sought: Sought, wanted: Wanted) -> tuple[list[Candidate], bool]:
        """Return the messages that match best, the best first, and whether there may be more."""
        found, more = self._matching(sought.terms, wanted)
        if len(found) < _FEW and sought.others and not more:
            known = {candidate.key for candidate in found}
            further, more = self._matching(sought.others, wanted)
            found += [candidate for candidate in further if candidate.key not in known]
            for candidate in found[len(known) :]:
                candidate.arms[FULL_TEXT] *= _BY_COMMON_WORDS
        return found, more

    def _matching(self, asked: Sequence[str], wanted: Wanted) -> tuple[list[Candidate], bool]:
        if not asked:
            return [], False
        query = fulltext.full_text(TERMS, asked, phrases.conditions(wanted.phrases))
        found, more = self._allowed(query, wanted.where, wanted)
        if more and len(found) < POOL:  # the index returned texts that do not match
            return self._allowed(query, predicate.all_of(wanted.where, wanted.spelled), wanted)
        return found, more

    def _allowed(self, query: Any, where: str | None, wanted: Wanted) -> tuple[list[Candidate], bool]:
        limit = POOL * (2 if wanted.phrases or wanted.without else 1)
        rows = self.rows([*CANDIDATE, "_score"], where, limit=limit, full_text_query=query)
        found = [as_candidate(row, {FULL_TEXT: row["_score"]}) for row in rows if wanted.allows(row["search_text"])]
        found.sort(key=lambda each: (-each.arms[FULL_TEXT], each.key))
        return found[:POOL], len(rows) == limit

    def newest(self, wanted: Wanted) -> tuple[list[Candidate], bool]:
        """Return the newest candidates, for a search without words."""
        rows = self.rows(CANDIDATE, wanted.shown, order=[read.descending("timestamp")], limit=POOL)
        return [as_candidate(row, {}) for row in rows if wanted.allows(row["search_text"])], len(rows) == POOL

    def plan(self, sought: Sought, wanted: Wanted) -> str:
        """Return how Lance executes the query for candidates."""
        if not sought.words:
            return self._messages.plan(CANDIDATE, wanted.shown, order=[read.descending("timestamp")], limit=POOL)
        query = fulltext.full_text(TERMS, sought.terms, phrases.conditions(wanted.phrases))
        return self._messages.plan([*CANDIDATE, "_score"], wanted.where, limit=POOL, full_text_query=query)

    def neighbours(
        self, pool: Sequence[Candidate], closest: Sequence[Candidate], wanted: Wanted
    ) -> tuple[list[Candidate], dict[str, list[str]]]:
        """Return the neighbours of the best candidates, and the order of the messages in their sessions.

        Only ids of neighbours are read: in a long session, all others are in the order without a name.
        """
        ids = {candidate.row: candidate.id for candidate in pool}
        sessions = sorted({candidate.session_id for candidate in closest})
        where = predicate.all_of(predicate.one_of("session_id", sessions), wanted.where, SEARCHABLE)
        table = self._messages.rows(("session_id", "position"), where, row_ids=True)
        rows: dict[str, list[int]] = {}
        for session, _, row in sorted(zip(*(column.to_pylist() for column in table.columns), strict=True)):
            rows.setdefault(session, []).append(row)
        near = {candidate.row for candidate in closest}
        found = self._read({row for each in rows.values() for row in _beside(each, near)} - ids.keys())
        ids |= {candidate.row: candidate.id for candidate in found}
        return found, {session: [ids.get(row, "") for row in each] for session, each in rows.items()}

    def _read(self, rows: Collection[int]) -> list[Candidate]:
        if not rows:
            return []
        return [as_candidate(row, {}, beside=True) for row in self.rows(CANDIDATE, read.taking(rows))]


def _beside(rows: Sequence[int], near: Collection[int]) -> Iterator[int]:
    """Yield what comes before and after those that are near."""
    for at, row in enumerate(rows):
        if row in near:
            yield from rows[max(at - 1, 0) : at + 2]


TERMS = "terms"
FULL_TEXT = "full text"
SEARCHABLE = "searched"
_BY_COMMON_WORDS = 1e-3  # factor for a message found only by common words: it ranks after all others


def as_candidate(row: JsonObject, arms: dict[str, float], *, beside: bool = False) -> Candidate:
    """Return a stored message as a candidate."""
    return Candidate(
        row[read.ROW], row["session_id"], row["id"], row["role"], row["timestamp"], row["timestamp_text"],
        row["search_text"], arms, beside,
    )  # fmt: skip
