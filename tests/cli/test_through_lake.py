"""`pond verify --through-lake`: a person's own files, taken through a scratch lake while they grow."""

import json
import os
import shutil
from pathlib import Path

import pytest

from pond.sessions.rows import Rows
from tests.cli.command import pond
from tests.house.tree import ROOT

TOURS = [ROOT / "adapters" / client / "fixtures" / "tour" for client in ("claude_code", "codex")]


def test_every_record_comes_back_and_nothing_is_written(tmp_path: Path) -> None:
    for tour in TOURS:
        shutil.copytree(tour, tmp_path / "store", dirs_exist_ok=True)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    done = pond("verify", "--through-lake", tmp_path / "store", "--json", "--seed", "7")
    found = json.loads(done.out)["clients"]
    assert done.code == 0
    assert {name: (each["files"], each["equal"]) for name, each in found.items()} == {
        "claude-code": (1, 35),
        "codex": (1, 41),
    }
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_what_is_wrong_with_a_file_is_told(tmp_path: Path) -> None:
    log = next(TOURS[0].rglob("*.jsonl"))
    place = tmp_path / "projects" / "-home-ada-herbarium" / log.name
    place.parent.mkdir(parents=True)
    place.write_bytes(log.read_bytes() + b"{not json\n")
    (tmp_path / "notes.jsonl").write_text('{"shopping": ["milk"]}\n')
    done = pond("verify", "--through-lake", tmp_path)
    assert done.code == 1
    text = done.out.decode()
    assert f"{place}:36: source-not-json" in text
    assert f"{tmp_path / 'notes.jsonl'}:1: source-unrecognised" in text
    assert "35 of 35 records came back value-equal." in text


def test_what_is_no_file_costs_itself_alone(tmp_path: Path) -> None:
    shutil.copytree(TOURS[0], tmp_path / "store")
    os.mkfifo(tmp_path / "store" / "pipe.jsonl")
    (tmp_path / "store" / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    done = pond("verify", "--through-lake", tmp_path / "store")
    assert done.code == 1
    assert "35 of 35 records came back value-equal." in done.out.decode()
    assert [name for name in ("pipe.jsonl", "dangling.jsonl") if name not in done.out.decode()] == []


def test_a_difference_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pond.lake.through_lake import Wish, through_lake

    taken = Rows.take

    def lossy(self: Rows, group: list[dict[str, object]]) -> None:
        if "Tove" not in json.dumps(group):
            taken(self, group)

    monkeypatch.setattr(Rows, "take", lossy)
    ((_, verdict),) = through_lake([next(TOURS[0].rglob("*.jsonl"))], Wish(steps=1))
    assert verdict.equal < verdict.records == 35
    assert "verify-different" in {diagnostic.code for diagnostic in verdict.report.diagnostics}


@pytest.mark.parametrize("words", [("-",), (".", "--steps", "0")])
def test_what_cannot_go_through_a_lake_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    done = pond("verify", "--through-lake", *words, cwd=TOURS[0])
    assert done.code == 2
    assert "Traceback" not in done.err
