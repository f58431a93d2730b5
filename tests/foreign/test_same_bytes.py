"""The same session gives the same files, no matter who converts it, when, and from which copy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.foreign.road import OTHER, Made, convert
from tests.house.tree import ROOT
from tests.laws.corpus import SessionFile, fixture_files, fixture_folders

_CLIENTS = sorted(OTHER)


def _bytes(made: Made) -> dict[str, bytes]:
    return _files(made.folder)


def _files(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


@pytest.mark.parametrize("file", fixture_files(), ids=str)
@pytest.mark.rule("lance-deterministic-pk")
def test_converting_twice_gives_the_same_bytes(file: SessionFile, tmp_path: Path) -> None:
    first = convert(file.path, OTHER[file.client], tmp_path / "first", file.client)
    again = convert(file.path, OTHER[file.client], tmp_path / "again", file.client)
    assert _bytes(first) == _bytes(again)
    for number, middle in enumerate(first.files):
        back = convert(middle, file.client, tmp_path / f"back-{number}")
        again = convert(middle, file.client, tmp_path / f"back-again-{number}")
        assert _bytes(back) == _bytes(again) != {}


@pytest.mark.parametrize("client", _CLIENTS)
@pytest.mark.rule("lance-deterministic-pk")
def test_bytes_do_not_depend_on_the_hash_seed(client: str, tmp_path: Path) -> None:
    """Python's own hashes differ from run to run; nothing of that may reach a file or the loss report."""
    folders = fixture_folders(client)
    there = [_run(folders, OTHER[client], tmp_path / f"there-{seed}", seed) for seed in ("1", "2")]
    assert there[0] == there[1] != {}
    back = [_run([tmp_path / "there-1"], client, tmp_path / f"back-{seed}", seed) for seed in ("1", "2")]
    assert back[0] == back[1] != {}


def _run(folders: list[Path], to: str, target: Path, seed: str) -> dict[str, bytes]:
    """Convert directories in a process of its own; return the files, and what was lost on the way."""
    losses = target.with_suffix(".losses")
    command = [sys.executable, "-m", "pond.cli.main", "convert", *map(str, folders), "--to", to, "-o", f"{target}/"]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [*command, "--loss-report", str(losses)], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return {**_files(target), "losses": losses.read_bytes()}
