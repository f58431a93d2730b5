"""A search from start to end: candidates by words and by meaning, scored again, each message once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pond.search.candidates import FULL_TEXT, Candidate, Snapshot, Wanted
from pond.search.meaning import MEANING, NEAREST, Meaning, measure, nearest
from pond.search.passages import Passage
from pond.search.phrases import found_by_phrase
from pond.search.ranking import Scored, ranked, surroundings_count
from pond.search.results import Result, once
from pond.search.sought import Sought, sought
from pond.substrate.store import Store

_CLOSEST = 50  # candidates whose neighbours are considered


@dataclass(slots=True)
class Found:
    """What a search found: the pool, each message once, the best first."""

    sought: Sought
    version: int  # of the messages: the same one gives the same answer
    searchable: int  # messages that pass the filters
    results: list[Result] = field(default_factory=list)
    more: bool = False  # more messages matched than are in the pool
    surroundings: float = 0.0  # how much neighbours and session counted
    plan: str = ""  # how Lance executed it, on request
    arms: list[str] = field(default_factory=list)  # the arms that were used


def search(
    store: Store, words: str, wanted: Wanted, common: Mapping[str, float], version: int | None = None,
    *, meaning: Meaning | None = None, explain: bool = False,
) -> Found:  # fmt: skip
    """Return the messages that match best; without words and meaning, the newest that pass the filters."""
    snapshot = Snapshot(store, version)
    target = sought(words, common)
    meaning = meaning if meaning is not None and snapshot.has(meaning.column) else None
    found = Found(target, snapshot.version, snapshot.count(wanted))
    found.arms = [name for name, used in ((FULL_TEXT, target.words), (MEANING, meaning)) if used]
    if explain:
        found.plan = snapshot.plan(target, wanted)
    if not target.words and meaning is None:
        newest, found.more = snapshot.newest(wanted)
        found.results = once(_by_time(newest))
        return found
    pool, found.more = snapshot.full_text(target, wanted)
    closest = pool[:_CLOSEST]
    if meaning is not None:
        # Messages with the phrases are in the pool already. Looking for them among vectors would read every text.
        complete = found_by_phrase(target, wanted.phrases) and not found.more
        near = [] if complete else nearest(snapshot, meaning, wanted, found.searchable)
        pool, found.more = _joined(pool, near), found.more or len(near) == NEAREST
        closest = _joined(closest, near[:_CLOSEST])
    found.surroundings = surroundings_count(pool)
    beside, order = snapshot.neighbours(pool, closest, wanted)
    pool = [*pool, *beside]
    if meaning is not None:
        measure(snapshot, meaning, pool)
    scored = ranked(pool, order, target)
    itself = None if meaning is None else meaning.itself
    found.results = once(
        [each for each in scored if wanted.allows(each.candidate.text) and each.candidate.key != itself]
    )
    return found


def _joined(pool: Sequence[Candidate], near: Sequence[Candidate]) -> list[Candidate]:
    """Return what either arm found, each message once, with the scores of both."""
    known = {each.key: each for each in pool}
    for each in near:
        known.setdefault(each.key, each).arms[MEANING] = each.arms[MEANING]
    return list(known.values())


def _by_time(newest: Sequence[Candidate]) -> list[Scored]:
    count = len(newest)
    return [
        Scored(each, Passage(0, "", ()), 1.0, 1.0, score=(count - at) / count, match=1.0)
        for at, each in enumerate(newest)
    ]
