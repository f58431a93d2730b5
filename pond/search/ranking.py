"""Scores the pool again: by what each message itself says and, if messages are short, by what is around it.

A long message speaks for itself. A turn of a chat does not: what the question names may be in the turn before. So the
shorter the messages of a pool are, the more neighbours, the session and a message's own length count. The weights are
few and round: tuning them finer gained nothing on any labelled set (decision 0026).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from pond.search.candidates import FULL_TEXT, Candidate
from pond.search.passages import Passage, passages
from pond.search.sought import Sought

_TOUCHING = 0.8  # weight of words in the passage before or after
_SHORT = 50  # words of a message at which its surroundings count half
_NEIGHBOURS = {-1: 0.3, 1: 0.1, -2: 0.2, 2: 0.1}  # what came before says more than what came after
_ENOUGH = 40  # words from which a message is not short
_BEST_FEW = (1.0, 0.5, 0.25, 0.125)  # weights of a session's best messages
_BEHIND = 0.999  # factor on the score of the message whose neighbour this is
_WEAK = 0.13  # of a match by words: below it, what was asked for is hardly here
_OUTSTANDING = 0.25  # of the way from the middle of the pool to the same meaning
_FIT = 20.0  # of full text at which a match is half certain

Key = TypeVar("Key")
Order = Mapping[str, Sequence[str]]  # the messages of a session that have a text, in order


@dataclass(slots=True)
class Scored:
    """A message of the pool with what made its rank. `score` ranks within one search, `match` compares searches."""

    candidate: Candidate
    passage: Passage  # the best one
    covered: float  # share of the query, by weight, in that passage and its neighbours
    own: float  # 0 to 1: arms and coverage together, compared with the rest of the pool
    around: float = 0.0  # what neighbours, session and length add
    score: float = 0.0
    words_match: float = 0.0
    match: float = 0.0


def surroundings_count(pool: Sequence[Candidate]) -> float:
    """Return how much a message's surroundings count, from 0 to 1: more if messages are shorter."""
    return 1 / (1 + (median(_length(each.text) for each in pool) / _SHORT) ** 2) if pool else 0.0


