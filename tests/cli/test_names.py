"""The name that a person gave a Codex session is in a list of the client's, and follows the session everywhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from pond.model.json_text import JsonObject
from tests.cli.command import Done, pond
from tests.cli.sessions import CODEX, session_id
from tests.lake.taking import contents
from tests.operations.stored import files_below

LIST = "session_index.jsonl"


def entry(seed: str, name: str, minute: int = 0) -> JsonObject:
    return {"id": session_id(seed), "thread_name": name, "updated_at": f"2026-05-01T10:{minute:02}:00.123456789Z"}


def listing(*entries: JsonObject) -> str:
    return "".join(json.dumps(each) + "\n" for each in entries)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A client's home with two sessions, one of which was named twice."""
    for seed in ("named", "nameless"):
        CODEX.session(tmp_path / "home", seed)
    names = entry("named", "Rings"), entry("other", "Not here", 1), entry("named", "Rings of Saturn", 2)
    (tmp_path / "home" / LIST).write_text(listing(*names) + "no json\n[]\n")
    return tmp_path / "home"


def run(tmp_path: Path, *words: str | Path) -> Done:
    done = pond(*words, "--lake", tmp_path / "lake")
    assert done.code == 0, done.err
    return done


def titles(tmp_path: Path) -> dict[str, Any]:
    found = json.loads(run(tmp_path, "list", "--json").out)["sessions"]
    return {each["id"]: each["title"] for each in found}


def test_a_name_is_the_title(home: Path, tmp_path: Path) -> None:
    run(tmp_path, "ingest", home)
    assert titles(tmp_path)[session_id("named")] == "Rings of Saturn"
    assert "where is Saturn" in titles(tmp_path)[session_id("nameless")]


@pytest.mark.rule("adapter-integrity-additive-sync")
def test_a_name_that_is_given_later_comes_in_and_nothing_else_is_read(home: Path, tmp_path: Path) -> None:
    run(tmp_path, "ingest", home)
    before = contents(tmp_path / "lake")["messages"]
    with open(home / LIST, "a") as file:
        file.write(listing(entry("named", "Moons", 3), entry("other", "Elsewhere", 4)))
    told = json.loads(run(tmp_path, "ingest", home, "--json").out)
    assert told["files"] == {"new": 0, "unchanged": 1, "grown": 1, "rewritten": 0}
    assert told["new"] == {"sessions": 0, "messages": 1, "parts": 0}
    assert titles(tmp_path)[session_id("named")] == "Moons"
    assert [row for row in before if row not in contents(tmp_path / "lake")["messages"]] == []
    assert json.loads(run(tmp_path, "ingest", home, "--json").out)["files"]["unchanged"] == 2


def test_rows_do_not_depend_on_what_else_is_read(home: Path, tmp_path: Path) -> None:
    run(tmp_path, "ingest", home)
    (alone,) = home.rglob(f"*{session_id('named')}.jsonl")
    assert pond("ingest", alone, "--lake", tmp_path / "other").code == 0
    together = [r for r in contents(tmp_path / "lake")["messages"] if r["session_id"] == session_id("named")]
    assert contents(tmp_path / "other")["messages"] == together


def test_a_restore_names_the_session_again(home: Path, tmp_path: Path) -> None:
    run(tmp_path, "ingest", home)
    names = _compact(entry("named", "Rings"), entry("named", "Rings of Saturn", 2))
    for _ in range(2):
        run(tmp_path, "restore", "--all", "-o", tmp_path / "out")
        assert (tmp_path / "out" / LIST).read_text() == names


def _compact(*entries: JsonObject) -> str:
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in entries)


def test_a_list_that_is_there_knows_better(home: Path, tmp_path: Path) -> None:
    run(tmp_path, "ingest", home)
    (tmp_path / "out").mkdir()
    newer = listing(entry("named", "Newer", 9))
    (tmp_path / "out" / LIST).write_text(newer)
    run(tmp_path, "restore", "--all", "-o", tmp_path / "out")
    assert (tmp_path / "out" / LIST).read_text() == newer
    (tmp_path / "out" / LIST).write_text(listing(entry("other", "x")).rstrip("\n"))
    run(tmp_path, "restore", "--all", "-o", tmp_path / "out")
    assert [json.loads(line)["thread_name"] for line in (tmp_path / "out" / LIST).read_text().splitlines()] == [
        "x", "Rings", "Rings of Saturn",
    ]  # fmt: skip


def test_a_list_that_is_a_link_is_not_followed(home: Path, tmp_path: Path) -> None:
    run(tmp_path, "ingest", home)
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").write_text("mine\n")
    (tmp_path / "out" / LIST).symlink_to(tmp_path / "elsewhere")
    done = pond("restore", "--all", "-o", tmp_path / "out", "--lake", tmp_path / "lake")
    assert (done.code, [fault.code for fault in done.errors]) == (1, ["output-failed"])
    assert (tmp_path / "elsewhere").read_text() == "mine\n"


def _comes_from(rows: list[dict[str, Any]], session: str) -> bool:
    return any(row["type"] == "pond_origin" and row["payload"]["from"]["session"] == session for row in rows)


def test_another_client_gets_the_name_as_its_title(home: Path, tmp_path: Path) -> None:
    assert pond("convert", home, "--to", "claude-code", "-o", f"{tmp_path}/out/").code == 0
    written = [list(map(json.loads, file.read_text().splitlines())) for file in (tmp_path / "out").rglob("*.jsonl")]
    (made,) = [rows for rows in written if _comes_from(rows, session_id("named"))]
    named = [row for row in made if row["type"] == "custom-title"]
    assert named[-1]["customTitle"] == "Rings of Saturn"


def test_a_name_goes_through_canonical(home: Path, tmp_path: Path) -> None:
    assert pond("convert", home, "--to", "canonical", "-o", f"{tmp_path}/there/").code == 0
    assert pond("convert", tmp_path / "there", "--to", "codex", "-o", f"{tmp_path}/back/").code == 0
    assert pond("convert", home, "--to", "codex", "-o", f"{tmp_path}/at-once/").code == 0
    back, at_once = files_below(tmp_path / "back"), files_below(tmp_path / "at-once")
    assert (back.keys(), back[LIST]) == (at_once.keys(), at_once[LIST])
    assert pond("verify", home).out.decode().splitlines()[-1].endswith("came back value-equal.")


def test_a_name_that_has_no_place_is_told(home: Path, tmp_path: Path) -> None:
    """The list belongs into the client's home, and never outside the output."""
    done = pond("convert", home / "sessions", "--to", "codex", "-o", tmp_path / "out" / "here")
    assert (done.code, [fault.code for fault in done.faults]) == (0, ["output-unlisted"])
    assert not list(tmp_path.glob(f"out/**/{LIST}"))
    (named,) = home.rglob(f"*{session_id('named')}.jsonl")
    done = pond("convert", named, "--to", "codex", "-o", tmp_path / "out" / "one.jsonl")
    assert [fault.code for fault in done.faults] == ["output-unlisted"]
