"""`pond ingest` and `pond sync` as a person runs them: exit codes, summaries, stores found, live sessions followed."""

import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from pond.sessions import load
from tests.cli.command import finish, pond, start
from tests.house.tree import ROOT
from tests.lake.taking import contents, store
from tests.laws.passage import read

CLAUDE = ROOT / "adapters/claude_code/fixtures/tour"
CODEX = ROOT / "adapters/codex/fixtures/tour"
TOUR = next(CLAUDE.rglob("*.jsonl"))


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """A person's home with the stores of two clients; returns the variables that lead there."""
    shutil.copytree(CLAUDE / "projects", tmp_path / "home/.claude/projects")
    shutil.copytree(CODEX / "sessions", tmp_path / "home/.codex/sessions")
    gone = {"XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "CLAUDE_CONFIG_DIR": "", "CODEX_HOME": ""}
    return {"HOME": str(tmp_path / "home"), **gone}


def test_the_summary_says_what_came_in(tmp_path: Path) -> None:
    done = pond("ingest", CLAUDE, "--lake", tmp_path / "lake")
    assert done.code == 0
    assert done.out.decode().splitlines()[:2] == ["files     1 new", "sessions  1 new"]


def test_the_summary_is_json_for_scripts(tmp_path: Path) -> None:
    done = pond("ingest", CLAUDE, CODEX, "--lake", tmp_path / "lake", "--json")
    summary = json.loads(done.out)
    assert summary["files"] == {"new": 2, "unchanged": 0, "grown": 0, "rewritten": 0}
    assert summary["new"]["sessions"] == 2
    assert summary["new"]["messages"] == len(contents(tmp_path / "lake")["messages"])


def test_standard_input_is_a_source(tmp_path: Path) -> None:
    done = pond("ingest", "-", "--lake", tmp_path / "lake", stdin=TOUR.read_bytes())
    assert done.code == 0
    assert load.session(store(tmp_path / "lake"), read(TOUR).session["id"]) is not None


def test_a_session_that_names_no_project_gets_the_one_that_is_said(tmp_path: Path) -> None:
    line = json.dumps({"type": "summary", "summary": "Pressed flowers", "sessionId": "s1", "leafUuid": "x"}).encode()
    refused = pond("ingest", "-", "--lake", tmp_path / "lake", "--client", "claude-code", stdin=line + b"\n")
    assert (refused.code, [fault.code for fault in refused.faults]) == (2, ["source-no-project"])
    done = pond(
        "ingest", "-", "--lake", tmp_path / "lake", "--client", "claude-code", "--project", "/herbarium",
        stdin=line + b"\n",
    )  # fmt: skip
    assert done.code == 0
    assert [row["project"] for row in contents(tmp_path / "lake")["sessions"]] == ["/herbarium"]


def test_whoever_says_whose_a_file_is_is_believed_over_what_was_noted(tmp_path: Path) -> None:
    source = tmp_path / "flowers.jsonl"
    source.write_text(json.dumps({"flowers": ["poppy"], "cwd": "/herbarium"}) + "\n")
    assert [fault.code for fault in pond("ingest", source, "--lake", tmp_path / "lake").faults] == [
        "source-unrecognised"
    ]
    assert pond("ingest", source, "--lake", tmp_path / "lake", "--client", "claude-code").code == 0
    assert [row["source_agent"] for row in contents(tmp_path / "lake")["sessions"]] == ["claude-code"]


def test_a_missing_input_is_named_and_the_others_go_in(tmp_path: Path) -> None:
    done = pond("ingest", tmp_path / "nothing", CLAUDE, "--lake", tmp_path / "lake")
    assert (done.code, [fault.code for fault in done.faults]) == (2, ["source-unreadable"])
    assert len(contents(tmp_path / "lake")["sessions"]) == 1


def test_an_unknown_client_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    done = pond("ingest", CLAUDE, "--client", "emacs", "--lake", tmp_path / "lake")
    assert done.code == 2
    assert not (tmp_path / "lake").exists()


def test_a_faulty_line_makes_the_exit_code_one(tmp_path: Path) -> None:
    source = tmp_path / TOUR.name
    source.write_bytes(TOUR.read_bytes() + b"{\n")
    done = pond("ingest", source, "--lake", tmp_path / "lake")
    assert (done.code, [(fault.line, fault.code) for fault in done.faults]) == (1, [(36, "source-not-json")])


def test_sync_finds_the_stores_of_this_machine(home: dict[str, str]) -> None:
    done = pond("sync", "--json", variables=home)
    assert done.code == 0
    assert json.loads(done.out)["import"]["new"]["sessions"] == 2
    assert len(contents(Path(home["HOME"]) / ".local/share/pond/lake")["sessions"]) == 2


def test_sync_looks_where_the_clients_were_moved_to(home: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "home/.claude").rename(tmp_path / "elsewhere")
    moved = home | {"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")}
    assert json.loads(pond("sync", "--json", variables=moved).out)["import"]["new"]["sessions"] == 2


