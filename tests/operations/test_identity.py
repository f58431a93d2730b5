"""Whose session is it, and what is known of it: files that share an id, that begin with another's rows, that grow."""

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from pond.intake import claims
from pond.intake.sources import SOURCE
from pond.lake.erase import erase, family
from pond.lake.status import checks
from pond.model.json_text import encode_line
from pond.sessions import ledger, load
from pond.sessions.rows import Rows
from pond.sessions.tables import MESSAGES, SESSIONS
from pond.substrate import read, write
from tests.cli.command import finish, pond, start
from tests.lake.taking import contents, store, take_in, versions
from tests.laws.passage import read as read_file
from tests.laws.rows import HEADER, PROJECT, TIME, prompt, turn
from tests.operations.came_back import is_back, records_of, row_of, sessions_of
from tests.operations.invented import said, session

OWN = "0a0b1c2d-1111-4222-8333-444455556666"
OTHER = "9f8e7d6c-1111-4222-8333-444455556666"
SLUG = "-home-ada-bench"


def rows(*texts: str, session: str = OWN, cwd: str = PROJECT) -> list[dict[str, Any]]:
    """Return Claude Code rows that say these texts, with ids made from them."""
    return [turn("user", text, f"u-{text}", sessionId=session, cwd=cwd) for text in texts]


def mode(session: str = OWN) -> dict[str, Any]:
    """Return a row that begins a session before anything is known of its directory."""
    return {"type": "mode", "mode": "normal", "sessionId": session}


def put(place: Path, found: Iterable[Any]) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"".join(map(encode_line, found)))
    return place


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


def at(home: Path, session: str = OWN, slug: str = SLUG) -> Path:
    """Return where a session of Claude Code lies."""
    return home / "projects" / slug / f"{session}.jsonl"


# --- the file's own name ---------------------------------------------------------------------------------------------


def test_rows_of_another_session_at_the_start_say_where_it_came_from(tmp_path: Path, lake: Path) -> None:
    earlier = put(at(tmp_path, OTHER), rows("one", "two", session=OTHER, cwd="/home/ada/other"))
    copied = rows("two", session=OTHER, cwd="/home/ada/other")
    file = put(at(tmp_path), [*copied, *rows("three")])
    take_in(lake, earlier, file)
    row = row_of(lake, OWN)
    assert (row["project"], row["parent_session_id"]) == (PROJECT, OTHER)
    assert row_of(lake, OTHER)["project"] == "/home/ada/other"
    assert is_back(lake, earlier)
    assert is_back(lake, file)


def test_a_name_that_is_no_id_does_not_say_whose_it_is(tmp_path: Path, lake: Path) -> None:
    file = put(tmp_path / "full.jsonl", rows("one"))
    take_in(lake, file)
    assert sessions_of(lake, file) == [OWN]


def test_the_name_of_a_rollout_says_whose_it_is(tmp_path: Path, lake: Path) -> None:
    copied = {**HEADER, "payload": {"id": OTHER, "timestamp": TIME, "cwd": "/home/ada/other"}}
    own = {**HEADER, "payload": {"id": OWN, "timestamp": TIME, "cwd": PROJECT}}
    file = tmp_path / f"sessions/2026/01/02/rollout-2026-01-02T03-04-05-{OWN}.jsonl"
    put(file, [copied, prompt("one"), own, prompt("two")])
    take_in(lake, file)
    row = row_of(lake, OWN)
    assert (row["project"], row["parent_session_id"]) == (PROJECT, OTHER)
    assert is_back(lake, file)


# --- two files, one id -----------------------------------------------------------------------------------------------


def test_two_files_of_one_id_that_share_nothing_are_two_sessions(tmp_path: Path, lake: Path) -> None:
    one = put(at(tmp_path / "a"), rows("one", "two"))
    two = put(at(tmp_path / "b", slug="-home-ada-shed"), rows("three", "four", cwd="/home/ada/shed"))
    summary = take_in(lake, one, two)
    assert summary.new_sessions == 2
    assert is_back(lake, one)
    assert is_back(lake, two)
    ids = {*sessions_of(lake, one), *sessions_of(lake, two)}
    (aside,) = ids - {OWN}
    assert aside.startswith(f"{OWN}~")
    assert row_of(lake, aside)["options"]["pond"]["id"] == OWN
    (told,) = [d for d in summary.report.faults if d.code == "lake-same-id"]
    assert aside in told.message
    assert OWN in told.message
    (noted,) = checks(store(lake), {}).sources.same_ids
    assert noted["message"] == told.message


