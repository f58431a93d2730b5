"""The results as a person thinks of them: sessions with their best messages, copied history once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pond.search.ranking import Scored, session_scores

PER_SESSION = 3  # messages shown of a session
_GOOD_ENOUGH = 0.5  # of the best match: results listed by time must match about as well


@dataclass(slots=True)
class Result:
    """A message found; `copies` are the other sessions that hold it."""

    scored: Scored
    copies: list[str] = field(default_factory=list)

    @property
    def session_id(self) -> str:
        return self.scored.candidate.session_id


@dataclass(slots=True)
class SessionResults:
    """The messages found in one session, the best first."""

    id: str
    score: float
    results: list[Result]


def once(found: Sequence[Scored]) -> list[Result]:
    """Return each message once: a fork holds the messages of the session it was made from.

    The same message has the same id, or the same text from the same moment. The best copy represents all; among equal
    ones, that with the first id.
    """
    results: list[Result] = []
    known: dict[tuple[object, ...], Result] = {}
    for scored in found:
        candidate = scored.candidate
        names: list[tuple[object, ...]] = [(candidate.id, candidate.text)]
        if candidate.micros is not None:
            names.append((candidate.role, candidate.micros, candidate.text))
        same = next((known[name] for name in names if name in known), None)
        if same is not None and same.session_id != candidate.session_id:
            same.copies.append(candidate.session_id)
            continue
        result = Result(scored)
        results.append(result)
        known |= dict.fromkeys(names, result)
    return results


def matching(results: Sequence[Result]) -> int:
    """Return how many of the results matched themselves, without neighbours."""
    return sum(not result.scored.candidate.beside for result in results)


def by_session(results: Sequence[Result]) -> list[SessionResults]:
    """Return the results of each session, the best session first."""
    scores = session_scores([result.scored for result in results])
    held: dict[str, list[Result]] = {id: [] for id in scores}
    for result in results:
        held[result.session_id].append(result)
    return [SessionResults(id, score, held[id]) for id, score in scores.items()]


def newest_first(results: Sequence[Result]) -> list[Result]:
    """Return the results that match about as well as the best one, by their time; those without one come last."""
    best = max((result.scored.match for result in results), default=0.0)
    good = [result for result in results if result.scored.match >= _GOOD_ENOUGH * best]
    return sorted(good, key=lambda result: -(result.scored.candidate.micros or -(1 << 62)))