def test_sync_takes_the_clients_and_paths_that_are_configured(home: dict[str, str], tmp_path: Path) -> None:
    chosen = home | {"POND_SYNC_CLIENTS": "codex", "POND_SYNC_PATHS": str(CLAUDE)}
    told = json.loads(pond("sync", "--json", variables=chosen).out)
    assert told["import"]["new"]["sessions"] == 2
    refused = pond("sync", variables=home | {"POND_SYNC_CLIENTS": "emacs"})
    assert (refused.code, "emacs" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("flags", "ran"),
    [
        (["--only", "import"], ["import"]),
        (["--only", "update-indexes"], ["update-indexes"]),
        (["--skip", "embed", "--skip", "update-indexes"], ["import"]),
    ],
)
def test_stages_can_be_chosen(home: dict[str, str], flags: list[str], ran: list[str]) -> None:
    assert list(json.loads(pond("sync", "--json", *flags, variables=home).out)) == ran


def test_an_unknown_stage_is_refused(home: dict[str, str]) -> None:
    done = pond("sync", "--only", "dream", variables=home)
    assert (done.code, "update-indexes" in done.err) == (2, True)


def test_sync_corrects_the_project_of_a_session_that_had_only_just_begun(home: dict[str, str], tmp_path: Path) -> None:
    lines = TOUR.read_bytes().splitlines(keepends=True)
    young = tmp_path / "home/.claude/projects/-home-ada-herbarium" / TOUR.name
    lake = Path(home["HOME"]) / ".local/share/pond/lake"
    for text, project in ((lines[0], "-home-ada-herbarium"), (b"".join(lines), "/home/ada/herbarium")):
        young.write_bytes(text)
        assert pond("sync", variables=home).code == 0
        (row,) = (row for row in contents(lake)["sessions"] if row["id"] == young.stem)
        assert row["project"] == project


def _synced(home: dict[str, str]) -> tuple[int, Any]:
    done = pond("sync", "--json", variables=home)
    return done.code, json.loads(done.out)["import"]


@pytest.mark.parametrize("whole", [0, 1, 10])
def test_a_last_line_that_is_still_being_written_is_no_fault(whole: int, home: dict[str, str], tmp_path: Path) -> None:
    lines = TOUR.read_bytes().splitlines(keepends=True)
    live = tmp_path / "home/.claude/projects/-home-ada-herbarium" / TOUR.name
    live.write_bytes(b"".join(lines[3 : 3 + whole]) + lines[3 + whole][:40])
    for _ in range(2):
        code, told = _synced(home)
        assert (code, told["unfinished"], told["faults"]) == (0, 1, [])
    assert "1 files end in a half-written line" in pond("sync", variables=home).out.decode()
    live.write_bytes(b"".join(lines[3:]))
    code, told = _synced(home)
    assert (code, told["unfinished"], told["faults"]) == (0, 0, [])
    assert len(_messages(Path(home["HOME"]) / ".local/share/pond/lake")) == len(lines) - 3


@pytest.mark.parametrize("whole", [0, 10])
def test_a_last_line_that_nobody_completes_becomes_a_fault(whole: int, home: dict[str, str], tmp_path: Path) -> None:
    lines = TOUR.read_bytes().splitlines(keepends=True)
    live = tmp_path / "home/.claude/projects/-home-ada-herbarium" / TOUR.name
    live.write_bytes(b"".join(lines[3 : 3 + whole]) + lines[3 + whole][:40])
    assert _synced(home)[0] == 0
    os.utime(live, (0, 0))
    code, told = _synced(home)
    assert (code, told["unfinished"], told["files"]["rewritten"]) == (1, 0, 0)
    assert [fault["code"] for fault in told["faults"]] == ["source-not-json" if whole else "source-unrecognised"]
    assert len(_synced(home)[1]["refused"]) == 1


def test_an_ingest_names_a_last_line_that_is_cut_off(tmp_path: Path) -> None:
    """Nobody said that the file is being written."""
    (tmp_path / TOUR.name).write_bytes(TOUR.read_bytes()[:-10])
    done = pond("ingest", tmp_path / TOUR.name, "--lake", tmp_path / "lake")
    assert (done.code, [fault.code for fault in done.errors]) == (1, ["source-not-json"])


@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_watch_follows_a_live_session_until_it_is_interrupted(
    stop: signal.Signals, code: int, home: dict[str, str], tmp_path: Path
) -> None:
    lines = TOUR.read_bytes().splitlines(keepends=True)
    live = tmp_path / "home/.claude/projects/-home-ada-herbarium" / TOUR.name
    live.write_bytes(b"".join(lines[:10]))
    lake = Path(home["HOME"]) / ".local/share/pond/lake"
    process = start("sync", "--watch", "--json", variables=home | {"POND_SYNC_INTERVAL": "0.1"})
    try:
        _until(lambda: lake.exists() and len(_messages(lake)) >= 10)
        with open(live, "ab") as file:
            file.write(b"".join(lines[10:]))
        _until(lambda: len(_messages(lake)) >= len(lines))
    finally:
        process.send_signal(stop)
    assert finish(process).code == code


def _messages(lake: Path) -> list[object]:
    id = read(TOUR).session["id"]
    return [row for row in contents(lake)["messages"] if row["session_id"] == id]


def _until(holds: object, patience: float = 60.0) -> None:
    assert callable(holds)
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            if holds():
                return
        except Exception:  # the lake is being made
            pass
        time.sleep(0.2)
    raise AssertionError("it did not happen")
