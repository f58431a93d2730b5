"""A session that is written for another client has an id of its own: the same for the same records, and no other's."""

import shutil
from pathlib import Path

import pytest

from pond.codec.batch import convert_job
from pond.codec.finding import FoundSource
from pond.codec.registry import adapter
from pond.codec.request import ConversionRequest
from tests.foreign.road import CLIENTS, OTHER, convert
from tests.laws.corpus import SessionFile, fixture_files
from tests.laws.passage import read

TOURS = [file for file in fixture_files() if file.case == "tour"]


@pytest.mark.parametrize("file", TOURS, ids=str)
def test_the_same_input_gives_the_same_file_and_a_grown_one_another(file: SessionFile, tmp_path: Path) -> None:
    source = tmp_path / file.path.name
    shutil.copyfile(file.path, source)
    target = OTHER[file.client]
    (first,) = convert(source, target, tmp_path / "out", file.client).files
    before = first.read_bytes()
    assert convert(source, target, tmp_path / "out", file.client).files == [first]
    assert first.read_bytes() == before
    id, row = read(file.path, file.client).session["id"], read(first, target).session
    assert id not in first.name
    assert (row["parent_session_id"], row["lineage_kind"]) == (id, "continuation")
    assert row["parent_message_id"] == read(file.path, file.client).groups[-1][0]["id"]
    *_, last = source.read_bytes().splitlines(keepends=True)
    source.write_bytes(source.read_bytes() + last.replace(b"2026", b"2027"))
    grown = convert(source, target, tmp_path / "out", file.client).files
    assert len(grown) == 2
    assert first.read_bytes() == before


@pytest.mark.parametrize("file", TOURS, ids=str)
def test_other_bytes_under_the_same_id_are_refused_and_the_file_named(file: SessionFile, tmp_path: Path) -> None:
    (first,) = convert(file.path, OTHER[file.client], tmp_path / "out", file.client).files
    before = first.read_bytes()
    order = ConversionRequest(OTHER[file.client], file.client, keep_origin=True)
    report = convert_job(FoundSource(file.path, str(file.path)), order, tmp_path / "out", tmp_path / "spool")
    (fault,) = [fault for fault in report.diagnostics if fault.code == "output-exists"]
    assert fault.span is not None
    assert fault.span.file == str(first)
    assert first.read_bytes() == before


@pytest.mark.parametrize("client", CLIENTS)
def test_subagents_get_new_ids_and_stay_linked(client: str, tmp_path: Path) -> None:
    folder = adapter(client).folder / "fixtures" / "subagents"
    there = [file for file in fixture_files() if file.client == client and file.path.is_relative_to(folder)]
    for file in there:
        convert(file.path, OTHER[client], tmp_path / "out", client)
    rows = {
        row["id"]: row for path in (tmp_path / "out").rglob("*.jsonl") for row in [read(path, OTHER[client]).session]
    }
    old = {read(file.path, client).session["id"] for file in there}
    assert not old & rows.keys()
    spawned = [row for row in rows.values() if row.get("lineage_kind") == "spawn"]
    assert spawned
    known = [row for row in spawned if row["parent_session_id"] in rows]
    assert len(known) == len(spawned)
