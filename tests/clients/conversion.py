"""`pond convert`, as a user runs it: a store of one client in, a store of another and a loss report out."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.clients.client import Client
from tests.clients.isolation import Room
from tests.clients.judge import Loss

TIMEOUT = 600
FLAGS: list[str] = []  # that every conversion of this run gets


class ConversionFailed(Exception):
    """`pond convert` did not do what was asked."""


def convert(
    store: Path, source: Client, target: Client, room: Room, old: Path | None, into: Path | None = None
) -> tuple[Path, list[Loss]]:  # fmt: skip
    """Convert a store below the room's root, or into a home; `old` is the work directory of a session of elsewhere."""
    out, report = into or room.root / "converted", room.root / "loss.jsonl"
    if into is None:
        shutil.rmtree(out, ignore_errors=True)
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pond.cli.main", "convert", str(store), "--to", target.name]
    command += ["-o", str(out), "--loss-report", str(report), *FLAGS]
    command += ["--map-path", f"{old}={room.work}"] if old is not None else []
    environment = {**os.environ, **target.set_up(room)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env=environment)
    if done.returncode != 0 or not (out / target.folder).is_dir():
        raise ConversionFailed(f"pond convert ended with {done.returncode}: {done.stderr.strip()[-400:]}")
    return out, [json.loads(line) for line in report.read_bytes().splitlines()] if report.exists() else []
