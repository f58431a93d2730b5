"""`pond list`: the right sessions, in the right order, by the names their clients gave them."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pond.diagnostics.diagnostic import UsageError
from pond.lake import find, listing
from pond.lake.listing import ListingFilter, recent
from pond.model.json_text import JsonObject
from pond.sessions.stored_text import to_micros
from pond.sessions.tables import SESSIONS
from pond.sessions.writing import prepare
from pond.substrate import read
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from tests.operations import invented

BEGAN = "2026-05-04T00:00:00.000Z"


def _titled(session_id: str, id: str, title: str) -> list[JsonObject]:
    record = invented.message(session_id, id, "system")
    record["options"] = {"title": title}
    return [record]


def _session(id: str, *minutes: int, **facts: str) -> tuple[JsonObject, list[list[JsonObject]]]:
    groups = [invented.said(id, f"m{n}", f"prompt {n} of {id}", at=minute) for n, minute in enumerate(minutes)]
    kind = {"lineage_kind": "spawn"} if "parent_session_id" in facts else {}
    return invented.session(id, **kind, **facts), groups


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    made = Store(Catalog(str(tmp_path)))
    prepare(made)
    return made


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = Store(Catalog(str(tmp_path_factory.mktemp("lake"))))
    prepare(made)
    sessions = [
        _session("old", 1, 2, created_at=BEGAN),
        _session("resumed", 0, 50, created_at=BEGAN, source_agent="claude-code"),
        _session("parent", 5, 6, project="/srv/orchard/pears"),
        _session("parent/fork", 40, parent_session_id="parent", project="/srv/orchard/pears"),
        _session("parent/fork/helper", 45, parent_session_id="parent/fork"),
        _session("orphan", 10, parent_session_id="never stored", project="/srv/orchards"),
        _session("empty", created_at="2026-05-04T00:20:00.000Z"),
        _session("timeless"),
        _session("ancient", created_at="1969-07-20T20:17:40.000Z"),
        _session("ring-1", 3, parent_session_id="ring-2"),
        _session("ring-2", 4, parent_session_id="ring-1"),
    ]
    sessions[0][1].extend([_titled("old", "t1", "First title"), _titled("old", "t2", "  Second title\nmore ")])
    sessions[1][1].append(_titled("resumed", "t1", " \n"))
    sessions[5][1].insert(0, invented.said("orphan", "early", "I was here first.", "assistant", at=9))
    invented.store_all(made, sessions, lambda options: options.get("title"))
    return made


def _ids(store: Store, **wanted: Any) -> list[str]:
    return [session["id"] for session in recent(store, ListingFilter(**wanted))["sessions"]]


def _one(store: Store, id: str, **wanted: Any) -> JsonObject:
    listed: list[JsonObject] = recent(store, ListingFilter(**wanted))["sessions"]
    (found,) = [session for session in listed if session["id"] == id]
    return found


def test_the_most_recently_active_comes_first(store: Store) -> None:
    # `parent` was last active in a fork's helper; what has no time comes last.
    assert _ids(store) == ["resumed", "parent", "empty", "orphan", "old", "ancient", "timeless"]


def test_children_are_listed_beside_their_parents_only_on_request(store: Store) -> None:
    everything = _ids(store, everything=True)
    assert everything == [
        "resumed", "parent/fork/helper", "parent/fork", "empty", "orphan", "parent", "ring-2", "ring-1", "old",
        "ancient", "timeless",
    ]  # fmt: skip
    assert _ids(store, parent="parent") == ["parent/fork"]
    assert _ids(store, parent="parent/fork") == ["parent/fork/helper"]
    assert _ids(store, parent="old") == []
    assert _ids(store, parent="ring-1") == ["ring-2"]


def test_a_session_says_what_is_known_of_it(store: Store) -> None:
    assert _one(store, "old") == {
        "id": "old", "prefix": "old", "source_agent": "codex", "project": "/srv/orchard", "title": "Second title",
        "created_at": BEGAN, "active_at": "2026-05-04T00:02:00.000Z", "messages": 2, "children": 0,
    }  # fmt: skip
    parent = _one(store, "parent")
    assert (parent["messages"], parent["children"], parent["active_at"]) == (2, 1, "2026-05-04T00:45:00.000Z")
    assert _one(store, "parent", everything=True)["active_at"] == "2026-05-04T00:06:00.000Z"
    assert _one(store, "parent/fork", everything=True)["parent_session_id"] == "parent"
    assert _one(store, "timeless") == {
        "id": "timeless", "prefix": "timeless", "source_agent": "codex", "project": "/srv/orchard",
        "messages": 0, "children": 0,
    }  # fmt: skip


@pytest.mark.rule("model-no-synthesis")
def test_a_title_is_the_clients_newest_or_the_first_prompt_or_none(store: Store) -> None:
    titles = {
        session["id"]: session.get("title") for session in recent(store, ListingFilter(everything=True))["sessions"]
    }
    assert titles["old"] == "Second title"
    assert titles["resumed"] == "prompt 0 of resumed"  # its title says nothing
    assert titles["orphan"] == "prompt 0 of orphan"
    assert titles["empty"] is None


def test_a_long_prompt_is_cut_and_what_the_harness_said_is_no_title(empty: Store) -> None:
    invented.store_all(
        empty,
        [
            (invented.session("wordy"), [invented.said("wordy", "m", "\n \n  word " + "more " * 80 + "\nsecond line")]),
            (invented.session("injected"), [group for group in invented.awkward("injected") if group[0]["id"] == "i1"]),
        ],
    )
    title = _one(empty, "wordy")["title"]
    assert title.startswith("word more")
    assert title.endswith("more…")
    assert len(title) <= 100
    assert "title" not in _one(empty, "injected")


def test_filters_are_exact(store: Store) -> None:
    assert _ids(store, client="claude-code") == ["resumed"]
    assert _ids(store, client="claude") == []
    assert _ids(store, project="/srv/orchard/pears") == ["parent"]
    assert _ids(store, project="/srv/orchard/pears/", everything=True) == ["parent/fork", "parent"]
    assert "orphan" not in _ids(store, project="/srv/orchard")  # a longer name is another directory
    assert "parent" in _ids(store, project="/srv/orchard")
    assert _ids(store, project="/srv/orchards") == ["orphan"]
    assert "orphan" in _ids(store, project="/")
    assert _ids(store, project="' OR 'a'='a") == []


def test_since_and_until_go_by_the_time_listed(store: Store) -> None:
    time = to_micros("2026-05-04T00:10:00.000Z")
    assert _ids(store, since=time) == ["resumed", "parent", "empty", "orphan"]
    assert _ids(store, until=time) == ["old", "ancient"]
    assert _ids(store, since=time, until=time) == []


def test_a_limit_says_how_many_more_there_are(store: Store) -> None:
    everything = _ids(store)
    found = recent(store, ListingFilter(limit=2))
    assert [session["id"] for session in found["sessions"]] == everything[:2]
    assert found["sessions_remaining"] == len(everything) - 2
    for limit in (0, -1, listing.MOST + 1):
        with pytest.raises(UsageError):
            recent(store, ListingFilter(limit=limit))


def test_prefixes_find_their_sessions(store: Store) -> None:
    for session in recent(store, ListingFilter(everything=True))["sessions"]:
        assert find.session(store, session["prefix"]) == session["id"]


def test_many_sessions_cost_a_few_scans(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    few = recent(store, ListingFilter(limit=listing.MOST))
    scans: list[tuple[str, list[str], int]] = []
    rows = read.rows

    def noted(store: Store, table: Any, columns: Any, where: Any = None, **more: Any) -> pa.Table:
        found = rows(store, table, columns, where, **more)
        scans.append((table.name, list(columns), found.num_rows))
        return found

    monkeypatch.setattr(read, "rows", noted)
    monkeypatch.setattr(listing, "_FEW", 2)
    assert recent(store, ListingFilter(limit=listing.MOST)) == few  # both ways of counting give the same
    assert len(scans) <= 7
    scans.clear()
    recent(store, ListingFilter(limit=1))
    texts = [
        found for name, columns, found in scans if name != SESSIONS.name and {"title", "search_text"} & set(columns)
    ]
    assert texts == [1, 1]  # the title and the prompt of the one that is shown


def test_an_empty_lake_has_no_sessions(empty: Store) -> None:
    assert recent(empty, ListingFilter()) == {"sessions": [], "sessions_remaining": 0}


def _indexed(text: str) -> str:
    """Return a text's first line as the index holds it."""
    return text.splitlines()[0].replace("\0", " ").replace("\ud800", "\ufffd").strip()


def test_hostile_ids_are_listed(empty: Store) -> None:
    invented.store_all(empty, [_session(id, 1) for id in invented.HOSTILE])
    found = recent(empty, ListingFilter())["sessions"]
    expected = {(id, _indexed(f"prompt 0 of {id}"), 1) for id in invented.HOSTILE}
    assert {(each["id"], each["title"], each["messages"]) for each in found} == expected
