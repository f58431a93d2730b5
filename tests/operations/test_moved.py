"""A session that moves between clients: in the lake every word is shown once, whatever came in and in which order."""

import shutil
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import pond
from pond.lake import erase, import_
from pond.lake.export import export
from pond.model.equal import same
from pond.sessions.archive.select import Selection
from tests.cli.sessions import dumps
from tests.lake.taking import store, take_in
from tests.operations.travelling import STOPS, WORDS, Journey, journey, mains, rows, say
from tests.size import share, size

ORDERS = share(list(permutations(range(len(STOPS)))), 3)
KINDS = {"plain": {}, "subagents": {"helper": True}, "compaction": {"compacted": True}, "origin": {"keep_origin": True}}


@pytest.fixture(scope="module", params=KINDS)
def way(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Journey:
    return journey(tmp_path_factory.mktemp("journey"), **KINDS[request.param])


def shown(place: Path) -> dict[str, Counter[str]]:
    """Return what the lake shows, in each way that shows words."""
    with pond.Lake(place) as lake:
        listed = list(lake.sessions(children=True))
        pages: list[Any] = [lake.get(each["id"], limit=1000) for each in listed]
        complete: list[Any] = [lake.get(each["id"], limit=1000, mode="complete") for each in listed]
        for each, page in zip(listed, pages, strict=True):
            assert each["messages"] == len(page["messages"])
        said = Counter(text for page in pages for message in page["messages"] if (text := message["text"]))
        summed = Counter(text for page in complete for message in page["messages"] if (text := message["text"]))
        asked = Counter(
            hit["text"].strip()
            for word in sorted(said)[:: size(1, 3)]
            for each in lake.search(f'"{word}"', limit=100, filters={"subagents": "include"})["sessions"]
            for hit in each["hits"]
            if hit["text"].strip() == word
        )
        found = Counter(
            lake.sql("SELECT search_text FROM messages WHERE search_text IS NOT NULL")["search_text"].to_pylist()
        )
        stats = Counter({"all": lake.stats()["activity"]["totals"]["messages"]})
    return {"get": said, "complete": summed & said, "search": asked, "sql": found, "stats": stats}


def check(place: Path, way: Journey, stops: set[int]) -> None:
    wanted = Counter(dict.fromkeys(way.said(stops), 1))
    roads = shown(place)
    assert roads.pop("stats") == Counter({"all": len(wanted)})
    found = roads.pop("search")
    assert set(found.values()) == {1}
    assert found.keys() <= wanted.keys()
    for road, words in roads.items():
        assert words == wanted, road


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "".join(map(str, order)))
def test_every_word_is_shown_once_in_every_order_of_syncing(
    way: Journey, order: tuple[int, ...], tmp_path: Path
) -> None:
    for count, stop in enumerate(order, 1):
        take_in(tmp_path / "lake", way.stores[stop])
        check(tmp_path / "lake", way, set(order[:count]))


def test_every_word_is_shown_once_synced_at_the_end(way: Journey, tmp_path: Path) -> None:
    take_in(tmp_path / "lake", *way.stores)
    check(tmp_path / "lake", way, set(range(len(STOPS))))
    with pond.Lake(tmp_path / "lake") as lake:
        links = {each["id"]: each for each in lake.sessions()}
        assert len(links) == len(STOPS)  # each stop is a session of its own
        chain = [each for each in links.values() if each.get("lineage_kind") == "continuation"]
        assert {each["parent_session_id"] for each in chain} < set(links)
        assert sorted(each["source_agent"] for each in links.values()) == sorted(STOPS)


def test_a_session_grows_where_it_went_on(way: Journey, tmp_path: Path) -> None:
    homes = [tmp_path / "homes" / each.name for each in way.stores]
    for each, home in zip(way.stores, homes, strict=True):
        shutil.copytree(each, home)
    take_in(tmp_path / "lake", *homes)
    (main,) = mains(homes[-1], STOPS[-1])
    say(main, STOPS[-1], "royalfern", 9)
    done = take_in(tmp_path / "lake", *homes)
    assert (done.new_sessions, done.report.errors) == (0, 0)
    grown = Journey(homes, [*way.words[:-1], way.words[-1] | {"ask royalfern", "answer royalfern"}])
    check(tmp_path / "lake", grown, set(range(len(STOPS))))


def test_what_the_original_lacks_is_shown_in_the_copy(tmp_path: Path) -> None:
    """The lake saw the first session before it grew; then it grew, moved, and was deleted."""
    way = journey(tmp_path / "way")
    early = tmp_path / "early"
    shutil.copytree(way.stores[0], early)
    (main,) = mains(early, STOPS[0])
    lines = main.read_bytes().splitlines(keepends=True)
    main.write_bytes(lines[0])
    take_in(tmp_path / "lake", early)
    take_in(tmp_path / "lake", way.stores[1])
    check(tmp_path / "lake", way, {1})


