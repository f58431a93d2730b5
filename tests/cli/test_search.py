"""`pond search` at the prompt: readable, marked on a terminal, exact as JSON, clear when refused or empty."""

import json
import os
import pty
from pathlib import Path

import pytest

from pond.sessions.writing import prepare
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from tests.cli.command import Done, finish, pond, shown, start
from tests.operations import invented

LONG = "\n".join([*(f"Line {n} is about the weather." for n in range(40)), "Here the glaze cracks.", *"abcdefgh" * 20])
BEGUN = "2026-05-04T08:00:00.000Z"
EVIL = "\x1b[2J kiln\r\n\x07end"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cli") / "lake"
    store = Store(Catalog(str(place)))
    prepare(store)
    said = ["The kiln is hot.", LONG, EVIL, *(f"kiln number {n}" for n in range(9))]
    messages = [invented.said("pottery", f"m{n}", text, at=n) for n, text in enumerate(said)]
    invented.store_all(
        store,
        [
            (invented.session("pottery", project="/home/ada/pots", created_at=BEGUN), messages),
            (invented.session("a\nb", project="/srv"), [invented.said("a\nb", "x", "A teapot of clay.", at=30)]),
        ],
    )
    return place


def _search(lake: Path, *words: str) -> Done:
    return pond("search", "--lake", lake, *words)


def _out(lake: Path, *words: str) -> str:
    done = _search(lake, *words)
    assert (done.code, done.err) == (0, "")
    return done.out.decode()


def _on_a_terminal(lake: Path, *words: str, term: str = "xterm") -> str:
    controller, terminal = pty.openpty()
    process = start("search", *words, "--lake", lake, stdout=terminal, variables={"TERM": term})
    os.close(terminal)
    seen = shown(controller).decode()
    finish(process)
    return seen


def test_who_when_where_and_how_to_go_on(lake: Path) -> None:
    lines = _out(lake, '"kiln is hot"').splitlines()
    assert lines[0].split("  ")[-2:] == ["/home/ada/pots", "2026-05-04 08:00"]
    assert lines[1].startswith("  user  2026-05-04 ")
    assert lines[1].endswith("  m0")
    assert lines[2] == "    The kiln is hot."
    assert any(line.endswith("read: pond get pottery  restore: pond restore pottery -o DIR") for line in lines)
    assert lines[-1] == "1 of 13 messages matches."


def test_an_id_stays_in_its_line_and_is_quoted(lake: Path) -> None:
    assert "read: pond get 'a b'  restore: pond restore 'a b' -o DIR" in _out(lake, "teapot")


def test_a_terminal_shows_the_words_that_match_and_obeys_nothing_else(lake: Path) -> None:
    seen = _on_a_terminal(lake, "kiln", "hot")
    assert "The \x1b[1mkiln\x1b[0m is \x1b[1mhot\x1b[0m." in seen
    assert "\x1b[1m" not in _on_a_terminal(lake, "kiln", "hot", term="dumb")
    assert "\x1b" not in _out(lake, "kiln", "hot")
    evil = _on_a_terminal(lake, "kiln", "end")
    assert "\\x1b[2J \x1b[1mkiln\x1b[0m\r\n    \\x07\x1b[1mend\x1b[0m" in evil


def test_the_lines_around_the_match_are_shown(lake: Path) -> None:
    out = _out(lake, "glaze", "cracks", "--limit", "1")
    assert "Here the glaze cracks." in out
    assert "Line 0 " not in out
    assert out.count("…") == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere"], "Nothing found in 13 messages for: nowhere"),
        (["kiln", "--role", "tool"], "Nothing found: no message matches the filters."),
        (["porcelain"], "subagents without --subagents"),
    ],
)
def test_an_empty_answer_says_what_is_not_searched_and_what_to_try(lake: Path, words: list[str], says: str) -> None:
    out = _out(lake, *words)
    assert says in out
    assert "Tool calls, tool output, reasoning" in out
    assert "Try other words, fewer filters" in out


def test_a_weak_match_is_said(lake: Path) -> None:
    assert "Even the best match is weak" in _out(lake, "certificate", "of", "the", "cluster", "weather", "ingress")
    assert "weak" not in _out(lake, '"kiln is hot"')


def test_pages_follow_one_another(lake: Path) -> None:
    last = _out(lake, "kiln", "teapot", "--limit", "1").splitlines()[-1]
    assert last.startswith("1 more session: --cursor ")
    assert "A teapot of clay." in _out(lake, "kiln", "teapot", "--limit", "1", "--cursor", last.split()[-1])


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["kiln", "-role:user"], []),
        (["-role:assistant", "teapot", "--limit", "2"], ["x"]),
        (["-role:assistant teapot"], ["x"]),
        (['-"of clay" teapot'], []),
        (["git", "commit", "-m", "teapot", "--limit", "2"], ["x"]),
        (["--limit", "1", "--", "--teapot", "-rf"], ["x"]),
        (["--teapot flag of tar -x"], ["x"]),
        (["--role=user", "-x", "teapot"], ["x"]),
    ],
)
def test_words_may_begin_with_a_hyphen(lake: Path, words: list[str], found: list[str]) -> None:
    hits = json.loads(_out(lake, "--json", *words))["hits"]
    assert [hit["message_id"] for hit in hits] == found


def test_json_has_hits_first_and_at_least_ten(lake: Path) -> None:
    found = json.loads(_out(lake, "kiln", "--limit", "1", "--json"))
    assert list(found)[:2] == ["hits", "sessions"]
    assert len(found["hits"]) == 10
    scores = [hit["score"] for hit in found["hits"]]
    assert sorted(scores, reverse=True) == scores
    assert all({"session_id", "message_id", "score", "match"} <= hit.keys() for hit in found["hits"])
    assert [len(session["hits"]) for session in found["sessions"]] == [3]


def test_an_explanation_shows_the_plan_and_the_scores(lake: Path) -> None:
    out = _out(lake, "kiln", "hot", "--explain", "--role", "user")
    assert "role IN ('user')" in out
    assert "MatchQuery" in out
    assert "m0  full text " in out
    for name in ("covered", "own", "around", "score", "match"):
        assert f"  {name} " in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["fern", "role:usr"], "--> query:1:11"),
        (["fern", "after:soon"], "--> query:1:12"),
        (["fern", "session:nosuch"], "--> query:1:14"),
        (["fern", "--role", "usr"], "at --role"),
        (["fern", "--since", "soon"], "expected a time, found `soon`"),
        (["fern", "--min-score", "2"], "expected a score from 0 to 1"),
        (["fern", "--min-score", "nan"], "expected a score from 0 to 1"),
        (["fern", "--limit", "0"], "expected a limit of 1 to 200"),
        (["fern", "--sort", "best"], "unknown order `best`"),
        (["fern", "--cursor", "!"], "`cursor` is not one of pond's"),
        ([], "nothing to search for"),
        (["fern", "--rol", "user"], "unknown option `--rol` (did you mean `--role`?"),
        (["fern", "--min-score", "-1"], "expected a score from 0 to 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(lake: Path, words: list[str], says: str) -> None:
    done = _search(lake, *words)
    assert (done.code, done.out) == (2, b"")
    assert says in done.err
