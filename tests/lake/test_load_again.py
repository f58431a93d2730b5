"""Parts of a session that are asked for by themselves: one record again, the first record, the descendants."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pond.model.equal import same
from pond.model.json_text import JsonObject
from pond.sessions import load
from pond.sessions.tables import MESSAGES, PARTS
from pond.substrate import read
from pond.substrate.store import Store
from tests.lake.build import SUBAGENTS, TOURS, lake, store_session
from tests.laws.corpus import fixture_folders

CASES = [folder for client in ("claude-code", "codex") for folder in fixture_folders(client)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return a lake of sessions with images, files beside them, repeated records and long logs."""
    wanted = ("tool-results-files", "resume-copy", "images", "tour", "compaction", "paginated", "shapes")
    return lake(tmp_path_factory.mktemp("load") / "lake", *(case for case in CASES if case.name in wanted))


def _ids(store: Store) -> list[str]:
    return [row["id"] for row in load.sessions(store, None)]


def test_every_record_is_given_again(store: Store) -> None:
    for session_id in _ids(store):
        again = load.EarlierRecords(store, session_id)
        groups = list(load.groups(store, session_id))
        for events in [*groups, *reversed(groups)]:
            assert same(again(events[0]["id"]), events)


def test_who_changes_what_was_given_changes_nothing_else(store: Store) -> None:
    session_id = _ids(store)[0]
    again = load.EarlierRecords(store, session_id)
    first = next(load.groups(store, session_id))
    again(first[0]["id"])[0]["options"].clear()
    assert same(again(first[0]["id"]), first)


@pytest.mark.parametrize("message_id", ["nobody", "", "' OR '1'='1", "\ud800"])
def test_a_record_that_is_not_there_is_a_key_error(store: Store, message_id: str) -> None:
    for session_id in _ids(store):
        with pytest.raises(KeyError):
            load.EarlierRecords(store, session_id)(message_id)


def test_neighbours_are_read_together(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A branch of a thousand records is not a thousand questions."""
    asked = []
    rows = read.rows

    def counted(*arguments: Any, **more: Any) -> pa.Table:
        asked.append(arguments)
        return rows(*arguments, **more)

    session_id = max(_ids(store), key=lambda one: sum(1 for _ in load.groups(store, one)))
    groups = list(load.groups(store, session_id))
    monkeypatch.setattr(read, "rows", counted)
    again = load.EarlierRecords(store, session_id)
    for events in reversed(groups):
        again(events[0]["id"])
    assert len(groups) > 50
    assert len(asked) < len(groups) / 4


def test_the_first_record_alone(store: Store) -> None:
    for session_id in _ids(store):
        assert same(load.opening(store, session_id), next(load.groups(store, session_id)))
    assert load.opening(store, "nobody") is None


@pytest.mark.parametrize("size", [1, 4000])
def test_pages_of_any_size_give_the_same_records(store: Store, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {session_id: list(load.groups(store, session_id)) for session_id in _ids(store)}
    for name, value in (("_FIRST_PAGE", 1), ("_LEAST_PAGE", 1), ("_PAGE_BYTES", size)):
        monkeypatch.setattr(load, name, value)
    for session_id, groups in whole.items():
        assert same(list(load.groups(store, session_id)), groups)


def test_descendants_of_every_generation_come_once(tmp_path: Path) -> None:
    store = lake(tmp_path / "lake")
    for session_id, parent in (("a", None), ("b", "a"), ("c", "b"), ("d", "b"), ("x", "y"), ("y", "x"), ("z", None)):
        row: JsonObject = {"kind": "session", "id": session_id, "source_agent": "codex", "project": "/p", "options": {}}
        store_session(store, row | ({"parent_session_id": parent} if parent else {}), [])
    found = {asked: [row["id"] for row in load.descendants(store, asked)] for asked in ("a", "b", "x", "z", "ab")}
    assert found == {"a": ["b", "c", "d"], "b": ["c", "d"], "x": ["y"], "z": [], "ab": ["c", "d"]}


@pytest.mark.parametrize("folder", [SUBAGENTS[0], TOURS[0]], ids=lambda folder: folder.name)
def test_descendants_are_the_children_where_there_is_one_generation(folder: Path, tmp_path: Path) -> None:
    store = lake(tmp_path / "lake", folder)
    for session_id in _ids(store):
        assert load.descendants(store, [session_id]) == [
            row for row in load.sessions(store, None) if row.get("parent_session_id") == session_id
        ]


def _record(id: str, payload: str) -> list[JsonObject]:
    """A record of two messages whose residue repeats the payload of its tool result."""
    pond = {"seq": 0, "as": "user"}
    common = {"session_id": "s", "options": {}}
    return [
        {"kind": "message", "role": "tool", "id": id, "session_id": "s", "options": {"pond": pond}},
        {"kind": "part", "id": f"{id}:0", "message_id": id, "type": "tool_result", "is_failure": False,
         "result": [{"data": payload}], "provenance": "injected", **common},
        {"kind": "message", "role": "user", "id": f"{id}+user", "session_id": "s",
         "options": {"source": {"copy": payload}, "pond": {"seq": 0, "with": True}}},
        {"kind": "part", "id": f"{id}+user:0", "message_id": f"{id}+user", "type": "text", "text": "and this",
         "provenance": "conversational", **common},
    ]  # fmt: skip


SESSION: JsonObject = {"kind": "session", "id": "s", "source_agent": "heron", "project": "/p", "options": {}}


def _payload(letter: bytes) -> str:
    return b64encode(letter * 900).decode()


def test_records_of_two_sources_in_one_place_keep_their_own_values(tmp_path: Path) -> None:
    store = lake(tmp_path / "lake")
    records = [_record("r1", _payload(b"1")), _record("r2", _payload(b"2"))]
    for record in records:
        store_session(store, SESSION, [record])
    assert same(list(load.groups(store, "s")), records)


def test_a_payload_is_stored_once_in_a_session(tmp_path: Path) -> None:
    store = lake(tmp_path / "lake")
    records = [_record(f"r{number}", _payload(b"1")) for number in range(3)]
    for number, record in enumerate(records):
        for event in record:
            if event["kind"] == "message":
                event["options"]["pond"]["seq"] = number
    store_session(store, SESSION, records)
    assert same(list(load.groups(store, "s")), records)
    sizes = read.rows(store, PARTS, ["data_size"], "payloads IS NOT NULL")["data_size"].to_pylist()
    assert sorted(sizes, key=str) == [900, None, None]
    for table in (MESSAGES, PARTS):
        columns = ["options", "variant_data"] if table is PARTS else ["options"]
        text = str(read.rows(store, table, columns).to_pylist())
        assert _payload(b"1")[:100] not in text
