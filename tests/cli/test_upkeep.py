"""`pond status`, `pond optimize` and `pond erase` at the prompt."""

import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pond.cli import status
from pond.cli.show import size
from pond.lake.status import Checks
from pond.sessions import ledger
from pond.substrate.signals import Damaged
from tests.cli.command import POND, environment, pond
from tests.lake.build import SUBAGENTS, TOURS, lake
from tests.lake.taking import contents, store

PARENT = "d2edf379-79f7-4e95-be02-a59c3a0ab1a5"
CHILDREN = 6


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with ordinary sessions, and one that has children."""
    place = tmp_path_factory.mktemp("lakes") / "filled"
    lake(place, *TOURS, SUBAGENTS[0])
    return place


@pytest.fixture
def place(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(filled, tmp_path / "lake"))


@pytest.mark.parametrize("verb", [["status"], ["optimize"], ["erase", "x", "--yes"]])
def test_a_lake_that_is_not_there(verb: list[str], tmp_path: Path) -> None:
    done = pond(*verb, "--lake", tmp_path / "none")
    assert done.code != 0
    assert "lake-missing" in done.err
    assert done.out == b""
    assert not (tmp_path / "none").exists()


# --- status ----------------------------------------------------------------------------------------------------------


def test_status_for_a_person(place: Path) -> None:
    done = pond("status", "--lake", place)
    lines = done.out.decode().splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[:7] == [
        f"lake         {place}",
        "sessions     9 (claude-code 8, codex 1)",
        f"messages     {len(contents(place)['messages'])}",
        f"parts        {len(contents(place)['parts'])}",
        "last change  2027-01-15 08:00:00",
        "last sync    never on this machine",
        "schedule     none; `pond sync --install` keeps the lake fresh",
    ]
    assert [line.split()[0] for line in lines[7:12]] == ["size", "sessions", "messages", "parts", "ledger"]
    assert "4 of 4 indexes lack up to 9 rows" in lines[8]
    pond("optimize", "--lake", place)
    assert "lack" not in pond("status", "--lake", place).out.decode()


def test_status_for_a_script(place: Path) -> None:
    found = json.loads(pond("status", "--json", "--lake", place).out)
    assert found["rows"]["sessions"] == 9
    assert found["tables"]["sessions"]["indexes"][0]["unindexed"] == 9
    assert list(found) == [
        "place", "rows", "clients", "last_ingest", "last_sync", "schedules", "tables", "embeddings", "drift", "sources",
        "waiting", "orphans",
        "erasing", "retention",
    ]  # fmt: skip


def test_status_says_at_once_what_is_known_at_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written, seen = io.BytesIO(), []

    def take_longer(*_: object) -> Checks:
        seen.append(written.getvalue())
        raise Damaged("looking", "nothing more to see")

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="utf-8"))
    monkeypatch.setattr(status, "checks", take_longer)
    with pytest.raises(Damaged):
        status.run(lake=str(place))
    assert seen[0].decode().splitlines()[-3] == "last change  2027-01-15 08:00:00"


def test_status_keeps_what_it_could_say(place: Path) -> None:
    ledger.note(store(place), "any", {"x": {}})
    next((place / "ledger.lance" / "data").glob("*.lance")).write_bytes(b"?")
    done = pond("status", "--lake", place)
    assert (done.code, [fault.code for fault in done.errors]) == (1, ["lake-damaged"])
    assert done.out.decode().splitlines()[-3] == "last change  2027-01-15 08:00:00"


def test_status_warns_of_what_a_client_will_delete(place: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    file = home / "projects" / "-work" / "old.jsonl"
    file.parent.mkdir(parents=True)
    file.touch()
    os.utime(file, (0, 0))
    done = subprocess.run(
        [*POND, "status", "--lake", str(place)], env={**environment(), "CLAUDE_CONFIG_DIR": str(home)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "claude-code deletes a session file 30 days after its last change." in done.stdout
    assert f"Files to be deleted within 7 days: 1; not fully stored: 1.\n    {file}\n" in done.stdout
    assert f'put `"cleanupPeriodDays": 99999` into {home / "settings.json"}' in done.stdout


# --- optimize --------------------------------------------------------------------------------------------------------


def test_optimize_for_a_person_and_for_a_script(place: Path) -> None:
    before = contents(place)
    done = pond("optimize", "--keep", "0s", "--lake", place)
    lines = done.out.decode().splitlines()
    assert (done.code, done.err, len(lines)) == (0, "", 7)
    assert lines[1].startswith("messages ")
    assert "terms_inverted" in lines[1]
    tables = json.loads(pond("optimize", "--keep", "0s", "--json", "--lake", place).out)["tables"]
    assert [table["name"] for table in tables] == ["sessions", "messages", "parts", "ledger"]
    assert all(table["bytes"][0] == table["bytes"][1] for table in tables)
    assert contents(place) == before


def test_optimize_says_what_is_freed_and_when(tmp_path: Path) -> None:
    """Right after an ingest nothing is old enough to go: what the lake holds does not grow, and the rest has a date."""
    assert pond("ingest", *TOURS, *SUBAGENTS, "--lake", tmp_path).code == 0
    *_, rows, indexes, freed, waiting = pond("optimize", "--lake", tmp_path).out.decode().splitlines()
    assert rows.startswith("rows     ")
    assert indexes.startswith("indexes  ")
    assert freed.startswith("freed    ")
    assert re.search(r"`pond optimize` frees it after \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, or now with --keep 0s", waiting)
    tables = json.loads(pond("optimize", "--json", "--lake", tmp_path).out)["tables"]
    assert all(table["row_bytes"][1] <= table["row_bytes"][0] for table in tables)
    kept = sum(table["waiting"] for table in tables)
    *_, freed = pond("optimize", "--keep", "0s", "--lake", tmp_path).out.decode().splitlines()
    assert (kept > 0, freed) == (True, f"freed    {size(kept)} of old versions")


def test_optimize_refuses_a_time_that_is_none(place: Path) -> None:
    done = pond("optimize", "--keep", "soon", "--lake", place)
    assert done.code == 2
    assert "expected a time, found `soon`" in done.err


# --- erase -----------------------------------------------------------------------------------------------------------


def test_erase_without_a_terminal_needs_to_be_sure(place: Path) -> None:
    before = contents(place)
    done = pond("erase", PARENT, "--lake", place)
    assert done.code == 2
    assert "--yes" in done.err
    assert contents(place) == before


def test_erase_and_its_children(place: Path) -> None:
    before = contents(place)
    done = pond("erase", PARENT, "--yes", "--json", "--lake", place)
    found = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert (found["ids"][0], len(found["ids"]), found["sessions"]) == (PARENT, CHILDREN + 1, CHILDREN + 1)
    assert (found["messages"], found["left"]) == (len(before["messages"]) - len(contents(place)["messages"]), {})
    assert not [row for row in contents(place)["sessions"] if row["id"].startswith(PARENT)]
    again = pond("erase", PARENT, "--yes", "--lake", place)
    assert (again.code, again.out) == (0, b"erased 0 sessions, 0 messages, 0 parts\n")
    back = pond("erase", "--forget", PARENT, "--lake", place)
    assert (back.code, back.out) == (0, f"{CHILDREN + 1} sessions may be stored again\n".encode())
    assert pond("erase", PARENT, "--yes", "--lake", place).errors[0].code == "lake-not-found"


def test_erase_says_what_had_to_stay(place: Path) -> None:
    data = place / "parts.lance" / "data"
    shutil.copyfile(next(data.glob("*.lance")), data / "0101.lance")
    done = pond("erase", PARENT, "--yes", "--lake", place)
    assert (done.code, [fault.code for fault in done.errors]) == (1, ["lake-leftovers"])
    assert f"erasing      {PARENT} was interrupted" in pond("status", "--lake", place).out.decode()
    done = pond("erase", PARENT, "--yes", "--alone", "--lake", place)
    assert (done.code, done.err) == (0, "")
    assert "erasing" not in pond("status", "--lake", place).out.decode()


@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("", 1), ("y", 0), ("YES", 0)])
def test_erase_asks_on_a_terminal(place: Path, answer: str, code: int) -> None:
    controller, terminal = pty.openpty()
    try:
        process = subprocess.Popen(
            [*POND, "erase", PARENT, "--lake", str(place)], stdin=terminal, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment(), text=True,
        )  # fmt: skip
        os.write(controller, f"{answer}\n".encode())
        out, err = process.communicate(timeout=60)
    finally:
        os.close(controller)
        os.close(terminal)
    assert process.returncode == code
    assert PARENT in err
    assert "claude-code  /home/ada/herbarium" in err
    assert f"52 messages, {CHILDREN} children" in err
    assert err.endswith("[y/N] ")
    gone = not [row for row in contents(place)["sessions"] if row["id"] == PARENT]
    assert gone == (code == 0)
    assert out == ("Nothing was erased.\n" if code else "erased 7 sessions, 52 messages, 38 parts\n")
