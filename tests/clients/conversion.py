"""`pond convert`, as a user runs it: a store of one client in, a store of another and a loss report out."""

import json
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


def convert(store: Path, source: Client, target: Client, room: Room, old: Path | None) -> tuple[Path, list[Loss]]:
    """Convert a store below the room's root; `old` is the work directory of a session that was made elsewhere."""
    out, report = room.root / "converted", room.root / "loss.jsonl"
    shutil.rmtree(out, ignore_errors=True)
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pond.cli.main", "convert", str(store), "--to", target.name]
    command += ["-o", str(out), "--loss-report", str(report), *FLAGS]
    command += ["--map-path", f"{old}={room.work}"] if old is not None else []
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0 or not (out / target.folder).is_dir():
        raise ConversionFailed(f"pond convert ended with {done.returncode}: {done.stderr.strip()[-400:]}")
    return out, [json.loads(line) for line in report.read_bytes().splitlines()] if report.exists() else []
