"""A search from beginning to end: candidates by full text, scored again, each message once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pond.search.candidates import Candidate, Snapshot, Wanted
from pond.search.passages import Passage
from pond.search.ranking import Scored, ranked, surroundings_count
from pond.search.results import Result, once
from pond.search.sought import Sought, sought
from pond.substrate.store import Store

_CLOSEST = 50  # candidates whose neighbours are looked at


@dataclass(slots=True)
class Found:
    """What a search found: the pool, each message once, the best first."""

    sought: Sought
    version: int  # of the messages: the same one gives the same answer
    searchable: int  # messages that the filters left
    results: list[Result] = field(default_factory=list)
    more: bool = False  # further messages matched that are not in the pool
    surroundings: float = 0.0  # how much neighbours and session counted
    plan: str = ""  # how Lance answered, where that was asked for


def search(
    store: Store, words: str, wanted: Wanted, common: Mapping[str, float], version: int | None = None,
    *, explain: bool = False,
) -> Found:  # fmt: skip
    """Return the messages that fit best; without words, the newest that the filters leave."""
    snapshot = Snapshot(store, version)
    target = sought(words, common)
    found = Found(target, snapshot.version, snapshot.count(wanted))
    if explain:
        found.plan = snapshot.plan(target, wanted)
    if not target.words:
        newest, found.more = snapshot.newest(wanted)
        found.results = once(_by_time(newest))
        return found
    pool, found.more = snapshot.full_text(target, wanted)
    found.surroundings = surroundings_count(pool)
    beside, order = snapshot.neighbours(pool, _CLOSEST, wanted)
    scored = ranked([*pool, *beside], order, target)
    found.results = once([each for each in scored if wanted.allows(each.candidate.text)])
    return found


def _by_time(newest: Sequence[Candidate]) -> list[Scored]:
    count = len(newest)
    return [
        Scored(each, Passage(0, "", ()), 1.0, 1.0, score=(count - at) / count, match=1.0)
        for at, each in enumerate(newest)
    ]
