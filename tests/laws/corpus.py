"""The session files that every law is tried on: the fixtures of each adapter, and real ones where there are any."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pond.codec.finding import find_files
from pond.codec.registry import adapter, clients
from pond.codec.report import Report
from tests.size import SOAK

_LARGE = 300_000  # bytes: what such a file has that others have not is more of the same


@dataclass(frozen=True)
class SessionFile:
    """One session file of a client; `case` is the folder of fixtures, samples or captures it belongs to."""

    client: str
    case: str
    path: Path

    def __str__(self) -> str:
        return f"{self.client}/{self.case}/{self.path.stem[-36:]}"


def fixture_folders(client: str) -> list[Path]:
    """List the cases of a client, sorted."""
    return sorted(f for f in (adapter(client).folder / "fixtures").iterdir() if f.is_dir())


@cache
def fixture_files() -> list[SessionFile]:
    """List every fixture session of every adapter: a new folder is tested automatically."""
    return [
        SessionFile(client, folder.name, file)
        for client in clients()
        for folder in fixture_folders(client)
        for file in _sessions_below(folder)
    ]


def sample_files(directory: Path) -> list[SessionFile]:
    """List the sample sessions of the clients that have an adapter: a folder per client, named as the client is."""
    found = ((client, directory / client) for client in clients())
    return [
        SessionFile(c, folder.name, file) for c, folder in found if folder.is_dir() for file in _sessions_below(folder)
    ]


def quick(files: list[SessionFile]) -> list[SessionFile]:
    """Return the files that a law is tried on in every run; `make soak` tries it on the large ones, too."""
    return files if SOAK else [file for file in files if file.path.stat().st_size <= _LARGE]


def capture_folders(directory: Path) -> Iterator[tuple[str, Path]]:
    """Yield (client, scenario folder); captures are filed under the client's name or its first word."""
    for client in clients():
        for name in {client, client.split("-")[0]}:
            if (directory / name).is_dir():
                for folder in sorted((directory / name).iterdir()):
                    yield client, folder


def capture_files(directory: Path) -> list[SessionFile]:
    """List the captured sessions of the clients that have an adapter."""
    return [
        SessionFile(client, folder.name, file)
        for client, folder in capture_folders(directory)
        for file in _sessions_below(folder)
    ]


def _sessions_below(folder: Path) -> list[Path]:
    report = Report()
    files = list(find_files(folder, report))
    assert not report.errors, report.diagnostics
    # A scenario script is no session; a store's own JSON files are not either, unless the adapter names them.
    return [file for file in files if file.name != "scenario.json"]
