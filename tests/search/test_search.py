"""`pond search` on small lakes: what is found, what is not, how an answer is made up and continued."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

import pond
from pond.config.load import load
from pond.diagnostics.diagnostic import UsageError
from pond.lake.optimize import optimize
from pond.operations.failing import RequestError
from pond.search.candidates import SEARCHABLE
from pond.sessions.lake import opened
from pond.sessions.rows import Rows
from pond.sessions.tables import MESSAGES
from pond.sessions.writing import write_rows
from pond.types import Event, SearchResponse
from tests.lake.build import tables
from tests.operations import invented

ROOT = Path(__file__).resolve().parents[2]

SAID = {
    "orchard": [
        ("user", "How do we prune the old apple trees without hurting them?"),
        ("assistant", "Cut in late winter. See prune_branch in src/orchard/prune.py:42."),
        ("user", "It raises HTTPError when the weather service is away."),
        ("assistant", "Then catch it: the forecast is only a hint. The release branch has the fix."),
    ],
    "harbour": [
        ("user", "Where are boats moored when the tide is low?"),
        ("assistant", "At the outer pier. The outer-pier map is in docs/harbour.md; a branch release is planned."),
        ("user", "登录认证为什么失败"),
        ("assistant", "Weil die Zugangsberechtigungsprüfung abgelaufen war. Đường phố Hà Nội cũng vậy."),
    ],
    "kiln": [
        ("user", "The glaze cracks after firing, why?"),
        ("assistant", "It cools fast. " + "Let the kiln rest, then open it. " * 70 + "A cone of grade six melts late."),
    ],
}  # fmt: skip


def events(sessions: dict[str, list[tuple[str, str]]], prefix: str = "") -> Iterator[Event]:
    for at, (name, said) in enumerate(sessions.items()):
        row: dict[str, Any] = {"kind": "session", "id": f"{prefix}{name}", "source_agent": "tern", "options": {}}
        yield cast(
            "Event", row | {"project": f"/home/ada/{name}", "created_at": f"2026-03-{at % 28 + 1:02}T08:00:00.000Z"}
        )
        for number, (role, text) in enumerate(said):
            named = {"session_id": f"{prefix}{name}", "id": f"{name}-{number}"}
            time = f"2026-03-{at % 28 + 1:02}T08:{number:02}:00.000Z"
            yield cast("Event", {"kind": "message", **named, "timestamp": time, "role": role, "options": {}})
            part = {"session_id": f"{prefix}{name}", "message_id": f"{name}-{number}", "id": f"{name}-{number}:0"}
            part |= {"type": "text", "text": text, "provenance": "conversational"}
            yield cast("Event", {"kind": "part", **part, "options": {}})


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> pond.Lake:
    """A lake whose rows no index knows yet."""
    lake = pond.Lake(tmp_path_factory.mktemp("search") / "lake")
    assert not lake.ingest_events(events(SAID))["rejected"]
    return lake


def best(found: SearchResponse) -> str:
    return found["hits"][0]["message_id"]


@pytest.mark.rule("search-language-neutral-index")
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("prune_branch", "orchard-1"), ("pruneBranch", "orchard-1"), ("prune branch", "orchard-1"),
        ("HTTPError", "orchard-2"), ("http error", "orchard-2"), ("src/orchard/prune.py:42", "orchard-1"),
        ("how to cut apple tree", "orchard-0"), ("认证失败", "harbour-2"), ("Berechtigungsprüfung", "harbour-3"),
        ("Prüfung", "harbour-3"),
        ("duong pho ha noi", "harbour-3"), ("đường phố hà nội", "harbour-3"), ("moor", "harbour-0"),
        ("cone grade six", "kiln-1"),
    ],
)  # fmt: skip
def test_the_message_is_found(lake: pond.Lake, query: str, message: str) -> None:
    assert best(lake.search(query)) == message


@pytest.mark.parametrize(
    "phrase", ["the release branch", "outer pier", "outer-pier", "登录", "glaze CRACKS", "tide is"]
)
def test_phrases_are_exact_and_complete(lake: pond.Lake, phrase: str) -> None:
    found = {hit["message_id"] for hit in lake.search(f'"{phrase}"')["hits"]}
    texts = {f"{name}-{at}": text for name, said in SAID.items() for at, (_, text) in enumerate(said)}
    holding = {id for id, text in texts.items() if phrase.lower() in text.lower()}
    assert found == holding != set()


def test_an_excluded_phrase_excludes(lake: pond.Lake) -> None:
    both, one = lake.search("release branch"), lake.search('release branch -"the release branch"')
    assert {hit["message_id"] for hit in both["hits"]} - {hit["message_id"] for hit in one["hits"]} == {"orchard-3"}


@pytest.mark.rule("search-prefilter-pushdown")
def test_a_filter_comes_before_the_rank(tmp_path: Path) -> None:
    crowd = {f"crowd{n}": [("assistant", "the lighthouse lamp turns all night")] for n in range(400)}
    lake = pond.Lake(tmp_path / "lake")
    lake.ingest_events(events(crowd | {"quiet": [("user", "a long walk to see the lamp of some lighthouse one day")]}))
    found = lake.search("lighthouse lamp", filters={"role": "user"})
    assert [hit["message_id"] for hit in found["hits"]] == ["quiet-0"]
    assert (found["searchable_messages"], found["matched_messages"], found["more_matched"]) == (1, 1, False)
    unfiltered = lake.search("lighthouse lamp")
    assert (unfiltered["searchable_messages"], unfiltered["more_matched"]) == (401, True)


def test_without_words_the_newest_come_first(lake: pond.Lake) -> None:
    found = lake.search("role:user project:harbour")
    assert [hit["message_id"] for hit in found["hits"]] == ["harbour-2", "harbour-0"]


def test_sort_recent_lists_by_time(lake: pond.Lake) -> None:
    found = lake.search("release branch", sort="recent")
    times = [hit["timestamp"] for hit in found["hits"]]
    assert times == sorted(times, reverse=True)


def test_a_copied_message_is_one_hit(tmp_path: Path) -> None:
    lake = pond.Lake(tmp_path / "lake")
    lake.ingest_events(events({"orchard": SAID["orchard"]}))
    lake.ingest_events(events({"orchard": SAID["orchard"]}, prefix="fork-of-"))
    found = lake.search("prune_branch")
    assert [hit["message_id"] for hit in found["hits"]].count("orchard-1") == 1
    hits = [hit for session in found["sessions"] for hit in session["hits"] if hit["message_id"] == "orchard-1"]
    assert [len(hit["also_in"]) for hit in hits] == [1]


def test_subagents_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    lake = pond.Lake(tmp_path / "lake")
    lake.ingest(ROOT / "adapters/claude_code/fixtures/subagents")
    table = lake.to_arrow("messages").select(["session_id", "search_text", "agent"]).to_pylist()
    said = next(row for row in table if row["agent"] is not None and row["search_text"])
    query = " ".join(said["search_text"].split()[:12]).replace('"', " ").replace(":", " ")
    sessions = {hit["session_id"] for hit in lake.search(query, filters={"subagents": "include"})["hits"]}
    assert said["session_id"] in sessions
    assert said["session_id"] not in {hit["session_id"] for hit in lake.search(query)["hits"]}


def test_a_short_text_is_whole_and_a_long_one_has_a_window(lake: pond.Lake) -> None:
    (short,) = [h for s in lake.search("moored boats")["sessions"] for h in s["hits"] if h["message_id"] == "harbour-0"]
    assert short["text"] == SAID["harbour"][0][1]
    assert "snippet" not in short
    marked = [short["text"][mark["start"] : mark["end"]] for mark in short["highlights"]]
    assert marked == ["boats", "moored"]
    (long,) = [h for s in lake.search("grade six cone")["sessions"] for h in s["hits"] if h["message_id"] == "kiln-1"]
    assert "cone of grade six" in long["snippet"]
    assert SAID["kiln"][1][1].startswith(long["text"])
    assert short["parts_summary"][0]["type"] == "text"
    assert "parts_summary" not in long


def test_pages_hold_every_session_once(lake: pond.Lake) -> None:
    whole = [session["session_id"] for session in lake.search("branch tree boat glaze", limit=10)["sessions"]]
    paged, cursor = [], None
    while True:
        page = lake.search("branch tree boat glaze", limit=1, cursor=cursor)
        paged += [session["session_id"] for session in page["sessions"]]
        if (cursor := page.get("cursor")) is None:
            break
    assert paged == whole
    assert len(whole) == 3


def test_a_cursor_is_of_one_search_and_one_version(tmp_path: Path) -> None:
    lake = pond.Lake(tmp_path / "lake")
    lake.ingest_events(events(SAID))
    cursor = lake.search("branch tree boat", limit=1)["cursor"]
    with pytest.raises(RequestError, match="belongs to another search"):
        lake.search("other words", cursor=cursor)
    with pytest.raises(RequestError, match="not one of pond's"):
        lake.search("branch tree boat", cursor="!")
    lake.ingest_events(events({"quarry": [("user", "a boat on a tree branch")]}))
    assert lake.search("branch tree boat", limit=1, cursor=cursor)["sessions"]  # the version that was searched
    optimize(opened(load({"lake": str(tmp_path / "lake")})), timedelta(0))
    with pytest.raises(UsageError, match="is gone"):
        lake.search("branch tree boat", limit=1, cursor=cursor)


def test_pages_are_of_one_state_whatever_is_counted_meanwhile(tmp_path: Path) -> None:
    lake = pond.Lake(tmp_path / "lake")
    lake.ingest_events(events(SAID))
    query = "release branch boats kiln since:90000d"
    whole = [session["session_id"] for session in lake.search(query)["sessions"]]
    cursor = lake.search(query, limit=1)["cursor"]
    lake.ingest_events(events({f"pier{n}": [("user", f"a branch of the release {n}")] for n in range(30)}))
    optimize(opened(load({"lake": str(tmp_path / "lake")})), timedelta(hours=1))  # counts how common words are, too
    rest = lake.search(query, cursor=cursor)
    assert [session["session_id"] for session in rest["sessions"]] == whole[1:]
    assert len(whole) == 3


def test_a_session_that_is_being_stored_is_not_found_yet(tmp_path: Path) -> None:
    lake = pond.Lake(tmp_path / "lake")
    lake.ingest_events(events({"orchard": SAID["orchard"]}))
    rows = Rows(invented.session("arriving"))
    rows.take(invented.said("arriving", "m", "a lantern in the branch release"))
    write_rows(opened(load({"lake": str(tmp_path / "lake")})), *tables(rows))
    found = lake.search("lantern release branch")
    assert "arriving" not in {hit["session_id"] for hit in found["hits"]}
    assert (lake.search("lantern")["hits"], lake.search("lantern")["matched_messages"]) == ([], 0)


def test_matches_compare_between_searches(lake: pond.Lake) -> None:
    strong = max(hit["match"] for hit in lake.search("prune apple trees")["hits"])
    weak = lake.search("kubernetes ingress certificate for the old cluster")
    assert all(hit["match"] < strong / 2 for hit in weak["hits"])
    assert weak["weak"] or not weak["hits"]


def test_min_score_leaves_the_best(lake: pond.Lake) -> None:
    every = lake.search("release branch")["hits"]
    least = every[0]["score"]
    assert lake.search("release branch", filters={"min_score": least})["hits"] == [
        h for h in every if h["score"] >= least
    ]


def test_only_what_matched_itself_is_counted(lake: pond.Lake) -> None:
    found = lake.search("HTTPError")
    assert len(found["hits"]) > 1  # a neighbour may be the answer, and is shown
    assert found["matched_messages"] == 1
    assert [session["matched_messages"] for session in found["sessions"]] == [1]


def test_a_neighbour_stands_behind_what_was_found(tmp_path: Path) -> None:
    said = [("user", "kiln hot"), ("assistant", "Good. Wear the long gloves and stand back, then. " * 5)]
    lake = pond.Lake(tmp_path / "lake")
    lake.ingest_events(
        events({"a": said, "b": [("user", "Hot soup for lunch.")], "c": [("user", "The oven is cold.")]})
    )
    found = [hit["message_id"] for hit in lake.search("kiln hot")["hits"]]
    assert found.index("a-0") < found.index("a-1")


def test_the_order_does_not_change_the_totals(lake: pond.Lake) -> None:
    by_time, by_rank = (lake.search("branch release kiln", sort=order) for order in ("recent", "relevance"))
    assert by_time["matched_messages"] == by_rank["matched_messages"] > len(by_time["hits"])


@pytest.mark.parametrize(("signs", "messages"), [("?", 3), ("_", 1), ("=>", 0), ("\U0001f33f", 0)])
def test_signs_alone_are_sought_as_they_are(lake: pond.Lake, signs: str, messages: int) -> None:
    found = lake.search(signs)
    texts = [hit["text"] for session in found["sessions"] for hit in session["hits"]]
    assert (found["matched_messages"], len(texts)) == (messages, messages)
    assert all(signs in text for text in texts)


def test_an_explanation_has_every_score_and_the_plan(lake: pond.Lake) -> None:
    found = lake.search("release branch", explain=True)
    explanation = found["explanation"]
    told = explanation["hits"]
    assert [each["message_id"] for each in told] == [hit["message_id"] for hit in found["hits"]]
    assert all(each["arms"]["full text"] > 0 for each in told if each["covered"] == 1)
    assert "release" in explanation["plan"]
    assert "agent IS NULL" in explanation["plan"]
    assert sorted(explanation["sessions"], reverse=True) == explanation["sessions"]
    assert len(explanation["sessions"]) == len(found["sessions"]) > 1


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"limit": 0}, "$.limit"), ({"sort": "best"}, "$.sort"), ({"cursor": 5}, "$.cursor"),
        ({"filters": {"rol": "user"}}, "$.filters.rol"), ({"filters": {"role": "usr"}}, "$.filters.role"),
        ({"filters": {"min_score": float("nan")}}, "$.filters.min_score"),
    ],
)  # fmt: skip
def test_python_refuses_what_the_wire_refuses(lake: pond.Lake, wrong: dict[str, Any], path: str) -> None:
    with pytest.raises(RequestError) as refused:
        lake.search("fern", **wrong)
    assert refused.value.details["path"] == path


def test_a_huge_query_is_answered(lake: pond.Lake) -> None:
    assert best(lake.search("prune_branch " + "unheard-of words " * 6000)) == "orchard-1"


def test_messages_are_counted_by_indexes_alone(tmp_path: Path) -> None:
    pond.Lake(tmp_path / "lake").ingest_events(events(SAID))
    store = opened(load({"lake": str(tmp_path / "lake")}))
    optimize(store, timedelta(0))
    plan = store.handle(MESSAGES).scanner(columns=["id"], filter=f"agent IS NULL AND {SEARCHABLE}").explain_plan()
    assert "searched_bitmap" in plan
    assert "terms" not in plan
