"""Every file a conversion writes is one its client takes, by the measured rules of that client."""

from pathlib import Path

import pytest

from tests.foreign.road import OTHER, convert
from tests.foreign.rules import faults
from tests.laws.corpus import SessionFile, capture_files, fixture_files, quick, sample_files


def _faults(file: SessionFile, folder: Path) -> list[str]:
    """Return what is wrong with a session taken to the other client, and with the same taken back."""
    there = convert(file.path, OTHER[file.client], folder / "there", file.client)
    assert there.files or there.empty, there.report.diagnostics
    found = faults(there)
    for number, middle in enumerate(there.files):
        found += faults(convert(middle, file.client, folder / f"back-{number}"))
    return [f"{file}: {what}" for what in found]


@pytest.mark.parametrize("file", fixture_files(), ids=str)
def test_fixtures_become_valid_sessions(file: SessionFile, tmp_path: Path) -> None:
    assert _faults(file, tmp_path) == []


def test_samples_become_valid_sessions(samples_dir: Path, tmp_path: Path) -> None:
    files = quick(sample_files(samples_dir))
    assert [what for n, file in enumerate(files) for what in _faults(file, tmp_path / str(n))] == []


def test_captures_become_valid_sessions(captures_dir: Path, tmp_path: Path) -> None:
    files = quick(capture_files(captures_dir))
    assert [what for n, file in enumerate(files) for what in _faults(file, tmp_path / str(n))] == []