def _length(text: str) -> int:
    """Return about how many words a text has, without splitting it: scripts without spaces have two letters each."""
    return max(text.count(" ") + 1, len(text) // 12)


def ranked(pool: Sequence[Candidate], order: Order, sought: Sought) -> list[Scored]:
    """Return the pool, the best first."""
    if not pool:
        return []
    cut = {each.key: passages(each.text, sought) for each in pool}
    total = sum(sought.weights) or 1.0
    places = {(session, id): at for session, ids in order.items() for at, id in enumerate(ids)}
    covered = {each.key: _covered(each, cut, places, order, sought, total) for each in pool}
    full_text = _scaled({each.key: each.arms.get(FULL_TEXT, 0.0) for each in pool})
    others = [_of_arm(arm, pool) for arm in _arms(pool)]
    coverage = _scaled({(*key, at): share for key, shares in covered.items() for at, share in enumerate(shares)})
    found = []
    for each in pool:
        shares = covered[each.key]
        best = max(range(len(shares)), key=lambda at: (shares[at], -at))
        by_words = (full_text[each.key] + coverage[(*each.key, best)]) / 2
        own = by_words + sum(arm.get(each.key, 0.0) for arm in others)
        found.append(Scored(each, cut[each.key][best], shares[best], own))
    _add_surroundings(found, surroundings_count(pool), places, order)
    _put_behind(found)
    for scored in found:
        scored.words_match = _words_match(scored)
        scored.match = _match(scored)
    return sorted(found, key=lambda scored: (-scored.score, scored.candidate.key))


def _put_behind(found: Sequence[Scored]) -> None:
    """Put messages that no arm found after the best found one of their session: they came along with it."""
    best: dict[str, float] = {}
    for scored in found:
        if not scored.candidate.beside:
            session = scored.candidate.session_id
            best[session] = max(best.get(session, 0.0), scored.score)
    for scored in found:
        if scored.candidate.beside:
            scored.score = min(scored.score, _BEHIND * best.get(scored.candidate.session_id, 0.0))


def session_scores(found: Sequence[Scored]) -> dict[str, float]:
    """Return how good each session is, the best first: its best message counts most, further ones add to it."""
    scores: dict[str, list[float]] = {}
    for scored in found:
        scores.setdefault(scored.candidate.session_id, []).append(scored.score)
    summed = {id: sum(a * b for a, b in zip(best, _BEST_FEW, strict=False)) for id, best in scores.items()}
    return dict(sorted(summed.items(), key=lambda each: (-each[1], each[0])))


def _arms(pool: Sequence[Candidate]) -> list[str]:
    """Return the arms besides full text that found something."""
    return sorted({arm for each in pool for arm in each.arms} - {FULL_TEXT})


def _of_arm(arm: str, pool: Sequence[Candidate]) -> dict[tuple[str, str], float]:
    """Return an arm's scores, scaled to the messages that it knows; others get none."""
    return _scaled({each.key: each.arms[arm] for each in pool if arm in each.arms})


def _words_match(scored: Scored) -> float:
    """Return how well the words of a message match: full text never makes a match wholly certain."""
    fit = scored.candidate.arms.get(FULL_TEXT, 0.0)
    return scored.covered * fit / (fit + _FIT)


def _match(scored: Scored) -> float:
    """Return how well a message matches, independent of other results: by its words, and by its meaning if known."""
    others = [max(0.0, value) for arm, value in scored.candidate.arms.items() if arm != FULL_TEXT]
    return (scored.words_match + sum(others)) / (1 + len(others))


def is_weak(found: Sequence[Scored]) -> bool:
    """Tell whether even the best match is weak: few of the words match, and no meaning stands out from the rest.

    How near vectors are depends on the model, so a meaning is compared with the others of the pool.
    """
    if not found or max(scored.words_match for scored in found) >= _WEAK:
        return False
    others = [value for scored in found for arm, value in scored.candidate.arms.items() if arm != FULL_TEXT]
    return not others or (max(others) - median(others)) < _OUTSTANDING * (1 - median(others))


def _covered(
    each: Candidate, cut: Mapping[tuple[str, str], list[Passage]], places: Mapping[tuple[str, str], int], order: Order,
    sought: Sought, total: float,
) -> list[float]:  # fmt: skip
    """Return how much of the query each passage of a message covers, with its neighbours."""
    own = cut[each.key]
    before, after = (_beside(each.key, offset, cut, places, order) for offset in (-1, 1))
    row = [before[-1].met if before else (), *(passage.met for passage in own), after[0].met if after else ()]
    shares = []
    for at in range(1, len(row) - 1):
        said = row[at]
        for near in (row[at - 1], row[at + 1]):
            if any(near):
                said = tuple(max(here, _TOUCHING * there) for here, there in zip(said, near, strict=True))
        shares.append(sum(weight * met for weight, met in zip(sought.weights, said, strict=True)) / total)
    return shares


def _beside(
    key: tuple[str, str], offset: int, found: Mapping[tuple[str, str], list[Passage]],
    places: Mapping[tuple[str, str], int], order: Order,
) -> list[Passage]:  # fmt: skip
    at = places.get(key, -1) + offset
    ids = order.get(key[0], ())
    return found.get((key[0], ids[at]), []) if key in places and 0 <= at < len(ids) else []


def _scaled(values: dict[Key, float]) -> dict[Key, float]:
    """Return values on a scale from 0, for the least of the pool, to 1."""
    least, most = min(values.values()), max(values.values())
    if most <= least:
        return dict.fromkeys(values, 1.0 if most > 0 else 0.0)
    return {key: (value - least) / (most - least) for key, value in values.items()}


def _add_surroundings(
    found: list[Scored], counts: float, places: Mapping[tuple[str, str], int], order: Order
) -> None:  # fmt: skip
    most = max(scored.own for scored in found) or 1.0
    for scored in found:
        scored.own /= most
    own = {scored.candidate.key: scored.own for scored in found}
    best: dict[str, float] = {}
    for scored in found:
        session = scored.candidate.session_id
        best[session] = max(best.get(session, 0.0), scored.own)
    whole = 1 + counts * (sum(_NEIGHBOURS.values()) + 2)
    for scored in found:
        key, ids = scored.candidate.key, order.get(scored.candidate.session_id, ())
        near = 0.0
        if key in places:
            at = places[key]
            near = sum(
                weight * own.get((key[0], ids[at + step]), 0.0)
                for step, weight in _NEIGHBOURS.items()
                if 0 <= at + step < len(ids)
            )
        length = math.log1p(min(_length(scored.candidate.text), _ENOUGH)) / math.log1p(_ENOUGH)
        scored.around = counts * (near + best[key[0]] + length)
        scored.score = (scored.own + scored.around) / whole