def test_the_same_in_two_runs(tmp_path: Path, lake: Path) -> None:
    one, two = put(at(tmp_path / "a"), rows("one", "two")), put(at(tmp_path / "b"), rows("one", "other"))
    take_in(lake, one)
    before = contents(lake)
    assert take_in(lake, two).new_sessions == 1
    assert is_back(lake, one)
    assert is_back(lake, two)
    after = contents(lake)
    assert all(row in after[name] for name, found in before.items() for row in found)
    again = versions(lake)
    assert take_in(lake, one, two).files["unchanged"] == 2
    assert versions(lake) == again


def test_two_clients_with_one_id_are_two_sessions(tmp_path: Path, lake: Path) -> None:
    one = put(at(tmp_path), rows("one"))
    header = {**HEADER, "payload": {"id": OWN, "timestamp": TIME, "cwd": PROJECT}}
    two = put(tmp_path / f"sessions/2026/01/02/rollout-2026-01-02T03-04-05-{OWN}.jsonl", [header, prompt("one")])
    take_in(lake, one, two)
    assert is_back(lake, one)
    assert is_back(lake, two)


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_order_decides_nothing_but_who_keeps_the_plain_id(tmp_path: Path, order: tuple[int, ...]) -> None:
    files = [put(at(tmp_path / str(n)), rows("one", f"then {n}", f"and {n}")) for n in range(3)]
    for runs in ([[files[n]] for n in order], [[files[n] for n in order]]):
        lake = tmp_path / f"lake{len(runs)}"
        for some in runs:
            take_in(lake, *some)
        ids = sorted(id for file in files for id in sessions_of(lake, file))
        assert ids[0] == OWN
        assert len(set(ids)) == 3
        suffix = ids[1].removeprefix(f"{OWN}~")
        assert ids[2] == f"{OWN}~{suffix}.2"
        assert all(is_back(lake, file) for file in files)


@pytest.mark.parametrize("longer_first", [True, False])
def test_a_copy_is_the_same_session(tmp_path: Path, lake: Path, longer_first: bool) -> None:
    short = put(at(tmp_path / "backup"), rows("one", "two"))
    long = put(at(tmp_path / "home"), rows("one", "two", "three"))
    for file in (long, short) if longer_first else (short, long):
        take_in(lake, file)
    assert sessions_of(lake, short) == sessions_of(lake, long) == [OWN]
    assert is_back(lake, long)
    assert len(contents(lake)["messages"]) == 3


def test_a_copy_that_spells_a_record_otherwise_is_the_same_session(tmp_path: Path, lake: Path) -> None:
    name = "rollout-2026-01-02T03-04-05-0199-ada.jsonl"
    found = [HEADER, prompt("one"), prompt("two")]
    one, two = put(tmp_path / "a" / name, found), put(tmp_path / "b" / name, [*found, prompt("three")])
    two.write_bytes(two.read_bytes().replace(b'"timestamp":', b'"timestamp": '))
    take_in(lake, one)
    take_in(lake, two)
    assert sessions_of(lake, one) == sessions_of(lake, two)
    assert is_back(lake, two)
    for _ in range(2):
        before = versions(lake)["messages"]
        os.utime(one)
        os.utime(two)
        take_in(lake, one, two)
        assert versions(lake)["messages"] == before
    assert len(contents(lake)["sessions"]) == 1


def test_a_copy_that_counts_equal_records_otherwise_loses_none(tmp_path: Path, lake: Path) -> None:
    name = "rollout-2026-01-02T03-04-05-0199-ada.jsonl"
    one = put(tmp_path / "a" / name, [HEADER, *[prompt("again")] * 4])
    two = put(tmp_path / "b" / name, [HEADER, *[prompt("again")] * 6])
    # The second line has a text of its own: it is not counted with the others.
    two.write_bytes(two.read_bytes().replace(b'{"timestamp":', b'{ "timestamp":', 2))
    take_in(lake, one)
    take_in(lake, two)
    assert sessions_of(lake, one) == sessions_of(lake, two)
    assert is_back(lake, two)
    with two.open("ab") as out:
        out.write(encode_line(prompt("again")) * 3)
    take_in(lake, two)
    assert is_back(lake, two)


