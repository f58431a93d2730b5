"""The labelled sets are sound, and neither too easy nor too hard to show a change of the ranking."""

from collections import Counter, defaultdict

import pytest

import pond
from pond.sessions.terms import terms
from tests.search.relevance import searching
from tests.search.relevance.measure import all_of, auc, mrr, ranks
from tests.search.relevance.sets import Query, negatives, queries, sessions

EACH = pytest.mark.parametrize("query", queries(), ids=lambda query: f"{query.set}: {query.key}")
TEXTS = {message.id: message.said for session in sessions() for message in session.messages}
FOUND_BY = defaultdict(set)
for _id, _text in TEXTS.items():
    for _term in terms(_text).split():
        FOUND_BY[_term].add(_id)


def test_an_id_names_one_text() -> None:
    assert len({session.id for session in sessions()}) == len(sessions())
    said = {(message.id, message.at, message.said) for session in sessions() for message in session.messages}
    assert len(said) == len(TEXTS)


def test_only_forks_share_messages() -> None:
    held = Counter(message.id for session in sessions() if session.parent is None for message in session.messages)
    assert set(held.values()) == {1}
    for fork in (session for session in sessions() if session.parent is not None):
        assert {message.id for message in fork.messages} & held.keys()


def test_a_query_stands_once_in_its_set() -> None:
    keys = [(query.set, query.key) for query in (*queries(), *negatives())]
    assert len(keys) == len(set(keys))


def test_nothing_answers_the_negatives() -> None:
    assert not any(query.answers for query in negatives())


@EACH
def test_a_query_has_answers_and_others_that_look_like_one(query: Query) -> None:
    assert query.answers
    assert query.answers <= TEXTS.keys()
    others = set().union(*(FOUND_BY.get(term, set()) for term in terms(query.query).split())) - query.answers
    assert len(others) >= 3


def test_plain_words_find_about_half(labelled: pond.Lake) -> None:
    reference = searching.reference(labelled)
    assert 0.5 < mrr(all_of(ranks(reference.ranked))) < 0.7
    matches = [[reference.match(query.query, query.filters) for query in some] for some in (queries(), negatives())]
    assert 0.7 < auc(*matches) < 0.9


def test_long_messages_are_long_and_hold_their_answer_deep_inside() -> None:
    long = {id: TEXTS[id] for query in queries() if query.kind == "deep" for id in query.answers}
    held = {message.id: message.text for session in sessions() for message in session.messages}
    for id, text in long.items():
        assert 5_000 < len(text) < 20_000
        assert 0.3 < text.index(held[id]) / len(text) < 0.9