def test_the_copy_is_shown_when_the_original_is_erased(way: Journey, tmp_path: Path) -> None:
    place = tmp_path / "lake"
    take_in(place, *way.stores)
    with pond.Lake(place) as lake:
        (first,) = [each["id"] for each in lake.sessions() if "parent_session_id" not in each]
    lake_store = store(place)
    erase.erase(lake_store, [erase.family(lake_store, first)], alone=True)
    check(place, way, {1, 2, 3})
    take_in(place, *way.stores)  # and it stays gone
    check(place, way, {1, 2, 3})


@pytest.mark.parametrize("stops", [{3}, {1, 3}, {0, 2}], ids=str)
def test_an_archive_of_some_shows_what_they_hold(way: Journey, stops: set[int], tmp_path: Path) -> None:
    take_in(tmp_path / "lake", *way.stores)
    with pond.Lake(tmp_path / "lake") as lake:
        sessions = {each["id"]: each.get("parent_session_id") for each in lake.sessions()}
    chain = [next(id for id, parent in sessions.items() if parent is None)]
    while len(chain) < len(sessions):
        chain.append(next(id for id, parent in sessions.items() if parent == chain[-1]))
    export(store(tmp_path / "lake"), tmp_path / "some.pond", Selection(tuple(chain[stop] for stop in stops)))
    other = store(tmp_path / "other")
    import_.import_(other, tmp_path / "some.pond")
    check(tmp_path / "other", way, stops)


def test_every_row_is_kept_and_restored(way: Journey, tmp_path: Path) -> None:
    take_in(tmp_path / "lake", *way.stores)
    with pond.Lake(tmp_path / "lake") as lake:
        made, report = lake.restore(output=tmp_path / "out", everything=True)
    assert report.errors == 0, report.diagnostics
    back = {each.path.name: each.path for each in made}
    files = [file for each in way.stores for file in each.rglob("*.jsonl")]
    assert len(files) == len(made)
    for file in files:
        assert same(rows(file), rows(back[file.name])), file


def test_copied_rows_name_the_session_they_come_from(tmp_path: Path) -> None:
    way = journey(tmp_path / "way")
    take_in(tmp_path / "lake", *way.stores)
    with pond.Lake(tmp_path / "lake") as lake:
        rows = lake.sql(
            "SELECT m.session_id, m.copied_from, o.search_text AS said FROM messages m "
            "JOIN messages o ON o.session_id = m.copied_from AND o.id = m.copied_id "
            "WHERE m.elsewhere AND m.role IN ('user', 'assistant') AND o.search_text IS NOT NULL"
        ).to_pylist()
    words = {WORDS.index(row["said"].split()[1]) for row in rows}
    assert words == {0, 1, 2}
    by_session = Counter((row["session_id"], row["copied_from"]) for row in rows)
    assert len(by_session) == 1 + 2 + 3  # the second holds the first's, the third those of two, the last those of three
    assert set(by_session.values()) == {2}


def test_a_renamed_tool_has_its_first_name_and_is_restored_as_it_was(tmp_path: Path) -> None:
    """Claude Code shows foreign calls under `mcp__` names; rows written for the screen alone say nothing new."""
    way = journey(tmp_path / "way")
    (main,) = mains(way.stores[2], STOPS[2])
    *_, last = rows(main)
    call = {"type": "tool_use", "id": "call_1", "name": "mcp__codex__exec_command", "input": {"cmd": "ls"}}
    told = {"type": "tool_result", "tool_use_id": "call_1", "content": "seeds.csv"}
    named = {"pond": {"tools": {"call_1": "exec_command"}}}
    asked = {**last, "uuid": "u1", "message": {**last["message"], "id": "msg_x", "content": [call]}, **named}
    answered = {**last, "type": "user", "uuid": "u2", "message": {"role": "user", "content": [told]}}
    shown_only = {**last, "uuid": "u3", "pond": {"display": True}}
    with main.open("ab") as out:
        out.write(b"".join(line + b"\n" for line in dumps([asked, answered, shown_only])))
    take_in(tmp_path / "lake", way.stores[2])
    check(tmp_path / "lake", way, {2})
    with pond.Lake(tmp_path / "lake") as lake:
        names = lake.sql("SELECT variant_data->>'$.name' AS name FROM parts WHERE type IN ('tool_call', 'tool_result')")
        assert names["name"].to_pylist() == ["exec_command", "exec_command"]
        assert [tool["name"] for tool in lake.stats()["activity"]["tools"]] == ["exec_command"]
        assert lake.search("", filters={"tool": "exec_command"})["hits"]
        made, _ = lake.restore(output=tmp_path / "out", everything=True)
    assert same(rows(made[0].path), rows(main))