def test_a_copy_that_goes_its_own_way_becomes_a_session_of_its_own(tmp_path: Path, lake: Path) -> None:
    one, two = put(at(tmp_path / "a"), rows("one", "two")), put(at(tmp_path / "b"), rows("one", "two"))
    take_in(lake, one, two)
    assert sessions_of(lake, one) == sessions_of(lake, two) == [OWN]
    put(one, rows("one", "two", "here"))
    take_in(lake, one, two)
    put(two, rows("one", "two", "there"))
    take_in(lake, one, two)
    put(one, rows("one", "two", "here", "on"))
    put(two, rows("one", "two", "there", "too"))
    take_in(lake, one, two)
    assert is_back(lake, one)
    assert is_back(lake, two)
    assert sessions_of(lake, one) != sessions_of(lake, two)
    assert records_of(lake, OWN) in (rows("one", "two", "here", "on"), rows("one", "two", "there", "too"))


def test_copies_that_part_in_one_run_become_two_sessions(tmp_path: Path, lake: Path) -> None:
    one, two = put(at(tmp_path / "a"), rows("one", "two")), put(at(tmp_path / "b"), rows("one", "two"))
    take_in(lake, one, two)
    put(one, rows("one", "two", "here"))
    put(two, rows("one", "two", "there"))
    take_in(lake, one, two)
    assert is_back(lake, one)
    assert is_back(lake, two)


def test_the_same_ids_with_another_content_are_not_dropped(tmp_path: Path, lake: Path) -> None:
    file = put(at(tmp_path), rows("one", "two", "three"))
    take_in(lake, file)
    changed = rows("one", "two", "three")
    changed[1]["message"]["content"] = "2"
    put(file, changed)
    summary = take_in(lake, file)
    assert (summary.files["rewritten"], summary.new_sessions) == (1, 1)
    assert is_back(lake, file)
    assert records_of(lake, OWN) == rows("one", "two", "three")
    put(file, [*changed, *rows("four")])
    assert take_in(lake, file).files["grown"] == 1
    assert is_back(lake, file)
    assert len(contents(lake)["sessions"]) == 2


def test_a_file_that_was_cut_and_grew_again_is_two_sessions(tmp_path: Path, lake: Path) -> None:
    file = put(at(tmp_path), rows("one", "two", "three"))
    take_in(lake, file)
    put(file, rows("one"))
    take_in(lake, file)
    put(file, rows("one", "other", "more"))
    take_in(lake, file)
    assert is_back(lake, file)
    assert records_of(lake, OWN) == rows("one", "two", "three")


def test_subagents_go_with_the_session_beside_whose_file_they_lie(tmp_path: Path, lake: Path) -> None:
    homes = [tmp_path / "a", tmp_path / "b"]
    for home in homes:
        put(at(home), rows(f"begin {home.name}"))
        agent = turn("user", home.name, f"a-{home.name}", sessionId=OWN, isSidechain=True)
        put(at(home).with_suffix("") / "subagents" / "agent-1.jsonl", [agent])
    put(at(homes[1]).with_suffix("") / "subagents" / "agent-2.jsonl", [turn("user", "late", sessionId=OWN)])
    take_in(lake, *homes)
    for home in homes:
        (parent,) = sessions_of(lake, at(home))
        for child in at(home).with_suffix("").rglob("agent-*.jsonl"):
            assert is_back(lake, child)
            (child_id,) = sessions_of(lake, child)
            assert row_of(lake, child_id)["parent_session_id"] == parent


def test_rows_that_a_killed_run_left_do_not_mix_with_another_file(tmp_path: Path, lake: Path) -> None:
    one, two = put(at(tmp_path / "a"), rows("one", "two")), put(at(tmp_path / "b"), rows("three"))
    take_in(lake, one)
    write.erase(store(lake), SESSIONS, f"id = '{OWN}'")
    ledger.forget(store(lake), "source", ledger.notes(store(lake), "source"))
    take_in(lake, two)
    take_in(lake, one)
    assert is_back(lake, one)
    assert is_back(lake, two)


def test_canonical_text_of_a_stored_session_is_that_session(tmp_path: Path, lake: Path) -> None:
    file = put(at(tmp_path), [mode(), *rows("one", "two")])
    passage = read_file(file)
    text = put(tmp_path / "events.jsonl", [passage.session, *passage.rows])
    take_in(lake, file)
    before = contents(lake)
    assert take_in(lake, text).new_sessions == 0
    assert contents(lake) == before
    words = put(tmp_path / "other.jsonl", [passage.session, *read_file(put(at(tmp_path / "b"), rows("x"))).rows])
    assert take_in(lake, words).new_sessions == 1


