"""What every test shares: outside session files, the count of checks not run for lack of them, example budgets."""

import os
import re
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.size import size

# `make test` must give the same answer twice, and so must `make soak`; `make fuzz` looks for what nobody has seen.
settings.register_profile("house", deadline=None, derandomize=True, max_examples=size(100, 60))
settings.register_profile("soak", deadline=None, derandomize=True, max_examples=500)
settings.register_profile(
    "fuzz", deadline=None, max_examples=5_000, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("house")

# Times that people see are local: the tests are written for one place.
os.environ["TZ"] = "UTC"
time.tzset()

_NOT_RUN = re.compile(r"(?P<why>POND_\w+ not set|[\w-]+ not installed): (?P<what>.+) not checked")


def outside_directory(variable: str, what: str) -> Path:
    """Return the directory that `variable` names, or say that `what` was not checked."""
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} not set: {what} not checked")
    directory = Path(value)
    if not directory.is_dir():
        pytest.fail(f"{variable} names {value}, which is not a directory")
    return directory


def program(name: str, what: str) -> str:
    """Return the path of a program, or say that `what` was not checked for lack of it."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} not installed: {what} not checked")
    return found


@pytest.fixture(scope="session")
def samples_dir() -> Path:
    """Return the directory of sample session files (POND_SAMPLES)."""
    return outside_directory("POND_SAMPLES", "samples")


@pytest.fixture(scope="session")
def captures_dir() -> Path:
    """Return the directory of sessions captured from real clients (POND_CAPTURES)."""
    return outside_directory("POND_CAPTURES", "captures")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name, one line for each lack, how many checks were not run; a skip alone is too easy to overlook."""
    reasons = (str(report.longrepr) for report in terminalreporter.stats.get("skipped", []))
    found = filter(None, map(_NOT_RUN.search, reasons))
    for (why, what), count in sorted(Counter((m["why"], m["what"]) for m in found).items()):
        terminalreporter.write_line(f"not run: {count} checks of {what} ({why})", yellow=True)
