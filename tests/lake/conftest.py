"""What the tests of the lake stand on: an S3 server, a proxy that spoils answers, full and read-only disks."""

import itertools
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from pond.sessions.archive import check
from tests.cli import warm
from tests.cli.command import PATIENCE
from tests.lake import crash, disk
from tests.lake.logs import Logs, logs
from tests.lake.proxy import Proxy, proxying
from tests.lake.s3 import Store, serving
from tests.lake.sound import Content, content

_NO_MOUNT = "no mount allowed: {} not checked"
_NOT_RUN = re.compile(_NO_MOUNT.format("(?P<what>.+)"))
_PREFIXES = (f"prefix-{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Logs:
    """Return session files of both clients."""
    return logs(tmp_path_factory.mktemp("logs") / "logs", invented=False)


@pytest.fixture(scope="module")
def whole(sources: Logs, tmp_path_factory: pytest.TempPathFactory) -> Content:
    """Return what one process alone makes of them."""
    sources.grow()
    return content(crash.opened_at(crash.filled(sources, tmp_path_factory.mktemp("lakes") / "whole")))


class _Warm:
    """What the check of an archive needs of `subprocess`, without a start for each archive."""

    PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL

    @staticmethod
    def run(words: list[str], *, input: bytes, env: dict[str, str], **_: object) -> subprocess.CompletedProcess[bytes]:
        program, folder = words[-2:]
        code, out, _err = warm.run(warm.Request([folder], env, os.getcwd(), program=program), input, PATIENCE)
        return subprocess.CompletedProcess(words, code, out)


@pytest.fixture
def warm_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processes that check archives be forks of a warm one; `tests/cli/test_archive.py` sees them start."""
    monkeypatch.setattr(check, "subprocess", _Warm)


@pytest.fixture(scope="session")
def s3_port() -> Iterator[int]:
    """Return the port of the one server of the whole run."""
    with serving() as port:
        yield port


@pytest.fixture
def s3(s3_port: int) -> Store:
    """Return an empty prefix of the bucket."""
    return Store(s3_port, next(_PREFIXES))


@pytest.fixture
def proxy(s3: Store) -> Iterator[Proxy]:
    """Return a proxy before the server; `s3.through(proxy.server_port)` is the way through it."""
    with proxying(s3.port) as made:
        yield made


@pytest.fixture
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a file system of a few megabytes."""
    with ExitStack() as stack:
        with _or_not_run("full disks"):
            directory = stack.enter_context(disk.small(tmp_path_factory.mktemp("disk") / "small", megabytes=8))
        yield directory


@pytest.fixture
def read_only(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], AbstractContextManager[Path]]:
    """Return the way to make a directory refuse writes for a while."""
    with _or_not_run("read-only directories"), disk.read_only(tmp_path_factory.mktemp("probe")):
        return disk.read_only


@contextmanager
def _or_not_run(what: str) -> Iterator[None]:
    try:
        yield
    except disk.NotPossible:
        pytest.skip(_NO_MOUNT.format(what))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many checks were not run; a skip alone is too easy to overlook."""
    reasons = (str(report.longrepr) for report in terminalreporter.stats.get("skipped", []))
    for what, count in sorted(Counter(found["what"] for found in map(_NOT_RUN.search, reasons) if found).items()):
        terminalreporter.write_line(f"not run: {count} checks of {what} (no mount allowed)", yellow=True)
