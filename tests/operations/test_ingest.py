"""Sources into the lake: every value, each row once, only what is new; and nothing stored is ever changed."""

import os
import shutil
from pathlib import Path

import pytest

from pond.model.equal import same
from pond.model.json_text import encode_line
from pond.sessions import ledger, load
from tests.cli.command import pond
from tests.house.tree import ROOT
from tests.lake.taking import contents, events, store, take_in, versions
from tests.laws.corpus import SessionFile, fixture_files
from tests.laws.passage import read
from tests.operations.invented import said, session

TOUR = next((ROOT / "adapters/claude_code/fixtures/tour").rglob("*.jsonl"))
CODEX_TOUR = next((ROOT / "adapters/codex/fixtures/tour").rglob("*.jsonl"))


@pytest.fixture(scope="module")
def all_fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake that holds every fixture session, each read once."""
    place = tmp_path_factory.mktemp("lakes") / "all"
    take_in(place, *{file.path for file in fixture_files()})
    return place


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A session file of its own, in its client's layout."""
    place = tmp_path / "projects" / "-home-ada-herbarium" / TOUR.name
    place.parent.mkdir(parents=True)
    shutil.copyfile(TOUR, place)
    return place


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


def _sole(files: list[SessionFile]) -> list[SessionFile]:
    """Leave out sessions that several fixtures hold: their rows are a union."""
    ids = [read(file.path, file.client).session["id"] for file in files]
    return [file for file, id in zip(files, ids, strict=True) if ids.count(id) == 1]


@pytest.mark.rule("model-lossless-projection")
@pytest.mark.parametrize("file", _sole(fixture_files()), ids=str)
def test_what_goes_in_comes_out_value_equal(file: SessionFile, all_fixtures: Path) -> None:
    passage = read(file.path, file.client)
    lake = store(all_fixtures)
    assert same(load.session(lake, passage.session["id"]), passage.session)
    assert same(list(load.groups(lake, passage.session["id"])), passage.groups)


