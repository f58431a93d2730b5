"""A check that could not run for lack of outside files says so, once and counted."""

import subprocess
import sys
from pathlib import Path

from tests.house.tree import ROOT

NEEDS_SAMPLES = "def test_one(samples_dir): pass\ndef test_two(samples_dir): pass\ndef test_three(captures_dir): pass\n"


def _pytest(directory: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on `directory` with this project's conftest and no variable but those given."""
    (directory / "test_outside.py").write_text(NEEDS_SAMPLES)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", str(directory)]
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)


def test_what_was_not_run_is_counted_per_variable(tmp_path: Path) -> None:
    done = _pytest(tmp_path, POND_CAPTURES=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("not run:")] == [
        "not run: 2 checks of samples (POND_SAMPLES not set)"
    ]
    assert "1 passed, 2 skipped" in done.stdout


def test_nothing_is_said_when_all_ran(tmp_path: Path) -> None:
    done = _pytest(tmp_path, POND_CAPTURES=str(tmp_path), POND_SAMPLES=str(tmp_path))
    assert "3 passed" in done.stdout
    assert "not run:" not in done.stdout


def test_a_variable_that_names_no_directory_is_an_error(tmp_path: Path) -> None:
    done = _pytest(tmp_path, POND_CAPTURES=str(tmp_path), POND_SAMPLES=str(tmp_path / "absent"))
    assert done.returncode == 1
    assert "which is not a directory" in done.stdout
