"""Ids by how they begin: one that fits is found, several are listed, and a whole id is always itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pond.diagnostics.diagnostic import UsageError
from pond.lake import find
from pond.sessions.writing import prepare
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from tests.operations import invented

FAMILY = ["oak", "oak/agent-1", "oak/agent-2", "oak/agent-2/deeper"]
IDS = [
    *FAMILY,
    "oakum",
    "birch-2026-aa",
    "birch-2026-ab",
    "lost/agent-1",
    "lost/agent-2",
    "\ud800 elm",
    *invented.HOSTILE,
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = Store(Catalog(str(tmp_path_factory.mktemp("lake"))))
    prepare(made)
    sessions = [
        (invented.session(id), [invented.said(id, f"{id}-first", "a"), invented.said(id, "same", "b")]) for id in IDS
    ]
    invented.store_all(made, sessions)
    return made


def _code(store: Store, text: str) -> tuple[str, str]:
    with pytest.raises(UsageError) as refused:
        find.session_or_message(store, text)
    (diagnostic,) = refused.value.diagnostics
    return diagnostic.code, diagnostic.help


@pytest.mark.parametrize("id", IDS)
def test_a_whole_id_is_found_exactly(store: Store, id: str) -> None:
    assert find.session(store, id) == id
    assert find.session_or_message(store, id) == find.SessionMatch(id)


def test_the_beginning_of_a_family_means_its_head(store: Store) -> None:
    assert find.session(store, "oak/agent-2/") == "oak/agent-2/deeper"
    assert find.session(store, "oak/agent-1") == "oak/agent-1"
    assert _code(store, "oa") == ("lake-ambiguous", "one of oak, oakum")  # the children of `oak` are none
    assert find.session(store, "oaku") == "oakum"


def test_several_are_listed(store: Store) -> None:
    assert _code(store, "birch") == ("lake-ambiguous", "one of birch-2026-aa, birch-2026-ab")
    assert _code(store, "lost/") == ("lake-ambiguous", "one of lost/agent-1, lost/agent-2")  # their head is not here
    assert _code(store, "same")[1].endswith(", …")  # more than can be shown


def test_half_a_character_can_be_found_by_what_comes_before_it(store: Store) -> None:
    invented.store(store, invented.session("yew \udfff"), [])
    assert find.session(store, "yew") == "yew \udfff"


def test_a_message_is_found_in_all_sessions_or_in_one(store: Store) -> None:
    assert find.session_or_message(store, "oakum-fi") == find.SessionMatch("oakum", "oakum-first")
    assert find.message(store, "oak", "sa") == find.SessionMatch("oak", "same")
    with pytest.raises(UsageError):
        find.message(store, "oak", "oakum-first")


@pytest.mark.parametrize("text", ["OAK", "oak%", "_ak", "oak' OR 'a'='a", "oak\0", "\U0010ffff"])
def test_what_nothing_begins_with_is_not_found(store: Store, text: str) -> None:
    assert _code(store, text)[0] == "lake-not-found"


@given(st.sets(st.text("ab/", min_size=1, max_size=8).map(lambda end: f"willow-{end}"), min_size=1, max_size=12))
def test_a_short_id_finds_its_session_and_no_other(ids: set[str]) -> None:
    for id, short in find.short_ids(ids, ids).items():
        assert id.startswith(short)
        beginning = [each for each in ids if each.startswith(short)]
        assert short == id or (short not in ids and _heads(beginning) == {id})


def _heads(ids: list[str]) -> set[str]:
    """Return the ids that do not continue another one after a slash."""
    return {id for id in ids if not any(id.startswith(f"{other}/") for other in ids)}
