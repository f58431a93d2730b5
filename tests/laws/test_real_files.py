"""The laws of test_fixtures.py on session files that real clients wrote; they stay outside the repository."""

from pathlib import Path

import pytest

from tests.laws import laws
from tests.laws.corpus import SessionFile, capture_files, quick, sample_files
from tests.laws.test_fixtures import LAWS


@pytest.mark.parametrize("law", LAWS)
def test_samples_keep_the_law(law: laws.Law, samples_dir: Path) -> None:
    _keep(law, quick(sample_files(samples_dir)))


@pytest.mark.parametrize("law", LAWS)
def test_captures_keep_the_law(law: laws.Law, captures_dir: Path) -> None:
    _keep(law, quick(capture_files(captures_dir)))


def _keep(law: laws.Law, files: list[SessionFile]) -> None:
    assert files, "no session of a known client in this directory"
    for file in files:
        try:
            law(file)
        except AssertionError as broken:
            raise AssertionError(f"{file.path}: {broken}") from broken
