"""`pond export` and `pond import` at the prompt."""

import json
from pathlib import Path

import pytest

from tests.cli.command import pond
from tests.lake.build import TOURS, lake


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lakes") / "lake"
    lake(folder, *TOURS)
    return folder


def test_there_and_back(place: Path, tmp_path: Path) -> None:
    archive, other = tmp_path / "a.pond", tmp_path / "other"
    out = pond("export", "-o", archive, "--lake", place, "--json")
    assert (out.code, out.err) == (0, "")
    told = json.loads(out.out)
    assert told["archive"] == str(archive)
    assert told["bytes"] == archive.stat().st_size
    assert told["sessions"] == 2

    dry = pond("import", archive, "--lake", other, "--dry-run")
    assert (dry.code, other.exists()) == (0, False)
    assert b"2 of 2 sessions" in dry.out
    assert b"would be new" in dry.out

    done = json.loads(pond("import", archive, "--lake", other, "--json").out)
    assert done["new"] == done["held"] == {name: told[name] for name in ("sessions", "messages", "parts")}
    again = pond("import", archive, "--lake", other)
    assert (again.code, again.err) == (0, "")
    assert again.out.startswith(b"0 of 2 sessions, 0 of ")


def test_a_sync_takes_an_archive_in(place: Path, tmp_path: Path) -> None:
    archive, other = tmp_path / "a.pond", tmp_path / "other"
    assert pond("export", "-o", archive, "--lake", place).code == 0
    done = pond("sync", "--import-from", archive, "--lake", other, "--json")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert told["import"]["new"]["sessions"] == 2
    assert {"embed", "update-indexes"} < told.keys()
    assert pond("sync", "--import-from", archive, "--lake", other).out.startswith(b"0 of 2 sessions")
    assert pond("sync", "--import-from", tmp_path / "none.pond", "--lake", other).code == 2


def test_sessions_are_named_by_their_beginning(place: Path, tmp_path: Path) -> None:
    archive = tmp_path / "a.pond"
    done = pond("export", "--client", "codex", "-o", archive, "--lake", place, "--json")
    assert json.loads(done.out)["sessions"] == 1
    assert (
        pond("export", "no-such-session", "-o", tmp_path / "b.pond", "--lake", place).errors[0].code == "lake-not-found"
    )
    assert {path.name for path in tmp_path.iterdir()} == {"a.pond"}


@pytest.mark.parametrize("since", ["soon", "2026-13-01"])
def test_a_time_that_is_none(since: str, place: Path, tmp_path: Path) -> None:
    done = pond("export", "--since", since, "-o", tmp_path / "a.pond", "--lake", place)
    assert (done.code, [fault.code for fault in done.errors]) == (2, ["usage"])


def test_what_is_refused_says_why_and_makes_no_lake(tmp_path: Path) -> None:
    bad, other = tmp_path / "bad.pond", tmp_path / "other"
    bad.write_bytes(b"not an archive")
    done = pond("import", bad, "--lake", other)
    assert (done.code, done.out) == (2, b"")
    assert [(fault.file, fault.code) for fault in done.errors] == [(str(bad), "archive-unreadable")]
    missing = pond("import", tmp_path / "missing.pond", "--lake", other)
    assert (missing.code, [fault.code for fault in missing.errors]) == (2, ["source-unreadable"])
    assert pond("export", "-o", tmp_path / "a.pond", "--lake", other).errors[0].code == "lake-missing"
    assert {path.name for path in tmp_path.iterdir()} == {"bad.pond"}


def test_an_export_ends_where_there_is_no_room(place: Path, tmp_path: Path) -> None:
    done = pond("export", "-o", "/dev/full/a.pond", "--lake", place)
    assert (done.code, [fault.code for fault in done.errors]) == (1, ["output-failed"])
