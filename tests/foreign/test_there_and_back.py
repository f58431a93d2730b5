"""There and back: what people and models said, called and got returned is all there at both ends, in order."""

from pathlib import Path

import pytest

from tests.foreign.road import OTHER, convert, whole
from tests.foreign.survival import survives
from tests.laws.corpus import SessionFile, capture_files, fixture_files, quick, sample_files
from tests.laws.passage import read


def _there_and_back(file: SessionFile, folder: Path) -> None:
    """Convert to the other client and back; each way, what was read before must be found after.

    Changes are allowed only where a loss of the same conversion names the part: survival.py has the table.
    """
    there = convert(file.path, OTHER[file.client], folder / "there", file.client)
    if there.empty:
        return
    assert there.report.errors == 0, there.report.diagnostics
    survives(whole(file.path, file.client), there)
    for number, middle in enumerate(there.files):
        back = convert(middle, file.client, folder / f"back-{number}")
        assert back.report.errors == 0, back.report.diagnostics
        survives(read(middle, there.client), back)


def _all(files: list[SessionFile], folder: Path) -> None:
    assert files, "no session of a known client in this directory"
    broken = []
    for number, file in enumerate(files):
        try:
            _there_and_back(file, folder / str(number))
        except AssertionError as error:
            broken.append(f"{file.path}: {error}")
    assert broken == []


@pytest.mark.parametrize("file", fixture_files(), ids=str)
def test_fixtures_come_through(file: SessionFile, tmp_path: Path) -> None:
    _there_and_back(file, tmp_path)


def test_samples_come_through(samples_dir: Path, tmp_path: Path) -> None:
    _all(quick(sample_files(samples_dir)), tmp_path)


def test_captures_come_through(captures_dir: Path, tmp_path: Path) -> None:
    _all(quick(capture_files(captures_dir)), tmp_path)
