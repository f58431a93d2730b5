"""The lake needs no source: it can be read, and searched again, when every file is gone."""

import shutil
from pathlib import Path

import pytest

from pond.sessions.load import groups, session
from pond.sessions.search_text import search_text
from pond.sessions.tables import MESSAGES, SESSIONS
from pond.substrate import predicate, read
from tests.lake.build import SUBAGENTS, TOURS, lake
from tests.lake.plain import store


@pytest.mark.rule("session-durable-copy")
def test_a_stored_session_outlives_its_source(tmp_path: Path) -> None:
    sources = [tmp_path / "sources" / str(number) for number in range(len(TOURS))]
    for tour, copy in zip(TOURS, sources, strict=True):
        shutil.copytree(tour, copy)
    there = lake(tmp_path / "lake", *sources)
    ids = read.rows(there, SESSIONS, ["id"])["id"].to_pylist()
    before = {id: (session(there, id), list(groups(there, id))) for id in ids}
    assert len(before) == 2
    assert all(row and len(events) > 5 for row, events in before.values())
    shutil.rmtree(tmp_path / "sources")
    again = store(tmp_path / "lake")
    assert {id: (session(again, id), list(groups(again, id))) for id in ids} == before


@pytest.mark.rule("session-embed-from-canonical")
def test_the_text_to_embed_is_stored_and_follows_from_stored_rows(tmp_path: Path) -> None:
    there = lake(tmp_path / "lake", *TOURS, *SUBAGENTS)
    with_text = 0
    for id in read.rows(there, SESSIONS, ["id"])["id"].to_pylist():
        rows = read.rows(
            there, MESSAGES, ["id", "search_text", "embedding_model"], predicate.equals("session_id", id)
        ).to_pylist()
        stored = {row["id"]: row["search_text"] for row in rows}
        assert {row["embedding_model"] for row in rows} == {None}  # a vector is made later, from this very column
        for events in groups(there, id):
            for event in events:
                if event["kind"] == "message":
                    parts = [part for part in events if part.get("message_id") == event["id"]]
                    assert stored[event["id"]] == search_text(event, parts)
                    with_text += stored[event["id"]] is not None
    assert with_text > 20
