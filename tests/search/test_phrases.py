"""Phrases are exact and complete: what holds one is found, however it is spelled there and whatever else is stored."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pond
from pond.config.load import load
from pond.lake.optimize import optimize
from pond.search.phrases import Spelled
from pond.sessions.lake import opened
from pond.types import SearchResponse
from tests.search.test_search import events

FILLER = "Let the kiln rest, then open it. " * 300
SAID = [
    "We use GitHub Actions for the build.",
    "github actions are slow",
    "GITHUB  ACTIONS\nare down",
    "git hub actions",
    "call mergeInsert now, not merge_insert",
    "a category of things",
    "cafe\u0301 noir, decomposed",
    "Straße nach Köln",
    "x => y; a.b.c works",
    "これは登録エラーです。再試行",
    "การค้นหาทำงาน",
    "한국어 검색이 됩니다",
    "Ошибка подключения к базе данных",
    "Tiếng Việt có dấu",
    f"first of all {FILLER} the middle word {FILLER} last of all",
    "tide is low",
    "the end",
    "end",
]
_WORDS = [text.split() for text in SAID]


@pytest.mark.parametrize(
    ("text", "phrase", "held"),
    [
        ("GitHub Actions", "github actions", True),
        ("github\n actions", "GitHub Actions", True),
        ("a category", "cat", False),
        ("concat it", "cat", False),
        ("the cat, it", "cat", True),
        ("mergeInsert", "insert", True),
        ("HTTPError", "error", True),
        ("HTTPError", "rror", False),
        ("merge_insert", "merge", True),
        ("tide is low", "tide is lo", False),
        ("xa.b a.b", "a.b", True),
        ("xa.b a b", "a.b", False),
        ("登録エラー", "録エ", True),
        ("STRASSE", "straße", True),
        ("cafe\u0301", "caf\u00e9", True),
        ("a=>b", "=>", True),
        ("cut \ufffd off", "cut \ud83d off", True),
        ("", "x", False),
    ],
)
def test_a_text_holds_whole_words_letter_for_letter_but_for_case_and_space(text: str, phrase: str, held: bool) -> None:
    assert Spelled(text).holds(phrase) is held


def _lake(place: Path, said: list[str], step: int = 1) -> pond.Lake:
    """Return a lake with a session for each text, or some of them: nothing is found for its neighbour."""
    lake = pond.Lake(place)
    some = {f"s{number}" for number in range(0, len(said), step)}
    sessions = {f"s{number}": [("user", text)] for number, text in enumerate(said)}
    told = [
        event
        for event in events(sessions)
        if (event["id"] if event["kind"] == "session" else event["session_id"]) in some
    ]
    assert not lake.ingest_events(told)["rejected"]
    return lake


@pytest.fixture(scope="module", params=["unindexed", "indexed", "half"])
def lake(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pond.Lake:
    """A lake none, all, or half of whose rows an index knows."""
    place = tmp_path_factory.mktemp("phrases") / "lake"
    _lake(place, SAID, 2 if request.param == "half" else 1)
    if request.param != "unindexed":
        optimize(opened(load({"lake": str(place)})), timedelta(0))
    return _lake(place, SAID)


def _found(found: SearchResponse) -> set[str]:
    return {hit["text"] for session in found["sessions"] for hit in session["hits"]}


def _beginnings(texts: list[str]) -> set[str]:
    return {text if len(text) <= 800 else text[:300] for text in texts}


@pytest.mark.parametrize(
    "phrase",
    [
        "github actions", "GitHub Actions", "GITHUB ACTIONS", "call mergeinsert now", "café noir", "STRASSE nach",
        "=>", "x => y", "a.b.c", "登録エラー", "録エ", "再試行", "登", "ค้นหา", "검색이", "базе данных", "có dấu",
        "first of all", "the middle word", "last of all", "end", "tide is low", "category",
    ],
)  # fmt: skip
def test_each_message_with_the_phrase_is_found_and_no_other(lake: pond.Lake, phrase: str) -> None:
    holding = [text for text in SAID if Spelled(text).holds(phrase)]
    found = lake.search(f'"{phrase}"', limit=100)
    assert _found(found) == _beginnings(holding) != set()
    assert (found["matched_messages"], found["more_matched"]) == (len(holding), False)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_words_of_a_message_in_a_row_find_it(lake: pond.Lake, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(SAID) - 1))
    words = _WORDS[number]
    begin = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(begin + 1, min(len(words), begin + 9)))
    phrase = " ".join(words[begin:end])
    typed = data.draw(st.sampled_from([phrase, phrase.lower(), phrase.upper()]))
    assert _beginnings([SAID[number]]) <= _found(lake.search(f'"{typed}"', limit=100))


@pytest.mark.parametrize("phrase", ["cat", "tide is lo", "hub act", "not there"])
def test_parts_of_words_are_no_phrase(lake: pond.Lake, phrase: str) -> None:
    assert lake.search(f'"{phrase}"')["hits"] == []


def test_what_is_excluded_is_what_would_be_found(lake: pond.Lake) -> None:
    assert "a category of things" in _found(lake.search('category -"cat"'))
    assert "a category of things" not in _found(lake.search('category things -"CATEGORY of"'))


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> pond.Lake:
    """A lake in which far more messages than are scored look like what is sought."""
    crowd = [f"the outer pier is number {number}" for number in range(400)]
    return _lake(tmp_path_factory.mktemp("crowded") / "lake", [*crowd, "some words of the outer-pier, said once"])


@pytest.mark.parametrize(
    "query", ['"outer-pier"', 'pier -"outer pier"', 'the outer pier -"is number"', '-"outer pier"', '"outer-pier" "-"']
)
def test_a_phrase_is_found_among_many_that_look_like_it(crowded: pond.Lake, query: str) -> None:
    found = crowded.search(query)
    assert [hit["message_id"] for hit in found["hits"]] == ["s400-0"]
    assert (found["matched_messages"], found["more_matched"]) == (1, False)


MANY = [
    "fern " + " ".join(f'"a{number} b"' for number in range(700)),
    "fern " + " ".join(f'-"a{number} b"' for number in range(10_000)),
    '"' + "a " * 50_000 + '"',
]


@pytest.mark.parametrize("query", MANY, ids=["wanted", "excluded", "long"])
def test_any_number_of_phrases_is_answered(lake: pond.Lake, query: str) -> None:
    assert lake.search(query)["matched_messages"] == 0