@pytest.mark.rule("lance-append-only")
@pytest.mark.rule("adapter-integrity-additive-sync")
def test_a_second_run_changes_nothing_and_opens_nothing(
    lake: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in(lake, source)
    before = versions(lake)
    monkeypatch.setattr("pond.codec.finding.open_regular", _unexpected)
    summary = take_in(lake, source)
    assert summary.files["unchanged"] == 1
    assert versions(lake) == before


def _unexpected(path: Path) -> None:
    raise AssertionError(f"{path} was opened")


def test_a_lake_made_anew_starts_from_zero(lake: Path, source: Path) -> None:
    take_in(lake, source)
    before = contents(lake)
    shutil.rmtree(lake)
    assert take_in(lake, source).new_sessions == 1
    assert contents(lake) == before


@pytest.mark.parametrize("cut", [4, 7, 20, 34])
@pytest.mark.parametrize("tour", [TOUR, CODEX_TOUR], ids=["claude-code", "codex"])
def test_a_grown_file_adds_its_new_rows_only(tmp_path: Path, tour: Path, cut: int) -> None:
    source, lines = tmp_path / tour.name, tour.read_bytes().splitlines(keepends=True)
    source.write_bytes(b"".join(lines[:cut]))
    first = take_in(tmp_path / "grown", source)
    source.write_bytes(b"".join(lines))
    second = take_in(tmp_path / "grown", source)
    assert second.files["grown"] == 1
    take_in(tmp_path / "whole", source)
    assert contents(tmp_path / "grown") == contents(tmp_path / "whole")
    assert first.new_messages + second.new_messages == len(contents(tmp_path / "whole")["messages"])


def test_a_grown_file_is_read_only_from_where_it_grew(tmp_path: Path, lake: Path) -> None:
    lines = TOUR.read_bytes().splitlines(keepends=True)
    source = tmp_path / TOUR.name
    padding = b'{"type":"padding","text":"' + b"p" * 4000 + b'"}\n'
    source.write_bytes(lines[0] + padding.replace(b"padding", b"one") * 200 + b"".join(lines[1:20]))
    take_in(lake, source)
    # A line in the midst of what was read, outside the places that are looked at again, is no JSON any more.
    data = bytearray(source.read_bytes())
    hole = len(data) // 2 + 15_000
    assert data[hole : hole + 1] == b"p"
    data[hole : hole + 10] = b'"' * 10
    source.write_bytes(bytes(data) + b"".join(lines[20:]))
    summary = take_in(lake, source)
    assert summary.files["grown"] == 1
    assert summary.new_messages == len(lines) - 20
    assert summary.report.faults == []


def test_a_line_that_was_cut_off_is_taken_when_it_is_complete(tmp_path: Path, lake: Path) -> None:
    lines = TOUR.read_bytes().splitlines(keepends=True)
    source = tmp_path / TOUR.name
    source.write_bytes(b"".join(lines[:5]) + lines[5][:40])
    first = take_in(lake, source)
    assert [(d.code, d.span.line) for d in first.report.faults if d.span] == [("source-not-json", 6)]
    source.write_bytes(b"".join(lines))
    second = take_in(lake, source)
    assert second.report.errors == 0
    take_in(tmp_path / "whole", source)
    assert contents(lake) == contents(tmp_path / "whole")


@pytest.mark.rule("session-durable-copy")
@pytest.mark.parametrize("rewrite", ["truncated", "emptied", "touched", "deleted"])
def test_what_is_stored_survives_its_source(lake: Path, source: Path, rewrite: str) -> None:
    take_in(lake, source)
    before = contents(lake)
    lines = source.read_bytes().splitlines(keepends=True)
    match rewrite:
        case "truncated":
            source.write_bytes(b"".join(lines[:9]))
        case "emptied":
            source.write_bytes(b"")
        case "touched":
            os.utime(source, (1, 1))
        case "deleted":
            source.unlink()
    summary = take_in(lake, source.parent)
    assert summary.files["rewritten"] == (1 if rewrite == "emptied" else 0)
    assert contents(lake) == before


@pytest.mark.parametrize("tour", [TOUR, CODEX_TOUR], ids=["claude-code", "codex"])
def test_a_source_that_nobody_lived_to_note_goes_on_where_its_rows_are(tmp_path: Path, lake: Path, tour: Path) -> None:
    source, lines = tmp_path / tour.name, tour.read_bytes().splitlines(keepends=True)
    for cut in (15, 25, len(lines)):
        source.write_bytes(b"".join(lines[:cut]))
        take_in(lake, source)
        if cut == 15:  # as after a crash between the session and the note
            ledger.forget(store(lake), "source", ledger.notes(store(lake), "source"))
    take_in(tmp_path / "whole", source)
    assert contents(lake) == contents(tmp_path / "whole")


def test_a_file_written_anew_with_the_same_beginning_has_only_grown(lake: Path, source: Path) -> None:
    lines = source.read_bytes().splitlines(keepends=True)
    source.write_bytes(b"".join(lines[:20]))
    take_in(lake, source)
    again = source.with_suffix(".new")
    again.write_bytes(b"".join(lines))
    os.replace(again, source)
    assert take_in(lake, source).files["grown"] == 1


def test_a_project_that_canonical_events_name_anew_is_refused(tmp_path: Path, lake: Path) -> None:
    words = said("s-1", "m-1", "hello")
    canonical = tmp_path / "a.jsonl"
    for project in ("/one", "/two"):
        canonical.write_bytes(b"".join(map(encode_line, [session("s-1", project=project), *words])))
        summary = take_in(lake, canonical)
        assert [d.code for d in summary.report.faults] == ([] if project == "/one" else ["lake-immutable"])
    assert {row["project"] for name in ("sessions", "messages") for row in contents(lake)[name]} == {"/one"}


def test_canonical_events_are_a_source_like_any_other(tmp_path: Path, lake: Path) -> None:
    passages = [read(TOUR), read(CODEX_TOUR)]
    text = tmp_path / "events.jsonl"
    text.write_bytes(b"".join(encode_line(event) for passage in passages for event in passage.events))
    assert take_in(lake, text).new_sessions == 2
    for passage in passages:
        assert same(events(lake, passage.session["id"]), passage.groups)
    assert take_in(lake, text).files["unchanged"] == 1


@pytest.mark.rule("adapter-integrity-no-silent-drops")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"role": "oracle"}, "`role`"),
        ({"surplus": 1}, "`surplus`"),
        ({"timestamp": "yesterday"}, "`timestamp`"),
        ({"id": ""}, "`id`"),
    ],
)
def test_a_canonical_record_that_is_none_is_told_and_the_rest_goes_in(
    tmp_path: Path, lake: Path, change: dict[str, object], reason: str
) -> None:
    passage = read(TOUR)
    broken = [passage.groups[3][0] | change, *passage.groups[3][1:]]
    for event in broken[1:]:
        event["message_id"] = broken[0]["id"]
    text = tmp_path / "events.jsonl"
    rest = [event for number, group in enumerate(passage.groups) if number != 3 for event in group]
    text.write_bytes(b"".join(map(encode_line, [passage.session, *broken, *rest])))
    summary = take_in(lake, text)
    assert any(reason in d.message for d in summary.report.faults if d.code == "canonical-broken")
    assert len(events(lake, passage.session["id"])) == len(passage.groups) - 1


