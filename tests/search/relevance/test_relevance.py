"""Search finds what the labelled queries ask for, as well as it was once accepted to.

`python -m tests.search.relevance` prints the figures by set and kind; `--accept` records the ranks of today.
"""

from functools import partial

import pytest

import pond
from tests.search.relevance import searching
from tests.search.relevance.measure import (
    MATCH_FLOOR,
    Ranks,
    all_of,
    auc,
    compare,
    keys,
    mrr,
    ranks,
    recorded,
)
from tests.search.relevance.sets import Query, negatives, queries, sessions


@pytest.fixture(scope="module")
def found(labelled: pond.Lake) -> Ranks:
    return ranks(partial(searching.ranked, labelled))


def test_no_change_loses_more_than_it_gains(found: Ranks) -> None:
    assert keys(recorded()) == keys(found), "record the new queries: python -m tests.search.relevance --accept"
    change = compare(recorded(), found)
    print(change)
    assert not change.losses, f"\n{change}"


def test_search_is_no_worse_than_plain_words(labelled: pond.Lake, found: Ranks) -> None:
    assert mrr(all_of(found)) >= mrr(all_of(ranks(searching.reference(labelled).ranked)))


def test_a_match_tells_whether_there_is_an_answer(labelled: pond.Lake) -> None:
    def matches(some: tuple[Query, ...]) -> list[float]:
        return [searching.best_match(labelled, query.query, query.filters) for query in some]

    answerable, unanswerable = matches(queries()), matches(negatives())
    assert all(0 <= match <= 1 for match in (*answerable, *unanswerable))
    assert auc(answerable, unanswerable) >= MATCH_FLOOR


def test_copied_history_and_queued_prompts_are_one_hit(labelled: pond.Lake) -> None:
    repeated = {message.id for session in sessions() for message in session.messages if message.again}
    for query in queries():
        ids = [message_id for _, message_id in searching.ranked(labelled, query.query, query.filters)]
        assert len(ids) == len(set(ids)), query.key
        assert not repeated & set(ids), query.key


def test_every_hit_is_one_that_the_filters_leave(labelled: pond.Lake) -> None:
    facts = {
        (session.id, message.id): {
            "role": message.role,
            "client": session.client,
            "project": session.project,
            "session": session.id,
        }
        for session in sessions()
        for message in session.messages
    }
    for query in queries():
        wanted = {name: value for name, value in query.filters.items() if name not in ("since", "until")}
        for hit in searching.ranked(labelled, query.query, query.filters):
            assert wanted.items() <= facts[hit].items(), (query.key, hit)
