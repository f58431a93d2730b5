"""The source interface: a client that keeps its sessions in a database can do everything that one with files can."""

import ast
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import pond.adapters
from pond.cli.main import main
from pond.codec import client_store, registry
from pond.codec.finding import find_files
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.model.equal import same
from pond.model.json_text import Json, JsonObject
from pond.restore.restoring import OWN
from pond.sessions import load
from tests.codec.tern import store as tern
from tests.lake.taking import contents, store, take_in
from tests.laws.passage import strict_values
from tests.operations.stored import restored

HERE = Path(__file__).parent
_SUFFIX = re.compile(r"\.jsonl?\b")
pytestmark = pytest.mark.rule("adapter-transport-agnostic-seam")


@pytest.fixture(autouse=True)
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let there be a client more: a folder beside the others, and nothing else."""
    folders = tmp_path / "adapters"
    folders.mkdir()
    for folder in [*(registry.adapter(name).folder for name in registry.clients()), HERE / "tern"]:
        (folders / folder.name).symlink_to(folder)
    caches = (registry.clients, registry.adapter, registry.part_of, client_store._parts)
    monkeypatch.setattr(registry, "adapters_dir", lambda: folders)
    monkeypatch.setattr(pond.adapters, "__path__", [str(folders)])
    for each in caches:
        each.cache_clear()
    yield
    for each in caches:
        each.cache_clear()


def _records(room: str, *texts: str) -> list[bytes]:
    opening: list[JsonObject] = [{"op": "open", "wing": 1773476815939, "room": room, "dir": f"/home/ada/{room}"}]
    said: list[JsonObject] = [
        {"op": "say", "wing": 1773476816000 + n, "id": f"{room}-{text}", "body": text, "mood": {"n": 10**20}}
        for n, text in enumerate(texts)
    ]
    return [json.dumps(record).encode() for record in [*opening, *said]]


@pytest.fixture
def rooms(tmp_path: Path) -> Path:
    """A database with two rooms, their records among each other."""
    path = tmp_path / "in" / "rooms.tern"
    path.parent.mkdir()
    fern, moss = _records("fern", "dry", "wet"), _records("moss", "green")
    tern.add(path, "fern", fern[:2])
    tern.add(path, "moss", moss)
    tern.add(path, "fern", fern[2:])
    return path


def _values(path: Path) -> list[Json]:
    """Return what a database holds, as SQLite and an independent reader see it."""
    with closing(sqlite3.connect(path)) as rows:
        return [strict_values(text.encode())[0] for (text,) in rows.execute("SELECT record FROM said ORDER BY place")]


def _expected(room: str, *texts: str) -> list[Json]:
    return strict_values(b"\n".join(_records(room, *texts)))


def test_a_database_is_converted_to_canonical_text_and_back(rooms: Path, tmp_path: Path) -> None:
    assert main(["convert", str(rooms.parent), "--to", "canonical", "-o", f"{tmp_path}/text/"]) == 0
    assert sorted(path.name for path in (tmp_path / "text").iterdir()) == [
        "rooms-fern.canonical.jsonl",
        "rooms-moss.canonical.jsonl",
    ]
    assert main(["convert", f"{tmp_path}/text", "--to", "tern", "-o", f"{tmp_path}/back/"]) == 0
    assert same(_values(tmp_path / "back" / "rooms-fern.tern"), _expected("fern", "dry", "wet"))
    assert same(_values(tmp_path / "back" / "rooms-moss.tern"), _expected("moss", "green"))


def test_a_database_is_converted_natively_and_for_another_client(rooms: Path, tmp_path: Path) -> None:
    assert main(["convert", str(rooms), "--to", "tern", "-o", f"{tmp_path}/own/"]) == 0
    assert same(_values(tmp_path / "own" / "rooms-fern.tern"), _expected("fern", "dry", "wet"))
    assert main(["convert", str(rooms), "--to", "codex", "-o", f"{tmp_path}/codex/"]) == 0
    texts = [path.read_text() for path in (tmp_path / "codex").rglob("*.jsonl")]
    assert sorted("green" in text for text in texts) == [False, True]


def test_verify_compares_every_record(rooms: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(rooms)]) == 0
    assert "5 of 5 records came back value-equal" in capsys.readouterr().out


def test_a_bad_record_is_named_with_its_place(rooms: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tern.add(rooms, "moss", [b"{no json"])
    assert main(["convert", str(rooms), "--to", "canonical"]) == 1
    assert f"{rooms}#moss:3: source-not-json" in capsys.readouterr().err


def test_a_file_that_is_no_database_is_reported(rooms: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rooms.parent / "broken.tern").write_bytes(b"not a database at all" * 100)
    assert main(["convert", str(rooms.parent), "--to", "canonical"]) == 1
    assert f"{rooms.parent}/broken.tern: source-unreadable" in capsys.readouterr().err


def test_a_room_that_grew_is_read_from_where_it_grew(
    rooms: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, asked = tmp_path / "lake", list[tuple[str, int]]()
    first = take_in(lake, rooms.parent)
    assert (first.files["new"], first.new_sessions, first.new_messages) == (2, 2, 5)
    part: Any = client_store.store_part(registry.adapter("tern"))
    whole = part.Rooms.records

    def records(self: Any, session: str, after: int) -> Iterator[tuple[int, bytes]]:
        asked.append((session, after))
        found: Iterator[tuple[int, bytes]] = whole(self, session, after)
        return found

    monkeypatch.setattr(part.Rooms, "records", records)
    again = take_in(lake, rooms.parent)
    assert (again.files["unchanged"], again.new_messages, asked) == (2, 0, [])
    tern.add(rooms, "fern", _records("fern", "late")[1:])
    grown = take_in(lake, rooms.parent)
    assert (grown.files["grown"], grown.files["unchanged"], grown.new_messages) == (1, 1, 1)
    assert {session for session, _ in asked} == {"fern"}
    assert asked.count(("fern", 5)) == 1  # its last record was the fifth of the database
    assert take_in(lake, rooms.parent).files["unchanged"] == 2
    # The same rows as if all of it had been there at once.
    take_in(tmp_path / "other", rooms.parent)
    assert contents(lake) == contents(tmp_path / "other")


def test_what_was_stored_is_restored_as_databases(rooms: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    take_in(lake, rooms.parent)
    tern.add(rooms, "fern", _records("fern", "late")[1:])
    take_in(lake, rooms.parent)
    there = store(lake)
    out = restored(there, load.sessions(there, None), ConversionRequest(OWN), tmp_path / "out")
    assert out.report.diagnostics == []
    assert same(_values(tmp_path / "out" / "rooms-fern.tern"), [*_expected("fern", "dry", "wet"), *_late()])
    assert same(_values(tmp_path / "out" / "rooms-moss.tern"), _expected("moss", "green"))


def _late() -> list[Json]:
    return _expected("fern", "late")[1:]


def test_a_room_that_was_rewritten_is_another_session(rooms: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    take_in(lake, rooms.parent)
    rooms.unlink()
    tern.add(rooms, "fern", _records("fern", "all", "is", "new", "here"))
    second = take_in(lake, rooms.parent)
    assert (second.files["rewritten"], second.new_sessions) == (1, 1)


def test_a_folder_beside_a_database_belongs_to_it(rooms: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.adapter("tern").module, "BESIDE", ("{stem}/leaves/*",))
    leaf = rooms.parent / "rooms" / "leaves" / "one.txt"
    leaf.parent.mkdir(parents=True)
    leaf.write_text("dry")
    report = Report()
    assert list(find_files(rooms.parent, report)) == [rooms]
    assert report.diagnostics == []
    rooms.unlink()
    assert list(find_files(rooms.parent, report)) == []
    assert [(fault.code, "`rooms.tern`" in fault.message) for fault in report.diagnostics] == [("source-orphan", True)]


def test_suffixes_are_known_below_the_seam_only() -> None:
    package = HERE.parents[1] / "pond"
    folders = ("codec", "intake", "lake", "restore", "operations", "api")
    above = [file for folder in folders for file in (package / folder).glob("*.py")]
    named = {file.name for file in above if any(_SUFFIX.search(text) for text in _texts(file))}
    assert named == {"lines.py", "document.py"}


def _texts(file: Path) -> Iterator[str]:
    """Yield the texts in a module that are no docstrings."""
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value
