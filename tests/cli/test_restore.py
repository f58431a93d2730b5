"""What `pond restore` promises on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from pond.model.equal import same
from tests.cli.command import Done, pond
from tests.foreign import hostile
from tests.foreign.road import write_events
from tests.lake.build import SUBAGENTS, TOURS, lake
from tests.laws.corpus import fixture_folders
from tests.laws.passage import strict_values
from tests.operations.stored import files_below

FORK = next(folder for folder in fixture_folders("codex") if folder.name == "fork")
STORES = {"claude-code": [SUBAGENTS[0], TOURS[0]], "codex": [SUBAGENTS[1], TOURS[1], FORK]}
OTHER = {"claude-code": "codex", "codex": "claude-code"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a lake of both clients' sessions."""
    place = tmp_path_factory.mktemp("restore") / "lake"
    lake(place, *(folder for folders in STORES.values() for folder in folders))
    return place


def restore(place: Path, *arguments: str | Path) -> Done:
    return pond("restore", *arguments, "--lake", place)


def _entries(path: Path) -> list[Any]:
    """Return the losses of a report in an order of their own; only a file has lines that they can name."""
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return sorted(json.dumps({**entry, "where": ""}, sort_keys=True) for entry in entries)


@pytest.mark.parametrize("client", STORES)
def test_all_sessions_of_a_client_become_what_converting_its_store_gives(
    client: str, place: Path, tmp_path: Path
) -> None:
    """Families, forks, losses and all: byte for byte."""
    options = ["--to", OTHER[client], "--map-path", "/home/ada=/srv/ada"]
    stored = restore(
        place, "--all", "--client", client, *options, "-o", tmp_path / "out", "--loss-report", tmp_path / "out.jsonl"
    )
    converted = pond(
        "convert", *STORES[client], *options, "-o", f"{tmp_path}/in/", "--loss-report", tmp_path / "in.jsonl"
    )
    assert (stored.code, converted.code) == (0, 0), stored.err + converted.err
    assert files_below(tmp_path / "out") == files_below(tmp_path / "in") != {}
    assert _entries(tmp_path / "out.jsonl") == _entries(tmp_path / "in.jsonl") != []
    made = [sorted((tmp_path / way).rglob("*-*.jsonl")) for way in ("in", "out")]  # not the client's list of them
    mtimes = [{path.name: path.stat().st_mtime for path in paths} for paths in made]
    assert mtimes[0] == mtimes[1]


def test_a_session_comes_back_and_its_files_are_named(place: Path, tmp_path: Path) -> None:
    (source,) = TOURS[0].rglob("*.jsonl")
    done = restore(place, source.stem[:8], "-o", tmp_path / "out")
    assert (done.code, done.err.splitlines()[0]) == (0, "pond: to continue:")
    made = tmp_path / "out" / source.relative_to(TOURS[0])
    assert done.out.decode() == f"{made}\n"
    assert same(strict_values(made.read_bytes()), strict_values(source.read_bytes()))


def test_the_summary_is_one_document(place: Path, tmp_path: Path) -> None:
    (source,) = TOURS[0].rglob("*.jsonl")
    done = restore(place, source.stem, "--to", "codex", "-o", tmp_path / "out", "--json")
    summary = json.loads(done.out)
    assert (summary["files"], summary["sessions"], summary["faults"]) == (1, 1, [])
    assert summary["losses"]["reasoning-not-sent"] == 2
    (written,) = summary["written"]
    assert (written["session"], written["client"]) == (source.stem, "codex")
    assert Path(written["path"]).is_file()
    assert summary["resume"][0]["command"] == f"codex resume {Path(written['path']).stem[-36:]}"


def test_canonical_events_go_to_standard_output(place: Path) -> None:
    (source,) = TOURS[1].rglob("*.jsonl")
    session_id = source.stem[-36:]
    done = restore(place, session_id, "--to", "canonical")
    converted = pond("convert", source, "--to", "canonical")
    assert (done.code, done.err) == (0, "")
    assert same(strict_values(done.out), strict_values(converted.out))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nobody", "-o", "out"], "lake-not-found: no session `nobody`"),
        (["--all", "--client", "nobody", "-o", "out"], "usage: unknown client `nobody`"),
        (["019c", "-o", "out"], "lake-ambiguous: `019c` matches "),
        (["e1a7"], "usage: restoring a session needs a directory to write to"),
        (["e1a7", "--to", "nobody", "-o", "out"], "usage: unknown client `nobody`"),
        (["e1a7", "--to", "", "-o", "out"], "usage: unknown client ``"),
        (["e1a7", "--on-loss", "shrug", "-o", "out"], "usage: unknown on-loss `shrug`"),
        (["e1a7", "--map-path", "a", "-o", "out"], "usage: `--map-path a` is not of the form OLD=NEW"),
        (["e1a7", "--all", "-o", "out"], "usage: expected sessions, or --all"),
        (["-o", "out"], "usage: expected sessions, or --all"),
        (["e1a7", "--project", "/p", "-o", "out"], "usage: --project and --client only work with --all"),
        (["e1a7", "-o", "file"], "usage: `file` is not a directory"),
    ],
    ids=range(12),
)
def test_what_cannot_be_done_is_said_and_nothing_written(
    arguments: list[str], says: str, place: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    done = pond("restore", *arguments, "--lake", place, cwd=tmp_path)
    assert (done.code, done.out) == (2, b"")
    assert f"pond: {says}" in done.err
    assert files_below(tmp_path) == {"file": b"mine"}


def test_another_file_in_the_way_stays(place: Path, tmp_path: Path) -> None:
    (source,) = TOURS[0].rglob("*.jsonl")
    mine = tmp_path / "out" / source.relative_to(TOURS[0])
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"mine\n")
    done = restore(place, source.stem, "-o", tmp_path / "out")
    assert (done.code, done.out) == (1, b"")
    assert [fault.code for fault in done.errors] == ["output-exists"]
    assert mine.read_bytes() == b"mine\n"


@pytest.mark.parametrize("agent", STORES)
def test_a_stored_label_that_is_no_text_breaks_nothing(agent: str, tmp_path: Path) -> None:
    events = [hostile.session(agent=agent), *hostile.asked(), *hostile.answered()]
    events[1]["options"] = {"pond": {"as": ["odd"]}}
    source = write_events(events, tmp_path)
    assert pond("ingest", source, "--lake", tmp_path / "lake").code == 0
    done = restore(tmp_path / "lake", hostile.ID, "--to", OTHER[agent], "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert "not usable (1)" in done.err