def test_canonical_text_in_another_order_and_with_a_broken_event_is_the_same_session(
    tmp_path: Path, lake: Path
) -> None:
    passage = read_file(put(at(tmp_path), [mode(), *rows("one", "two", "three")]))
    first, *others = ([*group] for group in passage.groups)
    text = put(tmp_path / "events.jsonl", [passage.session, *(event for group in others for event in group), *first])
    with text.open("ab") as out:
        out.write(b'NaN\n{"kind":"part","options":{}}\n')
    take_in(lake, text)
    before = contents(lake)
    for _ in range(2):
        os.utime(text)
        assert take_in(lake, text).files["unchanged"] == 1
        assert contents(lake) == before


def test_a_stream_whose_sessions_change_keeps_them_apart(tmp_path: Path, lake: Path) -> None:
    first = [session("a"), *said("a", "m-1", "one"), session("b")]
    text = put(tmp_path / "events.jsonl", first)
    take_in(lake, text)
    put(text, [session("c"), *first, *said("b", "m-2", "two")])
    take_in(lake, text)
    found = {row["id"] for row in contents(lake)["sessions"]}
    assert found == {"a", "b", "c"}
    assert [(row["session_id"], row["id"]) for row in contents(lake)["messages"]] == [("a", "m-1"), ("b", "m-2")]


# --- facts -----------------------------------------------------------------------------------------------------------


def test_a_project_that_a_record_tells_later_is_corrected_once(tmp_path: Path, lake: Path) -> None:
    file = put(at(tmp_path), [mode(), {"type": "summary", "summary": "no time", "leafUuid": "x"}])
    take_in(lake, file)
    assert row_of(lake, OWN)["project"] == SLUG
    grown = [mode(), {"type": "summary", "summary": "no time", "leafUuid": "x"}, *rows("one", "two")]
    put(file, grown)
    take_in(lake, file)
    row = row_of(lake, OWN)
    assert (row["project"], row["created_at"]) == (PROJECT, TIME)
    projects = read.rows(store(lake), MESSAGES, ["project"])["project"].to_pylist()
    assert projects == [PROJECT] * 4
    assert is_back(lake, file)
    put(file, [*grown, *rows("three", cwd="/home/ada/moved")])
    take_in(lake, file)
    assert row_of(lake, OWN)["project"] == PROJECT
    assert is_back(lake, file)
    before = versions(lake)
    take_in(lake, file)
    assert versions(lake) == before


def test_a_directory_that_only_copied_rows_name_is_not_taken_for_the_own_one(tmp_path: Path, lake: Path) -> None:
    copied = rows("zero", session=OTHER, cwd="/home/ada/other")
    file = put(tmp_path / f"{OWN}.jsonl", copied)
    take_in(lake, file)
    put(file, [*copied, *rows("one", cwd=PROJECT), *rows("two", cwd="/home/ada/other")])
    take_in(lake, file)
    assert row_of(lake, OWN)["project"] == PROJECT
    assert is_back(lake, file)


def test_an_id_that_only_the_file_name_gave_stays(tmp_path: Path, lake: Path) -> None:
    first = {"type": "summary", "summary": "whose is it", "leafUuid": "x"}
    file = put(tmp_path / "full.jsonl", [first])
    take_in(lake, file)
    put(file, [first, *rows("one")])
    take_in(lake, file)
    assert sessions_of(lake, file) == ["full"]
    assert is_back(lake, file)


def test_a_file_beside_a_session_that_comes_later_is_kept(tmp_path: Path, lake: Path) -> None:
    file = put(at(tmp_path).with_suffix("") / "subagents" / "agent-1.jsonl", [turn("user", "one", sessionId=OWN)])
    take_in(lake, file)
    file.with_suffix(".meta.json").write_text(json.dumps({"description": "count the bulbs"}))
    take_in(lake, file)
    (session_id,) = sessions_of(lake, file)
    beside = row_of(lake, session_id)["options"]["source"]["beside"]
    assert beside == {"{stem}.meta.json": {"description": "count the bulbs"}}


def test_files_beside_a_session_are_stored_once_however_often_it_is_read(tmp_path: Path, lake: Path) -> None:
    file = put(at(tmp_path), rows("one"))
    result = file.with_suffix("") / "tool-results" / "a.txt"
    result.parent.mkdir(parents=True)
    result.write_text("much output")
    take_in(lake, file)
    before = contents(lake)
    for _ in range(2):
        os.utime(file)
        take_in(lake, file)
        assert contents(lake) == before


