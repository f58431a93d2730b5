"""Many processes that ingest overlapping sources into one lake at the same time, some of which grow meanwhile."""

import random
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from pond.config.settings import Settings
from pond.intake.ingest import ingest
from pond.intake.request import Request
from pond.sessions.lake import opened
from tests.cli.command import Done, finish, start
from tests.lake.crash import ROWS
from tests.lake.logs import Logs
from tests.lake.sound import Content, content, differences, duplicates

_STEP = 0.15  # seconds between two files that grow


@dataclass(frozen=True)
class Result:
    """How the processes ended, and what is wrong with the lake once one more has run."""

    ended: list[Done]
    wrong: list[str]

    @property
    def conflicts(self) -> int:
        """How many gave up because others were first."""
        return sum(fault.code == "lake-conflict" for done in self.ended for fault in done.faults)


def crowd(logs: Logs, settings: Settings, count: int, whole: Content, seed: int) -> Result:
    """Let `count` processes ingest parts of the logs, each at least two folders, while files grow; then one alone."""
    drawn = random.Random(seed)
    logs.shorten(seed)
    variables = {"POND_INGEST_ROWS_PER_COMMIT": str(ROWS)} | {
        f"POND_STORAGE_{name.upper()}": value for name, value in settings.storage.items()
    }
    running = [
        start("ingest", *_share(logs.root, drawn), "--lake", settings.lake, "--jobs", "1", variables=variables)
        for _ in range(count)
    ]
    try:
        _grow(logs, running, drawn)
    finally:
        ended = [finish(process) for process in running]
    logs.grow()
    summary = ingest(settings, Request([(str(logs.root), None)], processes=1))
    store = opened(settings)
    wrong = duplicates(store) + differences(content(store), whole)
    return Result(ended, wrong + [each.message for each in summary.report.diagnostics if each.severity == "error"])


def _share(root: Path, drawn: random.Random) -> list[Path]:
    """Return some folders of the logs, in any order: the whole first, or last, or three of four."""
    folders = [folder for client in sorted(root.iterdir()) for folder in sorted(client.iterdir())]
    return drawn.sample(folders, drawn.randint(max(2, len(folders) * 2 // 3), len(folders)))


def _grow(logs: Logs, running: list[subprocess.Popen[bytes]], drawn: random.Random) -> None:
    """Complete the files one by one for as long as somebody reads them."""
    short = logs.short()
    drawn.shuffle(short)
    while short and any(process.poll() is None for process in running):
        logs.grow([short.pop()])
        time.sleep(_STEP)