def test_a_faulty_line_is_reported_and_the_others_go_in(lake: Path, source: Path) -> None:
    lines = source.read_bytes().splitlines(keepends=True)
    source.write_bytes(b"".join(lines[:4]) + b"{not json\n" + b"".join(lines[4:]))
    summary = take_in(lake, source)
    assert [(d.code, d.span.line) for d in summary.report.faults if d.span] == [("source-not-json", 5)]
    assert summary.new_messages == len(contents(lake)["messages"]) > 30
    again = take_in(lake, source)
    assert (again.report.faults, [problem["code"] for problem in again.known]) == ([], ["source-not-json"])


def test_what_nobody_recognises_is_looked_at_once(tmp_path: Path, lake: Path, source: Path) -> None:
    (source.parent / "notes.jsonl").write_text('{"shopping": ["milk"]}\n')
    first = take_in(lake, source.parent)
    assert [d.code for d in first.report.faults] == ["source-unrecognised"]
    assert first.new_sessions == 1
    again = take_in(lake, source.parent)
    assert again.files["unchanged"] == 2
    assert [problem["code"] for problem in again.known] == ["source-unrecognised"]


def test_a_dry_run_says_what_is_new_and_stores_nothing(lake: Path, source: Path) -> None:
    summary = take_in(lake, source, dry_run=True)
    assert not lake.exists()
    real = take_in(lake, source)
    assert (summary.new_sessions, summary.new_messages, summary.new_parts) == (
        real.new_sessions, real.new_messages, real.new_parts,
    )  # fmt: skip
    before = versions(lake)
    again = take_in(lake, source, dry_run=True)
    assert (again.new_sessions, again.new_messages) == (0, 0)
    assert versions(lake) == before


def test_an_erased_session_does_not_come_back(lake: Path, source: Path) -> None:
    id = read(source).session["id"]
    take_in(lake, CODEX_TOUR)
    ledger.note(store(lake), ledger.ERASED, {id: {}})
    summary = take_in(lake, source)
    assert (summary.erased, summary.new_messages) == (1, 0)
    assert load.session(store(lake), id) is None


def test_reading_processes_store_the_same_rows(tmp_path: Path) -> None:
    folders = [str(ROOT / "adapters" / client / "fixtures") for client in ("claude_code", "codex")]
    assert pond("ingest", *folders, "--lake", str(tmp_path / "two"), "--jobs", "2").code == 0
    assert pond("ingest", *folders, "--lake", str(tmp_path / "one"), "--jobs", "1").code == 0
    assert contents(tmp_path / "two") == contents(tmp_path / "one")
