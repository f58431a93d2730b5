"""`pond_get`: pages that miss nothing and repeat nothing, whatever their size, and cost what they show."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from codegen.emit_schema import wire_bundle
from pond.codec.finding import find_files
from pond.codec.openfile import OpenFile
from pond.codec.opening import open_input
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.diagnostics.diagnostic import UsageError
from pond.lake import get
from pond.lake.get import MODES, get_message, get_session
from pond.model.json_text import JsonObject, encode
from pond.sessions import load
from pond.sessions.search_text import search_text
from pond.sessions.tables import MESSAGES, PARTS
from pond.substrate import read
from pond.substrate.store import Store
from tests.lake.build import SUBAGENTS, TOURS, lake
from tests.operations import invented
from tests.size import SOAK

AWKWARD, LONG = "awkward", 200
modes = pytest.mark.parametrize("mode", MODES)


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator({**wire_bundle(), "$ref": "#/$defs/GetResponse"})


def _valid(response: JsonObject) -> JsonObject:
    """Return the response, after checking what a client of the wire would see of it."""
    _validator().validate(json.loads(encode(response)))
    return response


def _fixtures() -> dict[str, list[JsonObject]]:
    """Return the events of each session of the fixtures."""
    found: dict[str, list[JsonObject]] = {}
    for path in chain.from_iterable(find_files(folder, Report()) for folder in (*TOURS, *SUBAGENTS)):
        with open(path, "rb") as file:
            for session in open_input(
                OpenFile(file, str(path), path), ConversionRequest("canonical"), Report()
            ).sessions:
                found[session.row["id"]] = list(chain.from_iterable(session.groups))
    return found


@pytest.fixture(scope="module")
def sessions() -> dict[str, list[JsonObject]]:
    return {**_fixtures(), AWKWARD: list(chain.from_iterable(invented.awkward(AWKWARD)))}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = lake(tmp_path_factory.mktemp("lake"), *TOURS, *SUBAGENTS)
    invented.store(made, invented.session(AWKWARD), invented.awkward(AWKWARD))
    return made


@pytest.fixture(scope="module")
def long(store: Store) -> Store:
    """Return the lake, with a long session in it."""
    invented.store(store, invented.session("long"), [invented.said("long", f"m{n:03}", "hello") for n in range(LONG)])
    return store


def _pages(store: Store, session_id: str, mode: str, limit: int, from_end: bool = False) -> Iterator[list[JsonObject]]:
    """Yield page after page, as a client walks them, after checking what each says of the rest."""
    after, remaining = None, None
    while remaining != 0:
        page = _valid(get_session(store, session_id, mode, limit, after, from_end))
        messages = page["messages"]
        assert len(messages) <= limit
        assert remaining is None or page["messages_remaining"] == remaining - len(messages)
        remaining = page["messages_remaining"]
        assert messages or remaining == 0, "a page that gets nobody on"
        yield messages
        after = (messages[0] if from_end else messages[-1])["id"] if messages else None


def _walked(store: Store, session_id: str, mode: str, limit: int) -> list[JsonObject]:
    return list(chain.from_iterable(_pages(store, session_id, mode, limit)))


def _flat(messages: list[JsonObject]) -> Iterator[JsonObject]:
    for message in messages:
        content = message["content"]
        yield message if type(content) is str else {k: v for k, v in message.items() if k != "content"}
        yield from [] if type(content) is str else content


def _with_parts(events: list[JsonObject]) -> list[tuple[JsonObject, list[JsonObject]]]:
    found: list[tuple[JsonObject, list[JsonObject]]] = []
    for event in events:
        if event["kind"] == "message":
            found.append((event, []))
        else:
            found[-1][1].append(event)
    return found


# --- what pages hold --------------------------------------------------------------------------------------------------


@pytest.mark.rule("model-lossless-projection")
@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_verbatim_pages_hold_exactly_the_session(
    store: Store, sessions: dict[str, list[JsonObject]], limit: int
) -> None:
    for session_id, events in sessions.items():
        assert list(_flat(_walked(store, session_id, "verbatim", limit))) == events


@modes
@pytest.mark.parametrize("limit", [1, 2, 5, 42, 43])
def test_any_limit_visits_every_message_once(
    store: Store, sessions: dict[str, list[JsonObject]], limit: int, mode: str
) -> None:
    expected = [m["id"] for m, parts in _with_parts(sessions[AWKWARD]) if _belongs(m, parts, mode)]
    assert [m["id"] for m in _walked(store, AWKWARD, mode, limit)] == expected
    backwards = list(_pages(store, AWKWARD, mode, limit, from_end=True))
    assert [m["id"] for m in chain.from_iterable(reversed(backwards))] == expected


@modes
@pytest.mark.parametrize("limit", [50, 120])
def test_pages_larger_than_one_reading_are_whole(long: Store, limit: int, mode: str) -> None:
    expected = [f"m{n:03}" for n in range(LONG)]
    assert len(get_session(long, "long", mode, limit)["messages"]) == limit
    assert [m["id"] for m in _walked(long, "long", mode, limit)] == expected
    backwards = list(_pages(long, "long", mode, limit, from_end=True))
    assert [m["id"] for m in chain.from_iterable(reversed(backwards))] == expected


def _belongs(message: JsonObject, parts: list[JsonObject], mode: str) -> bool:
    return mode != "conversational" or search_text(message, parts) is not None


@given(data=st.data(), mode=st.sampled_from(MODES), limit=st.integers(1, 20), from_end=st.booleans())
def test_a_page_goes_on_after_any_message(
    store: Store, sessions: dict[str, list[JsonObject]], data: st.DataObject, mode: str, limit: int, from_end: bool
) -> None:
    """Also after one that the mode does not show: an id may come from a search or from another mode."""
    all_of_it = _with_parts(sessions[AWKWARD])
    at = data.draw(st.integers(0, len(all_of_it) - 1))
    rest = all_of_it[:at] if from_end else all_of_it[at + 1 :]
    fitting = [m["id"] for m, parts in rest if _belongs(m, parts, mode)]
    page = get_session(store, AWKWARD, mode, limit, all_of_it[at][0]["id"], from_end)
    assert [m["id"] for m in page["messages"]] == (fitting[-limit:] if from_end else fitting[:limit])
    assert page["messages_remaining"] == max(0, len(fitting) - limit)


@pytest.mark.rule("model-part-provenance")
def test_conversation_is_what_was_said_and_nothing_injected(
    store: Store, sessions: dict[str, list[JsonObject]]
) -> None:
    for session_id, events in sessions.items():
        injected = {e["id"] for e in events if e["kind"] == "part" and e["provenance"] == "injected"}
        shown = _walked(store, session_id, "conversational", 1000)
        spoken = {m["id"]: text for m, parts in _with_parts(events) if (text := search_text(m, parts)) is not None}
        assert {m["id"]: m["text"] for m in shown} == spoken
        assert not injected & {part["id"] for m in shown for part in m["parts_summary"]}
    assert invented.HIDDEN not in str(_walked(store, AWKWARD, "conversational", 1000))


def test_complete_pages_summarise_every_part(store: Store, sessions: dict[str, list[JsonObject]]) -> None:
    for session_id, events in sessions.items():
        shown = _walked(store, session_id, "complete", 7)
        assert [m["id"] for m in shown] == [e["id"] for e in events if e["kind"] == "message"]
        assert [p["id"] for m in shown for p in m["parts_summary"]] == [e["id"] for e in events if e["kind"] == "part"]


def test_a_summary_says_what_a_part_is_and_how_large(store: Store) -> None:
    shown = {m["id"]: m for m in _walked(store, AWKWARD, "complete", 1000)}
    assert shown["p3"] == {
        "id": "p3", "role": "user", "timestamp": "2026-05-04T00:03:00.000Z", "text": "prompt 3",
        "parts_summary": [
            {"id": "p3:0", "type": "text", "provenance": "conversational", "size_bytes": 8},
            {"id": "p3:1", "type": "text", "provenance": "injected", "size_bytes": len(invented.HIDDEN)},
        ],
    }  # fmt: skip
    (call,) = [p for p in shown["c3"]["parts_summary"] if p["type"] == "tool_call"]
    assert (call["name"], call["size_bytes"]) == ("Look", len('{"n":3}'))
    (file,) = shown["f3"]["parts_summary"]
    assert (file["name"], file["media_type"], file["size_bytes"]) == ("3.png", "image/png", 1024)
    (result,) = shown["r3"]["parts_summary"]
    assert result["size_bytes"] == 1024 + len('{"data":"","n":3}')


def test_pages_are_bounded_by_size_and_cut_no_message(store: Store) -> None:
    groups = [invented.said("large", f"m{n}", "x" * size) for n, size in enumerate([100_000] * 5 + [900_000, 10, 10])]
    invented.store(store, invented.session("large"), groups)
    for mode in MODES:
        pages = list(_pages(store, "large", mode, 1000))
        assert [[m["id"] for m in page] for page in pages] == [["m0", "m1"], ["m2", "m3"], ["m4"], ["m5"], ["m6", "m7"]]
        assert all(len(page) == 1 or len(encode(page)) <= get.BUDGET for page in pages)
        back = [[m["id"] for m in page] for page in _pages(store, "large", mode, 1000, from_end=True)]
        assert back == [["m6", "m7"], ["m5"], ["m3", "m4"], ["m1", "m2"], ["m0"]]


def test_messages_that_share_a_place_come_in_the_order_of_their_ids(store: Store) -> None:
    """Two sources of one session may put different messages at one place."""
    row = invented.session("shared")
    for name in ("b", "a", "c"):
        invented.store(store, row, [invented.said("shared", f"{name}{n}", name) for n in range(3)])
    expected = [f"{name}{n}" for n in range(3) for name in "abc"]
    for mode in MODES:
        assert [m["id"] for m in _walked(store, "shared", mode, 2)] == expected


# --- one message ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 1, 17, 40, 41])
@pytest.mark.parametrize("depth", [0, 1, 7, 100])
def test_a_message_stands_between_its_neighbours(
    store: Store, sessions: dict[str, list[JsonObject]], at: int, depth: int
) -> None:
    all_of_it = _with_parts(sessions[AWKWARD])
    ids = [m["id"] for m, _ in all_of_it]
    response = _valid(get_message(store, AWKWARD, ids[at], depth))
    assert [m["id"] for m in response["before"]] == ids[max(0, at - depth) : at]
    assert [m["id"] for m in response["after"]] == ids[at + 1 : at + 1 + depth]
    assert list(_flat([response["message"]])) == [all_of_it[at][0], *all_of_it[at][1]]
    assert response["parts_remaining"] == 0


@pytest.mark.parametrize("limit", [1, 7, 29, 30, 31])
def test_parts_of_a_message_come_in_pages(store: Store, limit: int) -> None:
    head = invented.message("parts", "many")
    parts = [invented.part(head, n, "text", text=str(n)) for n in range(30)]
    invented.store(store, invented.session("parts"), [[head, *parts]])  # only the first time: what is stored stays
    seen: list[JsonObject] = []
    remaining = len(parts)
    while remaining:
        response = _valid(get_message(store, "parts", "many", limit=limit, after_id=seen[-1]["id"] if seen else None))
        page = response["message"]["content"]
        assert 0 < len(page) <= limit
        seen += page
        remaining -= len(page)
        assert response["parts_remaining"] == remaining
    assert seen == parts


# --- ids are data -----------------------------------------------------------------------------------------------------


def test_any_text_is_an_id_and_none_is_a_question(store: Store) -> None:
    texts = list(enumerate(invented.HOSTILE))
    sessions = [
        (invented.session(id), [invented.said(id, each, f"{n}") for n, each in texts]) for id in invented.HOSTILE
    ]
    invented.store_all(store, sessions)
    for turn, id in enumerate(invented.HOSTILE):
        for mode in MODES if SOAK else [MODES[turn % len(MODES)]]:
            assert [m["id"] for m in _walked(store, id, mode, 10)] == invented.HOSTILE
        for n, other in texts[:: len(id)]:
            message = _valid(get_message(store, id, other, 1))["message"]
            assert (message["id"], message["session_id"], message["content"][0]["text"]) == (other, id, f"{n}")


@pytest.mark.parametrize("id", ["", "x' OR 'a'='a", "%", "awkwar", "awkward ", "awkward\0", "\ud800"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda store, id: get_session(store, id),
        lambda store, id: get_session(store, AWKWARD, after_id=id),
        lambda store, id: get_message(store, id, "p1"),
        lambda store, id: get_message(store, AWKWARD, id),
        lambda store, id: get_message(store, AWKWARD, "p1", after_id=id),
        lambda store, id: get_message(store, AWKWARD, "s1", after_id=id),
    ],
)
def test_an_unknown_id_is_not_found(store: Store, id: str, ask: Callable[[Store, str], object]) -> None:
    with pytest.raises(UsageError) as refused:
        ask(store, id)
    assert [d.code for d in refused.value.diagnostics] == ["lake-not-found"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda store: get_session(store, AWKWARD, limit=0),
        lambda store: get_session(store, AWKWARD, limit=1001),
        lambda store: get_session(store, AWKWARD, mode="everything"),
        lambda store: get_message(store, AWKWARD, "p1", limit=-1),
        lambda store: get_message(store, AWKWARD, "p1", context_depth=101),
        lambda store: get_message(store, AWKWARD, "p1", context_depth=-1),
    ],
)
def test_what_the_wire_refuses_is_refused(store: Store, ask: Callable[[Store], object]) -> None:
    with pytest.raises(UsageError) as refused:
        ask(store)
    assert [d.code for d in refused.value.diagnostics] == ["usage"]


# --- what a page costs ------------------------------------------------------------------------------------------------


class _Reads:
    """Every scan that was made, as `(table, columns, filter, rows found)`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[tuple[str, set[str], str, int]] = []
        rows = read.rows

        def noted(store: Store, table: Any, columns: Any, where: Any = None, **more: Any) -> pa.Table:
            found = rows(store, table, columns, where, **more)
            self.made.append((table.name, set(columns), where, found.num_rows))
            return found

        monkeypatch.setattr(read, "rows", noted)


@modes
def test_only_the_page_is_read_whole(long: Store, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = _Reads(monkeypatch)
    for from_end in (False, True):
        get_session(long, "long", mode, 5, "m100", from_end)
    wide = [found for name, columns, _, found in reads.made if name != "sessions" and not columns <= {"id", "position"}]
    assert wide == [5] * len(wide)
    assert len(wide) == 4  # messages and parts, from both ends


@modes
def test_every_scan_of_a_session_goes_by_its_index(tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = lake(tmp_path, TOURS[0])
    for table in (MESSAGES, PARTS):
        store.handle(table).optimize.optimize_indices()
    (row,) = load.sessions(store, None)
    reads = _Reads(monkeypatch)
    shown = get_session(store, row["id"], mode, 5)
    get_message(store, row["id"], shown["messages"][0]["id"], 3)
    asked = [(table, where) for table in (MESSAGES, PARTS) for name, _, where, _ in reads.made if name == table.name]
    assert len(asked) >= 8
    for table, where in asked:
        plan = store.handle(table).scanner(filter=where).explain_plan()
        assert "ScalarIndexQuery" in plan, where
