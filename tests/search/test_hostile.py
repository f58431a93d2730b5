"""Whatever is asked, in any form, is answered or refused with its place, in bounded time."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from time import process_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import pond
from codegen.emit_schema import wire_bundle
from pond.cli.dispatch import _dispatch
from pond.config.load import load
from pond.diagnostics.diagnostic import UsageError
from pond.model.json_text import decode_stored, encode
from pond.operations.envelope import search_request
from pond.operations.search import search
from pond.operations.service import Service
from pond.search.query.query import SPELLINGS
from tests.search.test_search import SAID, events

ODD = "cut \ud83d off, nul \0 nul, tab\t, \u202e turned, e\u0301, ﬁne, İstanbul, '; DROP TABLE messages; --, %_ \\ \" '"
PIECES = st.sampled_from([
    *SPELLINGS, *(f"{name}:" for name in SPELLINGS), *"\":-*?\\/.,;!'()[]{}|&~^+<>=%_$#@` \n\t\0\x1f\x7f\u2028\u202e",
    "user", "true", "only", "7d", "2026-05-01", "a", "branch", "pruneBranch", "the", "登录", "ค้น", "é", "e\u0301",
    "ß", "İ", "🌿", "\ud83d", "\udc00", "\U0010ffff", "ﬁ", "AND", "OR", "NOT", "' OR '1'='1", "'); --", '-"', '"',
    "::", "~1", "^2",
])  # fmt: skip
QUERIES = (
    st.lists(PIECES, max_size=14).map("".join)
    | st.lists(PIECES, max_size=10).map(" ".join)
    | st.text(max_size=60)
    | st.text(st.characters(), max_size=60)  # halves of surrogate pairs, too
)
HUGE = st.tuples(st.lists(PIECES, min_size=1, max_size=4).map("".join), st.integers(1, 100_000)).map(
    lambda drawn: (drawn[0] * drawn[1])[:100_000]
)
ROADS = ("python", "wire", "command")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile") / "lake"
    pond.Lake(place).ingest_events(events(SAID | {"odd": [("user", ODD), ("assistant", ODD * 60)]}))
    return place


@cache
def _lake(place: Path) -> pond.Lake:
    return pond.Lake(place)


@cache
def _service(place: Path) -> Service:
    return Service(load({"lake": str(place)}))


@cache
def _schema() -> Draft202012Validator:
    return Draft202012Validator({**wire_bundle(), "$ref": "#/$defs/SearchResponse"})


def _by_python(place: Path, query: str) -> None:
    for session in _lake(place).search(query, explain=True)["sessions"]:
        for hit in session["hits"]:
            edges = [edge for mark in hit["highlights"] for edge in (mark["start"], mark["end"])]
            assert sorted(set(edges)) == edges  # in order, none empty, none touches another
            assert all(0 <= edge <= len(hit.get("snippet", hit["text"])) for edge in edges)


def _by_wire(place: Path, query: str) -> None:
    body = decode_stored(encode({"protocol_version": 1, "query": query, "limit": 3}).decode())
    response = search(_service(place), search_request(body))
    _schema().validate(json.loads(encode(response)))


def _by_command(place: Path, query: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = _dispatch(["search", "--lake", str(place), "--", query])
    assert code == 0 or (code == 2 and ("--> query:" in err.getvalue() or "nothing to search for" in err.getvalue()))


def _ask(road: str, place: Path, query: str) -> None:
    """Ask in one form. A refusal is fine if it says which place of the text is meant."""
    refused = None
    try:
        {"python": _by_python, "wire": _by_wire, "command": _by_command}[road](place, query)
    except UsageError as error:
        refused = error
    assert refused is None or refused.diagnostics[0].span is not None, (query, refused)


@pytest.mark.parametrize("road", ROADS)
@settings(max_examples=min(settings().max_examples, 2000))
@given(query=QUERIES)
@example(query='"\ud83d"')
@example(query='-"\udc00" "\0"')
@example(query="=>")
def test_any_query_is_answered_or_refused_at_its_place(place: Path, road: str, query: str) -> None:
    _ask(road, place, query)


@pytest.mark.parametrize("road", ROADS)
@settings(max_examples=max(settings().max_examples // 12, 5))
@given(query=HUGE)
def test_any_huge_query_is_answered_or_refused_at_its_place(place: Path, road: str, query: str) -> None:
    _ask(road, place, query)


LONG = {
    "words": "branch ", "other words": "unheard-of ", "one word": "x", "one identifier": "pruneBranch",
    "phrases": '"the branch" ', "excluded": '-"the branch" ', "one phrase": "branch the ", "dense": "登录",
    "signs": "=> ", "diacritics": "e\u0301", "halves": "\ud83d", "quote marks": '"',
}  # fmt: skip


@pytest.mark.parametrize("unit", LONG.values(), ids=LONG)
def test_a_long_query_takes_time_in_step_with_its_length(place: Path, unit: str) -> None:
    """A query eight times as long takes far less than eight times eight as much."""

    def cost(size: int) -> float:
        query = f'"{unit * (size // len(unit))}"' if unit == "branch the " else unit * (size // len(unit))
        times = []
        for _ in range(2):
            begin = process_time()
            _lake(place).search(query)
            times.append(process_time() - begin)
        return min(times)

    _lake(place).search("warm")
    assert cost(100_000) < 24 * max(cost(12_500), 0.01)
