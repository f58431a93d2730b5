"""The judge of ranking changes notices a loss, and lets a gain pass."""

from collections.abc import Mapping

import pytest

import pond
from pond.sessions.terms import terms
from tests.search.relevance.measure import Ranks, auc, compare, ranks
from tests.search.relevance.reference import Reference


@pytest.fixture(scope="module")
def with_terms(labelled: pond.Lake) -> Reference:
    return Reference(labelled, lambda text: terms(text).split())


@pytest.fixture(scope="module")
def accepted(with_terms: Reference) -> Ranks:
    return ranks(with_terms.ranked)


def _sets_that_lost(before: Ranks, after: Ranks) -> set[str]:
    return {line.partition(":")[0] for line in compare(before, after).losses}


def test_the_same_ranking_loses_nothing(with_terms: Reference, accepted: Ranks) -> None:
    assert str(compare(accepted, ranks(with_terms.ranked))) == "no rank changed"


def test_a_reversed_ranking_is_noticed(with_terms: Reference, accepted: Ranks) -> None:
    def reversed_hits(query: str, filters: Mapping[str, str]) -> list[tuple[str, str]]:
        return with_terms.ranked(query, filters)[::-1]

    assert {"all", "errors", "identifiers", "prose"} <= _sets_that_lost(accepted, ranks(reversed_hits))


def test_a_ranking_by_whole_words_alone_is_noticed(labelled: pond.Lake, accepted: Ranks) -> None:
    lost = _sets_that_lost(accepted, ranks(Reference(labelled).ranked))
    assert {"all", "chinese", "german", "identifiers", "japanese", "korean", "russian", "vietnamese"} <= lost


def test_a_ranking_without_beginnings_of_words_is_noticed(labelled: pond.Lake, accepted: Ranks) -> None:
    """Terms of at most four letters are left out: the beginnings of words, and with them what inflects."""

    def long_terms(text: str) -> list[str]:
        return [term for term in terms(text).split() if len(term) > 4 or not term.isalpha()]

    assert {"all", "russian"} <= _sets_that_lost(accepted, ranks(Reference(labelled, long_terms).ranked))


def test_filters_that_are_not_kept_are_noticed(with_terms: Reference, accepted: Ranks) -> None:
    assert {"all", "filters"} <= _sets_that_lost(accepted, ranks(lambda query, _: with_terms.ranked(query, {})))


SMALL: Ranks = {"one": {"a": 1, "b": 2}, "two": dict.fromkeys("cdefghijklmnopqrstuvwxyz", 1)}


def _moved(**places: int | None) -> Ranks:
    return {name: {key: places.get(key, rank) for key, rank in of_set.items()} for name, of_set in SMALL.items()}


@pytest.mark.parametrize(
    ("after", "lost"),
    [
        (_moved(b=1), set()),
        (_moved(b=1, c=2), set()),  # as much won as lost
        (_moved(c=2), {"all"}),
        (_moved(b=1, c=3), {"all"}),  # in a big set the one query is less than what it may lose
        (_moved(a=None), {"all", "one"}),
        (_moved(c=2, d=2), {"all", "two"}),
    ],
)
def test_what_is_a_loss(after: Ranks, lost: set[str]) -> None:
    assert _sets_that_lost(SMALL, after) == lost


def test_a_set_may_not_pay_for_another() -> None:
    before: Ranks = {"one": {"a": 1, "b": 1}, "two": {"c": None, "d": None}}
    after: Ranks = {"one": {"a": 2, "b": 2}, "two": {"c": 1, "d": 1}}
    assert _sets_that_lost(before, after) == {"one"}


def test_a_change_names_the_queries() -> None:
    change = compare(SMALL, _moved(b=1, c=None))
    assert change.better == ["one: b: 2 -> 1"]
    assert change.worse == ["two: c: 1 -> not found"]


def test_the_auc_counts_pairs() -> None:
    assert auc([0.9, 0.8], [0.1, 0.8]) == 3.5 / 4
