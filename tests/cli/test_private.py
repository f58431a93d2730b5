"""What a command makes is its owner's alone, whatever the umask of the shell says."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pond.codec import output
from pond.sessions.tables import SESSIONS
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from tests.cli.command import Done, environment, pond
from tests.cli.sessions import CLAUDE_CODE
from tests.lake.build import SUBAGENTS, TOURS

OPEN = [0o022, 0o000]


def _open_to_others(folder: Path) -> list[str]:
    """List what is below a folder and is not only its owner's."""
    return [f"{stat.filemode(mode)} {path}" for path, mode in _modes(folder) if stat.S_IMODE(mode) & 0o077]


def _modes(folder: Path) -> Iterator[tuple[Path, int]]:
    for path in sorted(folder.rglob("*")):
        yield path, path.lstat().st_mode


@pytest.mark.parametrize("umask", OPEN, ids=oct)
def test_everything_that_the_commands_make_is_private(umask: int, tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir(mode=0o755)
    lake, other = made / "below" / "lake", made / "other"
    tour = next(TOURS[0].rglob("*.jsonl"))

    def run(*arguments: str | Path, code: int = 0) -> Done:
        done = pond(*arguments, umask=umask, variables={"HOME": str(tmp_path / "home")})
        assert done.code == code, done.err
        return done

    run("ingest", *TOURS, SUBAGENTS[0], "--lake", lake)
    run("optimize", "--lake", lake)
    run("export", "-o", made / "a.pond", "--lake", lake)
    run("import", made / "a.pond", "--lake", other)
    run("restore", "--all", "-o", made / "restored", "--lake", lake)
    run("restore", "--all", "--to", "canonical", "-o", made / "canonical", "--lake", lake)
    run("restore", tour.stem, "--to", "codex", "-o", made / "codex", "--loss-report", made / "loss", "--lake", lake)
    run("convert", tour, "--to", "canonical", "-o", made / "one.jsonl")
    run("convert", SUBAGENTS[0], "--to", "codex", "-o", made / "store")
    run("erase", tour.stem, "--yes", "--lake", lake)
    run("sync", "--lake", made / "third")
    assert {"below", "other", "a.pond", "restored", "canonical", "codex", "loss", "one.jsonl", "store"} <= {
        path.name for path in made.iterdir()
    }
    assert _open_to_others(made) == []


def test_what_is_there_already_keeps_its_mode(tmp_path: Path) -> None:
    lake, out = tmp_path / "lake", tmp_path / "out"
    for folder in (lake, out):
        folder.mkdir()
        folder.chmod(0o755)
    file = CLAUDE_CODE.session(tmp_path / "in", "modes")
    file.chmod(0o644)
    assert pond("ingest", file, "--lake", lake).code == 0
    assert pond("restore", "--all", "-o", out, "--lake", lake).code == 0
    assert [stat.S_IMODE(path.stat().st_mode) for path in (lake, out, file)] == [0o755, 0o755, 0o644]


def test_a_stricter_umask_stays(tmp_path: Path) -> None:
    file = CLAUDE_CODE.session(tmp_path / "in", "strict")
    done = pond("convert", file, "--to", "canonical", "-o", tmp_path / "out.jsonl", umask=0o277)
    assert done.code == 0, done.err
    assert stat.S_IMODE((tmp_path / "out.jsonl").stat().st_mode) == 0o400


@pytest.mark.parametrize("namespace", [None, "ada"])
def test_a_lake_is_private_whatever_the_umask(namespace: str | None, tmp_path: Path) -> None:
    root, before = tmp_path / "below" / "lake", os.umask(0o022)
    try:
        Store(Catalog(str(root), namespace=namespace)).made(SESSIONS)
    finally:
        os.umask(before)
    assert [
        stat.filemode(folder.stat().st_mode) for folder in {root, Path(Catalog(str(root), {}, namespace).tables_root)}
    ] == ["drwx------"] * (1 if namespace is None else 2)


@pytest.mark.parametrize("umask", [0o022, 0o077], ids=oct)
def test_a_file_has_the_mode_of_the_umask_where_the_system_knows_none_without_a_name(
    umask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_nameless", lambda folder: None)
    path, before = tmp_path / ("ü" * 120), os.umask(umask)
    try:
        with output.NewFile(path) as out:
            out.write(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    assert list(tmp_path.iterdir()) == [path]


def test_a_library_leaves_the_umask_alone(tmp_path: Path) -> None:
    program = (
        "import os, sys; os.umask(0o022)\n"
        "import pond.cli.main, pond.cli.ingest\n"
        "from pond.config.load import load\n"
        "from pond.intake.ingest import Request, ingest\n"
        "ingest(load({'lake': sys.argv[1]}), Request([(sys.argv[2], None)], processes=1), lambda *_: None)\n"
        "print(oct(os.umask(0)))"
    )
    file, lake = CLAUDE_CODE.session(tmp_path / "in", "library"), tmp_path / "below" / "lake"
    done = subprocess.run(
        [sys.executable, "-c", program, str(lake), str(file)], env=environment(), capture_output=True, check=False
    )
    assert (done.stdout, done.returncode) == (b"0o22\n", 0), done.stderr
    assert stat.filemode(lake.stat().st_mode) == "drwx------"
