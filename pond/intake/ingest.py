"""Sources into the lake: what is new in them, each row once, whatever else is being written."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pond.codec.finding import FoundSource, discover
from pond.codec.report import Report
from pond.codec.surprise import contained, told
from pond.codec.workers import DIED, Pool
from pond.config.process import bound_memory, may_fork
from pond.config.settings import Settings
from pond.intake.reading import Ended, Task, read_source
from pond.intake.request import Request, Summary, Tick
from pond.intake.sources import Change

if TYPE_CHECKING:  # Lance is loaded after the reading processes are forked
    from pond.intake.planning import IngestPlan
    from pond.intake.storing import Intake

_WORTH_PROCESSES = 8 << 20  # bytes of sources; below this, starting processes costs more than it saves


def _nothing(done: int, total: int, counted: str) -> None:
    """Do nothing: nobody watches."""


def ingest(settings: Settings, request: Request, tick: Tick = _nothing) -> Summary:
    """Store what is new in the sources; return what happened.

    Unchanged files are recognised without opening them, grown ones are read from where they grew. Nothing stored is
    changed (adapter-integrity-additive-sync); faults are in the report, and everything else is stored.
    """
    bound_memory()
    summary = Summary()
    with tempfile.TemporaryDirectory(prefix="pond-") as spool:
        found = list(_sources(request, summary.report, Path(spool)))
        total = sum(each.size for each in found)
        count = request.processes or (os.cpu_count() or 1 if total >= _WORTH_PROCESSES else 1)
        count = count if may_fork() else 1
        with closing(Pool(read_source, count if count > 1 else 0)) as pool:
            plan, intake = _opened(settings, request, summary)
            done = _Done(total, tick, summary)
            for task, frame in pool.run(_tasks(found, plan, done), lambda task: task.near):
                if frame is DIED or isinstance(frame, Exception):
                    intake.take(task, _cut_short(task, frame))
                elif frame is not None:
                    intake.take(task, frame)
                    done.at(task, frame)
        _decide(plan, intake, done)
        intake.close(done.derived)
    return summary


def _decide(plan: IngestPlan, intake: Intake, done: _Done) -> None:
    """Read the sources that had to wait until everything else was stored: their records decide whose session they hold.

    One after the other, because each may be compared with the one before it; parents before their children.
    """
    waiting = [*((task, False) for task in intake.deferred()), *((task, True) for task in plan.contested)]
    if not waiting and not plan.has_suffixes():
        return
    from pond.intake.identity import decided, reunite  # which most runs do not need
    from pond.substrate.signals import LakeError

    for task, again in sorted(waiting, key=lambda each: (each[0].name.count(os.sep), each[0].name)):
        before, faults = plan.summary.new_messages, Report()
        with contained(faults, task.name, LakeError):
            task = decided(plan.store, task)
        for frame in read_source(task):
            intake.take(task, frame)
            done.at(task, frame)
        if intake.deferred():  # it is not known whose session it is; reading has already reported on the file
            plan.summary.report.add(faults)
        if again:
            plan.summary.files[_became(task, plan.summary.new_messages > before).value] += 1
    if plan.summary.new_sessions and not plan.request.dry_run:
        reunite(plan.store)


def _became(task: Task, grew: bool) -> Change:
    """Tell what happened to a source that had been read before: a file with only a new date is unchanged."""
    found = [*task.identities.values(), *([task.sole] if task.sole is not None else [])]
    if not found or any(identity.id not in task.candidates for identity in found):
        return Change.REWRITTEN
    return Change.GROWN if grew else Change.UNCHANGED


def _cut_short(task: Task, error: object) -> Ended:
    """Return the end of a source that was not completely read."""
    ended = Ended()
    if isinstance(error, Exception):
        ended.report.diagnostics += told(error, task.name)
    else:
        ended.report.error("output-failed", "the process that read it crashed", task.name)
    return ended


def _opened(settings: Settings, request: Request, summary: Summary) -> tuple[IngestPlan, Intake]:
    """Open the lake: its content decides what to read, and it receives what was read."""
    from pond.intake.planning import IngestPlan
    from pond.intake.storing import Intake
    from pond.sessions.lake import opened
    from pond.sessions.writing import prepare

    store = opened(settings)
    if not request.dry_run:
        prepare(store)
    known_ids: dict[str, set[str]] = {}
    rows = settings.ingest.rows_per_commit
    intake = Intake(store, summary, known_ids, rows, dry_run=request.dry_run)
    return IngestPlan(store, request, summary, known_ids), intake


def _sources(request: Request, report: Report, spool: Path) -> Iterator[FoundSource]:
    """Yield the sources that the inputs name, each once, as they are now. Standard input is copied to be read again."""
    seen: set[tuple[str, str]] = set()
    for found in discover(request.inputs, report):
        if found.path is None:
            held = spool / "stdin"
            with open(held, "wb") as out:
                shutil.copyfileobj(sys.stdin.buffer, out, 1 << 20)
            yield replace(found, spool=held)
        elif (known := (os.path.abspath(found.path), found.key)) not in seen:
            seen.add(known)
            yield replace(found, seen=found.look())


class _Done:
    """The progress so far: bytes, files, and sessions stored."""

    def __init__(self, total: int, tick: Tick, summary: Summary) -> None:
        self._total, self._tick, self._summary = total, tick, summary
        self._files = self._ended = 0
        self._reached: dict[str, int] = {}  # of the sources that are being read

    def skip(self, size: int) -> None:
        self._files += 1
        self._ended += size
        self._tell()

    def at(self, task: Task, frame: object) -> None:
        if isinstance(frame, Ended):
            self._reached.pop(task.name, None)
            self._files += 1
            self._ended += task.size
        else:
            self._reached[task.name] = getattr(frame, "reached", self._reached.get(task.name, 0))
        self._tell()

    def derived(self, done: int, of: int) -> None:
        self._tick(self._total, self._total, f"{done} of {of} messages derived")

    def _tell(self) -> None:
        counted = f"{self._files} files, {self._summary.new_sessions} new sessions"
        self._tick(self._ended + sum(self._reached.values()), self._total, counted)


def _tasks(found: list[FoundSource], plan: IngestPlan, done: _Done) -> Iterator[Task]:
    """Yield what must be read, the largest first, so that the processes end together."""
    for each in sorted(found, key=lambda each: -each.size):
        task = plan.task_for(each)
        if task is None:
            done.skip(each.size)
        else:
            yield task
