"""Sessions that the real clients wrote, from the directory that POND_CAPTURES names: one row of the matrix each."""

import os
import shutil
from pathlib import Path

from tests.clients.client import Client
from tests.clients.expected import rows
from tests.clients.matrix import Source


def captured(client: Client) -> list[Source]:
    """Return a row for each capture of a client; none where POND_CAPTURES is not set."""
    directory = os.environ.get("POND_CAPTURES")
    if not directory:
        return []
    found = sorted((Path(directory) / client.short).iterdir())
    return [_row(client, capture) for capture in found if capture.is_dir()]


def _row(client: Client, capture: Path) -> Source:
    home = capture / "home" / client.root

    def write(_: Client, store: Path, work: Path) -> None:
        shutil.copytree(home / client.folder, store / client.folder)
        if (home / "session_index.jsonl").exists():
            shutil.copy(home / "session_index.jsonl", store)
        for path in store.rglob("*.jsonl"):
            path.chmod(0o644)
        for path in store.rglob("*"):
            if path.is_dir():
                path.chmod(0o755)

    return Source(f"capture: {capture.name}", write, _work_directory(home / client.folder))


def _work_directory(store: Path) -> Path:
    """Return the directory that the records of a store name."""
    for path in sorted(store.rglob("*.jsonl")):
        for row in rows(path):
            named = row.get("cwd") or row.get("payload", {}).get("cwd")
            if named:
                return Path(named)
    raise ValueError(f"no record below {store} names a work directory")