def test_what_else_comes_in_changes_nothing(tmp_path: Path) -> None:
    slug = "C--Users-ada-bench"
    one = put(at(tmp_path, slug=slug), [mode(), *rows("one", cwd="C:\\Users\\ada\\bench")])
    two = put(at(tmp_path, OTHER, slug), [mode(OTHER)])
    take_in(tmp_path / "alone", two)
    take_in(tmp_path / "both", one, two)
    assert row_of(tmp_path / "alone", OTHER) == row_of(tmp_path / "both", OTHER)


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grows", [False, True])
def test_what_was_refused_stays_visible_until_it_is_mended(tmp_path: Path, lake: Path, grows: bool) -> None:
    file = put(at(tmp_path), rows("one"))
    with file.open("ab") as out:
        out.write(b"{not json\n")
    first = take_in(lake, file)
    assert [d.code for d in first.report.faults] == ["source-not-json"]
    if grows:
        with file.open("ab") as out:
            out.write(b"".join(map(encode_line, rows("two"))))
        assert take_in(lake, file).report.errors == 0
    again = take_in(lake, file)
    assert [(p["code"], p["line"]) for p in again.known] == [("source-not-json", 2)]
    assert [p["line"] for p in checks(store(lake), {}).sources.problems] == [2]
    put(file, rows("one", "two"))
    take_in(lake, file)
    assert take_in(lake, file).known == []
    assert checks(store(lake), {}).sources.problems == []


def test_the_retention_warning_names_what_is_not_all_stored(tmp_path: Path, lake: Path) -> None:
    home = tmp_path / "home"
    whole, broken = put(at(home, OTHER), rows("one", session=OTHER)), put(at(home), rows("one"))
    with broken.open("ab") as out:
        out.write(b"{not json\n")
    take_in(lake, home)
    for file in (whole, broken):
        os.utime(file, (1, 1))
    take_in(lake, home)
    (found,) = checks(store(lake), {"CLAUDE_CONFIG_DIR": str(home), "CODEX_HOME": "/nowhere"}).retention
    assert (found.due, found.unstored) == (2, [str(broken)])


def test_a_lake_that_lost_its_notes_is_read_again_without_a_new_row(tmp_path: Path, lake: Path) -> None:
    files = [put(at(tmp_path, OTHER), rows("a", session=OTHER)), put(at(tmp_path / "b"), [mode(), *rows("one")])]
    take_in(lake, *files)
    before = contents(lake)
    ledger.forget(store(lake), "source", ledger.notes(store(lake), "source"))
    shutil.copytree(tmp_path / "b", tmp_path / "c")
    take_in(lake, *files, at(tmp_path / "c"))
    assert contents(lake) == before
    assert load.session(store(lake), OWN) is not None


def test_standard_input_is_held_against_what_is_stored(tmp_path: Path, lake: Path) -> None:
    place = ("--lake", str(lake), "--project", "/x")
    one, two = (b"".join(map(encode_line, rows(text))) for text in ("one", "two"))
    for text in (one, two, one):
        assert pond("ingest", "-", *place, stdin=text).code == 0
    assert len(contents(lake)["sessions"]) == 2


