"""Many inputs at once: what a directory holds, spread over all cores, in an order that does not depend on luck."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from pond.codec.convert import Order, Session, find_files, layout, open_input, write_canonical, write_native
from pond.codec.output import NewFile
from pond.codec.registry import CANONICAL
from pond.codec.report import Report
from pond.codec.source import open_regular
from pond.codec.writer import SideFile
from pond.diagnostics.diagnostic import PondError

if TYPE_CHECKING:  # costs more to import than a small file to convert
    from concurrent.futures import Future, ProcessPoolExecutor

# Below this much input a second process costs more than it brings.
_WORTH_A_PROCESS = 2_000_000
_CANONICAL_SUFFIX = ".canonical.jsonl"


@dataclass(frozen=True, slots=True)
class Job:
    """One input file: where it is, what to call it, and where it lies in the directory it was found in."""

    path: Path | None
    name: str
    folder: Path | None = None
    number: int = 0

    @property
    def size(self) -> int:
        try:
            return os.stat(self.path).st_size if self.path else 0
        except OSError:
            return 0

    def open(self) -> BinaryIO:
        """Open the input; what cannot be read twice (standard input, a pipe) is spooled to a temporary file."""
        if self.path is None:
            return _spool(sys.stdin.buffer)
        if self.folder is None and _is_pipe(self.path):
            with open(self.path, "rb") as pipe:
                return _spool(pipe)
        return open_regular(self.path)


def _is_pipe(path: Path) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


def _spool(stream: BinaryIO) -> BinaryIO:
    file = tempfile.TemporaryFile(prefix="pond-")  # noqa: SIM115 - the caller closes it
    shutil.copyfileobj(stream, file, 1 << 20)
    file.seek(0)
    return cast(BinaryIO, file)


def is_directory(output: str) -> bool:
    """Tell whether an output name means a directory."""
    return output.endswith("/") or os.path.isdir(output)


def expand(inputs: list[str], report: Report) -> list[Job]:
    """Return the files that the inputs name; report what is missing."""
    found: list[Job] = []
    for text in inputs:
        path = Path(text)
        if text == "-":
            found.append(Job(None, "<stdin>"))
        elif path.is_dir():
            found += [Job(file, str(file), path) for file in find_files(path, report)]
        elif os.path.lexists(path):
            found.append(Job(path, text))
        else:
            report.error("source-unreadable", "no such file or directory", text)
    return [Job(job.path, job.name, job.folder, number) for number, job in enumerate(found)]


def convert_job(job: Job, order: Order, target: Path | None, spool: Path) -> Report:
    """Convert one input into its place in `target` (or in the spool); whatever goes wrong is in the report."""
    report = Report(files=1)
    try:
        with job.open() as file:
            source = open_input(file, job.name, job.path, order, report)
            for number, session in enumerate(source.sessions):
                try:
                    place = _place(job, order, layout(session), source.client, number)
                    _convert_session(session, place, job, order, target, spool, report)
                except PondError as error:  # one session cannot take the others of its stream along
                    report.diagnostics += error.diagnostics
    except PondError as error:
        report.diagnostics += error.diagnostics
    except OSError as error:
        report.error("source-unreadable", (error.strerror or str(error)).lower(), job.name)
    return report


def _convert_session(
    session: Session, name: str, job: Job, order: Order, target: Path | None, spool: Path, report: Report
) -> None:  # fmt: skip
    if target is None:
        with open(_spooled(job, spool), "ab") as out:
            write_canonical(session, out)
        return
    place = target / name
    beside: list[SideFile] = []
    with NewFile(place) as out:
        if order.to == CANONICAL:
            write_canonical(session, out)
        else:
            beside = write_native(session, order.to, out, report, job.name)
    place_beside(place, beside)


def _place(job: Job, order: Order, in_layout: str, client: str, number: int) -> str:
    """Return where a session lies below the target: where its input lies in the directory named, else its layout.

    Only the first session of a stream can lie where its stream does.
    """
    place = in_layout
    if job.folder is not None and job.path is not None and number == 0:
        here = job.path.relative_to(job.folder).as_posix()
        if client != CANONICAL:
            place = here
        elif here.endswith(_CANONICAL_SUFFIX):
            place = here.removesuffix(_CANONICAL_SUFFIX) + os.path.splitext(in_layout)[1]
    return os.path.splitext(place)[0] + _CANONICAL_SUFFIX if order.to == CANONICAL else place


def place_beside(place: Path, beside: list[SideFile]) -> None:
    """Write the files that belong beside the session file at `place`."""
    for extra in beside:
        with NewFile(_safe_beside(place, extra.name)) as out:
            out.write(extra.data)


def _safe_beside(place: Path, name: str) -> Path:
    """Return the path of a file beside the session; names are data and cannot leave the session's folder."""
    parts = [p for p in name.replace("{stem}", place.stem).replace("\\", "/").split("/") if p not in ("", ".", "..")]
    return place.parent.joinpath(*[p.replace("\0", "_")[:200] for p in parts])


def _spooled(job: Job, spool: Path) -> Path:
    return spool / f"{job.number:09d}{_CANONICAL_SUFFIX}"


def converted_into(job: Job, spool: Path) -> Path | None:
    """Return the spooled output of a finished job, or None where it made none."""
    made = _spooled(job, spool)
    return made if made.exists() else None


def run_jobs(
    jobs: list[Job], order: Order, target: Path | None, spool: Path, processes: int | None
) -> Iterator[tuple[Job, Report]]:
    """Yield every job with its report, in input order, using all cores where the input is worth it."""
    count = min(processes or os.cpu_count() or 1, len(jobs))
    if count < 2 or (processes is None and sum(job.size for job in jobs) < _WORTH_A_PROCESS):
        for job in jobs:
            yield job, convert_job(job, order, target, spool)
        return
    with workers(count) as pool:
        # Largest first: the cores then finish together.
        waiting: dict[int, Future[Report]] = {}
        for job in sorted(jobs, key=lambda job: -job.size):
            waiting[job.number] = pool.submit(convert_job, job, order, target, spool)
        for job in jobs:
            yield job, _result(waiting.pop(job.number), job)


def workers(count: int | None) -> ProcessPoolExecutor:
    """Return a pool of processes that stop without a word, and unwind what they were doing, when they are told to."""
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(count, initializer=_stop_quietly)


def _stop_quietly() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)


def _leave(number: int, _: object) -> None:
    raise SystemExit(128 + number)  # the one exception an idle worker does not print


def _result(future: Future[Report], job: Job) -> Report:
    """Return a job's report; a process that died (out of memory, killed) is a fault like any other."""
    from concurrent.futures import BrokenExecutor

    try:
        return future.result()
    except (BrokenExecutor, SystemExit):
        report = Report(files=1)
        report.error("output-failed", "the process that converted it died", job.name)
        return report
