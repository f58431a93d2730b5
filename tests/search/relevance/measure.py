"""Ranks of the labelled queries, what they amount to, and whether a change of them is a loss."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.search.relevance.sets import Query, queries

Ranking = Callable[[str, Mapping[str, str]], Sequence[tuple[str, str]]]
Ranks = dict[str, dict[str, int | None]]  # by set and query; None where no answer is among the hits

RECORDED = Path(__file__).with_name("ranks.json")
HITS = 10  # that are looked at
SET_MAY_LOSE = 0.03  # of its mean reciprocal rank
# A single query that falls from the first place to the second is no loss of a set, however small the set is.
ONE_QUERY_MAY_LOSE = 0.5
MATCH_FLOOR = 0.80  # of the AUC of `match`: queries that have an answer against those that have none


def ranks(ranking: Ranking) -> Ranks:
    """Return the rank of the first answer to each query."""
    found: Ranks = defaultdict(dict)
    for query in queries():
        found[query.set][query.key] = rank(query, ranking(query.query, query.filters))
    return dict(found)


def rank(query: Query, hits: Sequence[tuple[str, str]]) -> int | None:
    """Return the rank of the first hit that answers a query, counted from 1."""
    places = (place for place, (_, message_id) in enumerate(hits[:HITS], start=1) if message_id in query.answers)
    return next(places, None)


def reciprocal(rank: int | None) -> float:
    """Return what a rank is worth."""
    return 1 / rank if rank else 0.0


def mrr(found: Iterable[int | None]) -> float:
    """Return the mean reciprocal rank."""
    worth = [reciprocal(rank) for rank in found]
    return sum(worth) / len(worth)


def all_of(found: Ranks) -> list[int | None]:
    """Return the ranks of all sets."""
    return [rank for of_set in found.values() for rank in of_set.values()]


def table(found: Ranks) -> str:
    """Return, for each set, each kind and all, the mean reciprocal rank and the share of hits at 1, 5 and 10."""
    kinds: dict[str, list[int | None]] = defaultdict(list)
    for query in queries():
        kinds[query.kind].append(found[query.set][query.key])
    rows = [(name, list(of_set.values())) for name, of_set in sorted(found.items())]
    rows += [(f"({kind})", of_kind) for kind, of_kind in sorted(kinds.items())]
    lines = [f"{'set or (kind)':<16}{'queries':>8}{'MRR@10':>8}{'hit@1':>7}{'@5':>5}{'@10':>5}"]
    for name, of_row in [*rows, ("all", all_of(found))]:
        at = [100 * sum(rank is not None and rank <= most for rank in of_row) / len(of_row) for most in (1, 5, 10)]
        lines.append(f"{name:<16}{len(of_row):>8}{mrr(of_row):>8.3f}{at[0]:>7.0f}{at[1]:>5.0f}{at[2]:>5.0f}")
    return "\n".join(lines)


def auc(answerable: Sequence[float], unanswerable: Sequence[float]) -> float:
    """Return how often an answerable query has the better match of the two; an equal match counts half."""
    won = sum((yes > no) + (yes == no) / 2 for yes in answerable for no in unanswerable)
    return won / (len(answerable) * len(unanswerable))


def recorded() -> Ranks:
    """Return the accepted ranks."""
    accepted: Ranks = json.loads(RECORDED.read_text("utf-8"))
    return accepted


def record(found: Ranks) -> None:
    """Accept ranks: from now on these are compared with."""
    RECORDED.write_text(json.dumps(found, ensure_ascii=False, indent=1, sort_keys=True) + "\n", "utf-8")


def keys(found: Ranks) -> set[tuple[str, str]]:
    """Return set and query of each rank."""
    return {(name, key) for name, of_set in found.items() for key in of_set}


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to the ranks since they were accepted."""

    better: list[str]
    worse: list[str]
    losses: list[str]  # why the change is not to be kept; empty where it is

    def __str__(self) -> str:
        parts = (("lost", self.losses), ("better", self.better), ("worse", self.worse))
        return "\n".join(f"{what}: {line}" for what, lines in parts for line in lines) or "no rank changed"


def compare(before: Ranks, after: Ranks) -> Change:
    """Judge a change: all queries together may not lose, nor may a set lose more than a little."""
    better: list[str] = []
    worse: list[str] = []
    losses: list[str] = []
    total = 0.0
    for name, old in before.items():
        lost = 0.0
        for key, was in old.items():
            now = after[name][key]
            lost += reciprocal(was) - reciprocal(now)
            if was != now:
                line = f"{name}: {key}: {was or 'not found'} -> {now or 'not found'}"
                (better if reciprocal(now) > reciprocal(was) else worse).append(line)
        total += lost
        if lost > max(SET_MAY_LOSE * len(old), ONE_QUERY_MAY_LOSE) + 1e-9:
            losses.append(f"{name}: MRR {mrr(old.values()):.3f} -> {mrr(after[name].values()):.3f}")
    if total > 1e-9:
        losses.append(f"all: MRR {mrr(all_of(before)):.3f} -> {mrr(all_of(after)):.3f}")
    return Change(better, worse, losses)
