"""Many inputs at once: what a directory holds, spread over all cores, in an order that does not depend on luck."""

from __future__ import annotations

import os
import posixpath
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from pond.codec.convert import Deferred, Order, Session, find_files, open_input, uncollected, write_canonical
from pond.codec.detect import detect
from pond.codec.output import NewFile
from pond.codec.paths import own_place, plain_name
from pond.codec.placing import CANONICAL_SUFFIX, as_written, layout, place_session, safe_beside
from pond.codec.registry import CANONICAL, adapter
from pond.codec.report import Report
from pond.codec.source import LineSource, open_regular
from pond.codec.surprise import contained
from pond.codec.unpacked import plain

# Below this much input a second process costs more than it brings.
_WORTH_A_PROCESS = 2_000_000


@dataclass(frozen=True, slots=True)
class Job:
    """One input file: where it is, what to call it, and where it lies in the directory it was found in."""

    path: Path | None
    name: str
    folder: Path | None = None
    number: int = 0
    child: bool = False  # nobody named it; it belongs to a session that was named

    @property
    def size(self) -> int:
        try:
            return os.stat(self.path).st_size if self.path else 0
        except OSError:
            return 0

    def date(self) -> float | None:
        """Return when the input was last written, where it is a file."""
        return os.stat(self.path).st_mtime if self.path is not None else None

    def open(self) -> BinaryIO:
        """Open the input; what cannot be read twice (standard input, a pipe) is spooled to a temporary file."""
        if self.path is None:
            return plain(_spool(sys.stdin.buffer), self.name)
        if self.folder is None and _is_pipe(self.path):
            with open(self.path, "rb") as pipe:
                return plain(_spool(pipe), self.name)
        return plain(open_regular(self.path), self.name)


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
    """Return the files that the inputs name; report what is missing, and where there is nothing at all."""
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
    if not found and not report.errors:
        report.nothing_found(inputs)
    return [Job(job.path, job.name, job.folder, number) for number, job in enumerate(found)]


def with_families(jobs: list[Job], order: Order, report: Report) -> tuple[list[Job], Order]:
    """Return the jobs with the children of every single file named, and which families the target cannot hold.

    A directory holds its children itself. Native conversion needs neither: it writes what there is. Where the children
    of a file cannot be looked for, that is in the report.
    """
    order = replace(order, defer=False)
    if order.to == CANONICAL:
        return jobs, order
    foreign = [(job, client) for job in jobs if (client := _foreign_client(job, order)) is not None]
    if not foreign:
        return jobs, order
    from pond.codec.lineage import children, members, too_deep

    known = {path.absolute() for job in jobs if (path := job.path) is not None}
    found: list[tuple[Path, str]] = []
    for job, client in foreign:
        if job.path and not job.folder:
            with contained(report, job.name):
                found += [(path, client) for path in children(job.path, client)]
    new = [(path, client) for path, client in found if path.absolute() not in known]
    family = [Job(path, str(path), number=len(jobs) + n, child=True) for n, (path, _) in enumerate(new)]
    everyone = [*new, *((job.path, client) for job, client in foreign if job.path is not None)]
    deep = too_deep((member for path, client in everyone for member in members(path, client)), order.to)
    return [*jobs, *family], replace(order, too_deep=deep)


def _with_stream_family(file: BinaryIO, job: Job, order: Order) -> Order:
    """Return the order for what comes by a pipe and can be read but once: its families stand in it, or nowhere."""
    from pond.codec.lineage import stream_members, too_deep

    return replace(order, defer=False, too_deep=too_deep(stream_members(LineSource(file, job.name, None)), order.to))


def _foreign_client(job: Job, order: Order) -> str | None:
    """Return the client of a file that may have to go to another one; None for the target's own and the unreadable."""
    client = order.client
    if job.path is None or not job.path.is_file():
        return None
    if client is None:
        with (
            contained(Report(), job.name),
            plain(open_regular(job.path), job.name) as file,
        ):  # told when it is converted
            client = detect(LineSource(file, job.name, job.path))
    return client if client != order.to else None


def convert_job(job: Job, order: Order, target: Path | None, spool: Path) -> Report:
    """Convert one input into its place in `target` (or in the spool); whatever goes wrong is in the report."""
    report = Report(files=1)
    try:
        with uncollected():  # from the start: what is decoded to see whose file it is would be looked through, too
            return _converted(job, order, target, spool, report)
    except Deferred:
        return Report(deferred=True)