@pytest.mark.parametrize("count", [30, 3000])
@pytest.mark.parametrize("stored", [0, 3])
def test_a_file_that_is_rewritten_while_it_is_read_is_not_stored_as_two_halves(
    tmp_path: Path, lake: Path, stored: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, other = at(tmp_path), put(at(tmp_path, OTHER), rows("other", session=OTHER))
    if stored:
        take_in(lake, put(file, rows(*map(str, range(stored)))))
    put(file, rows(*map(str, range(count))))
    read_groups = Rows.take
    taken = 0

    def take(self: Any, group: Any) -> None:
        nonlocal taken
        taken += 1
        if taken == count - stored - 5:
            file.write_bytes(file.read_bytes().replace(b"u-", b"v-"))
        read_groups(self, group)

    with monkeypatch.context() as patched:
        patched.setattr(Rows, "take", take)
        summary = take_in(lake, file, other)
    assert [d.code for d in summary.report.faults] == ["source-rewritten"]
    assert is_back(lake, other)
    take_in(lake, file)
    assert is_back(lake, file)
    if count < 1000:  # nothing of it had gone out
        assert len(contents(lake)["messages"]) == count + 1 + stored


# --- interrupted, and at the same moment -----------------------------------------------------------------------------


def rollout(home: Path, *texts: str) -> Path:
    """Write a Codex rollout with the same id that says these texts."""
    head = {**HEADER, "payload": {"id": OWN, "timestamp": TIME, "cwd": PROJECT}}
    return put(home / f"sessions/2026/03/14/rollout-2026-03-14T08-00-00-{OWN}.jsonl", [head, *map(prompt, texts)])


def leave_rows(lake: Path, file: Path) -> None:
    """Store a file as a process does that dies before it stores the session itself."""
    take_in(lake, file)
    write.erase(store(lake), SESSIONS, f"id = '{OWN}'")
    ledger.forget(store(lake), SOURCE, list(ledger.notes(store(lake), SOURCE)))


@pytest.mark.parametrize("first", ["claude-code", "codex"])
def test_rows_that_an_interrupted_run_left_belong_to_their_client(first: str, tmp_path: Path, lake: Path) -> None:
    files = [put(at(tmp_path), rows("one", "two")), rollout(tmp_path, "three", "four", "five")]
    if first == "codex":
        files.reverse()
    leave_rows(lake, files[0])
    take_in(lake, files[1])
    assert is_back(lake, files[1])
    take_in(lake, files[0])
    assert all(is_back(lake, file) for file in files)


def test_a_session_that_another_process_stores_is_waited_for(
    tmp_path: Path, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "_PATIENCE", 0.3)
    file = put(at(tmp_path), rows("one"))
    take_in(lake, put(at(tmp_path, OTHER), rows("any", session=OTHER)))
    with subprocess.Popen(["sleep", "60"]) as other:
        claim = {"by": "elsewhere", "host": platform.node(), "pid": other.pid, "at": 0}
        ledger.note(store(lake), claims.CLAIM, {OWN: claim})
        assert [fault.code for fault in take_in(lake, file).report.faults] == ["lake-claimed"]
        assert load.session(store(lake), OWN) is None
        other.kill()
    assert not take_in(lake, file).report.faults
    assert is_back(lake, file)


def test_two_processes_that_bring_one_id_store_two_sessions(tmp_path: Path, lake: Path) -> None:
    take_in(lake, put(at(tmp_path, OTHER), rows("any", session=OTHER)))
    files = [put(at(tmp_path / name), rows(*(f"{name} {n}" for n in range(40)))) for name in ("a", "b", "c")]
    running = [start("ingest", file, "--lake", lake) for file in files]
    assert [finish(process).code for process in running] == [0, 0, 0]
    assert all(is_back(lake, file) for file in files)
    assert len({id for file in files for id in sessions_of(lake, file)}) == 3


def test_a_session_with_the_id_of_an_erased_one_goes_on_growing(tmp_path: Path, lake: Path) -> None:
    one, other = put(at(tmp_path / "x"), rows("one")), put(at(tmp_path / "y"), rows("two"))
    take_in(lake, one, other)
    first = next(file for file in (one, other) if sessions_of(lake, file) == [OWN])
    second = other if first is one else one
    erase(store(lake), [family(store(lake), OWN)])
    put(second, [*map(json.loads, second.read_bytes().splitlines()), *rows("three")])
    assert take_in(lake, one, other).erased == 1
    assert is_back(lake, second)
    assert len(records_of(lake, sessions_of(lake, second)[0])) == 2


def test_status_names_every_session_under_another_id(tmp_path: Path, lake: Path) -> None:
    take_in(lake, put(at(tmp_path / "x"), rows("one")))
    assert pond("ingest", "-", "--lake", lake, stdin=b"".join(map(encode_line, rows("two")))).code == 0
    (problem,) = checks(store(lake), {}).sources.same_ids
    assert problem["code"] == "lake-same-id"


def test_a_number_that_is_cut_off_is_not_taken_for_another(tmp_path: Path, lake: Path) -> None:
    file = put(at(tmp_path), [*rows("one"), 1.5, *rows("two")])
    whole = file.read_bytes()
    file.write_bytes(whole[: whole.index(b"1.5") + 1])
    assert [fault.code for fault in take_in(lake, file).report.faults] == ["source-not-json"]
    file.write_bytes(whole)
    take_in(lake, file)
    assert is_back(lake, file)
    assert sessions_of(lake, file) == [OWN]
