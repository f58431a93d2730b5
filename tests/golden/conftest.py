"""Git repositories for the tests of `pond golden`, and the count of checks not run where there is no git."""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.golden.repository import Repository

_NO_GIT = "git not found: golden reviews not checked"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return an empty git repository that knows nothing of the person, the hook or the repository around it."""
    if shutil.which("git") is None:
        pytest.skip(_NO_GIT)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    return Repository.create(tmp_path / "repository")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many checks were not run; a skip alone is too easy to overlook."""
    count = sum(bool(re.search(_NO_GIT, str(report.longrepr))) for report in terminalreporter.stats.get("skipped", []))
    if count:
        terminalreporter.write_line(f"not run: {count} checks of golden reviews (git not found)", yellow=True)