def _converted(job: Job, order: Order, target: Path | None, spool: Path, report: Report) -> Report:
    with contained(report, job.name, Deferred), job.open() as file:
        if order.to != CANONICAL and not (job.path and job.path.is_file()):
            order = _with_stream_family(file, job, order)
        source = open_input(file, job.name, job.path, order, report)
        for number, session in enumerate(source.sessions):
            with contained(report, job.name):  # one session cannot take the others of its stream along
                place = _place(job, order, session, source.client, number)
                _convert_session(session, place, job, order, target, spool, report)
    return report


def _convert_session(
    session: Session, name: str, job: Job, order: Order, target: Path | None, spool: Path, report: Report
) -> None:  # fmt: skip
    if target is None:
        with open(_spooled(job, spool), "ab") as out:
            write_canonical(session, out)
        return
    place_session(session, order, target, target / name, report, job.name, job.date)


def _place(job: Job, order: Order, session: Session, client: str, number: int) -> str:
    """Return where a session lies below the target: where its input lies in the directory named, else its layout.

    Only the first session of a stream can lie where its stream does, and only as its own client's.
    """
    place = in_layout = layout(session, order)
    at_home = client in (CANONICAL, session.row["source_agent"]) and not session.foreign
    if at_home and job.folder is not None and job.path is not None and number == 0:
        here = plain_name(job.path.relative_to(job.folder).as_posix())
        if client != CANONICAL:
            place = here
        elif here.endswith(CANONICAL_SUFFIX):
            place = _renamed(here, in_layout, session, order)
        place = session.moved(place)
    return as_written(place, order)


def _renamed(here: str, in_layout: str, session: Session, order: Order) -> str:
    """Return the place of a session out of a canonical file: named as that file is, where the client has such names."""
    folder, slash, stem = here.removesuffix(CANONICAL_SUFFIX).rpartition("/")
    name: str | None = stem + os.path.splitext(in_layout)[1]
    if name is not None and order.to != CANONICAL:
        module = adapter(session.row["source_agent"]).module
        name = own_place(name, module.FILES, module.IGNORES)
    return in_layout if name is None else folder + slash + name


def convert_child(job: Job, order: Order, parent: Path, parent_place: str, report: Report) -> None:
    """Convert a child session into its place beside its parent's file, wherever that is."""
    with tempfile.TemporaryDirectory(prefix="pond-") as folder:
        report.add(convert_job(job, order, Path(folder), Path(folder)))
        for made in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
            here = posixpath.relpath(made.relative_to(folder).as_posix(), posixpath.dirname(parent_place))
            stem = posixpath.splitext(posixpath.basename(parent_place))[0]
            with open(made, "rb") as file, NewFile(safe_beside(parent, here.replace(f"{stem}/", "{stem}/", 1))) as out:
                shutil.copyfileobj(file, out)


def _spooled(job: Job, spool: Path) -> Path:
    return spool / f"{job.number:09d}{CANONICAL_SUFFIX}"


def converted_into(job: Job, spool: Path) -> Path | None:
    """Return the spooled output of a finished job, or None where it made none."""
    made = _spooled(job, spool)
    return made if made.exists() else None


def run_jobs(
    jobs: list[Job], order: Order, target: Path | None, spool: Path, processes: int | None
) -> Iterator[tuple[Job, Report]]:
    """Yield every job with its report, in input order, using all cores where the input is worth it.

    Where the order defers what goes to another client, that comes last, with its families known.
    """
    waiting: list[Job] = []
    for job, report in _run(jobs, order, target, spool, processes):
        if report.deferred:
            waiting.append(job)
        else:
            yield job, report
    if waiting:
        known = {job.number for job in waiting}
        everyone, order = with_families(jobs, order, report := Report())
        if report.diagnostics:
            yield waiting[0], report
        yield from _run([job for job in everyone if job.child or job.number in known], order, target, spool, processes)


def _run(
    jobs: list[Job], order: Order, target: Path | None, spool: Path, processes: int | None
) -> Iterator[tuple[Job, Report]]:
    sizes = [job.size for job in jobs]
    count = min(processes or os.cpu_count() or 1, len(jobs))
    if count < 2 or not hasattr(os, "fork") or (processes is None and sum(sizes) < _WORTH_A_PROCESS):
        for job in jobs:
            yield job, convert_job(job, order, target, spool)
        return
    from pond.codec.workers import spread  # a small store needs none of it

    # Largest first: the cores then finish together.
    first_to_last = sorted(range(len(jobs)), key=lambda number: -sizes[number])
    results = spread(lambda number: convert_job(jobs[number], order, target, spool), first_to_last, count)
    for job, result in zip(jobs, results, strict=True):
        yield job, result if isinstance(result, Report) else _died(job)


def _died(job: Job) -> Report:
    """Return the report of a job whose process died (out of memory, killed): a fault like any other."""
    report = Report(files=1)
    report.error("output-failed", "the process that converted it died", job.name)
    return report
