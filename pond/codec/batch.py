"""Many inputs at once: a directory, spread over all cores, in a fixed order."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pond.codec.convert import ConvertedInput, Targets, convert_input, settle, spooled
from pond.codec.finding import FoundSource
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.config.process import may_fork
from pond.diagnostics.diagnostic import Diagnostic

# Below this much input a second process costs more than it gains.
_WORTH_A_PROCESS = 2_000_000


def is_directory(output: str) -> bool:
    """Tell whether an output name means a directory."""
    return output.endswith("/") or os.path.isdir(output)


def convert_job(job: FoundSource, request: ConversionRequest, target: Path | None, spool: Path) -> Report:
    """Convert one input alone to its location in `target` (or in the spool); errors are in the report."""
    with staging(target or spool) as stage:
        return settle(convert_input(job, request, Targets(target, spool, stage)), {}, target)


@contextmanager
def staging(target: Path) -> Iterator[Path]:
    """Return the name of a folder for waiting files, on the file system of a folder; it is removed afterwards."""
    stage = target / f".pond-{os.urandom(8).hex()}"
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def converted_into(job: FoundSource, spool: Path) -> Path | None:
    """Return the spooled output of a finished job, or None if there is none."""
    made = spooled(job, spool)
    return made if made.exists() else None


def run_jobs(
    jobs: list[FoundSource], request: ConversionRequest, target: Path | None, spool: Path, processes: int | None
) -> Generator[tuple[FoundSource, Report], None, None]:
    """Yield every job with its report, in input order, using all cores if the input is large enough.

    Sessions for another client come last, when their families are known, with the children of every named file.
    """
    waiting: list[tuple[FoundSource, ConvertedInput]] = []
    with staging(target or spool) as stage:
        to = Targets(target, spool, stage)
        for job, done in _run(jobs, request, to, processes):
            if done.waiting:
                waiting.append((job, done))
            else:
                yield job, done.report
        if waiting:
            family = _children(jobs, (child for _, done in waiting for child in done.children))
            waiting += _run(family, request, to, processes)
            too_deep = _too_deep((done for _, done in waiting), request.to)
            for job, done in waiting:
                yield job, settle(done, too_deep, target)


def _children(jobs: list[FoundSource], paths: Iterable[Path]) -> list[FoundSource]:
    """Return the children that were not named as jobs of their own."""
    known = {path.absolute() for job in jobs if (path := job.path) is not None}
    new = [path for path in paths if path.absolute() not in known]
    return [FoundSource(path, str(path), number=len(jobs) + number, child=True) for number, path in enumerate(new)]


def _too_deep(done: Iterable[ConvertedInput], target: str) -> dict[str, Diagnostic]:
    from pond.codec.lineage import too_deep  # a quick start: most conversions are native

    return too_deep((member for each in done for waiting in each.waiting for member in waiting.report.members), target)


def _run(
    jobs: list[FoundSource], request: ConversionRequest, to: Targets, processes: int | None
) -> Iterator[tuple[FoundSource, ConvertedInput]]:
    sizes = [job.size for job in jobs]
    count = min(processes or os.cpu_count() or 1, len(jobs))
    if count < 2 or not may_fork() or (processes is None and sum(sizes) < _WORTH_A_PROCESS):
        for job in jobs:
            yield job, convert_input(job, request, to)
        return
    from pond.codec.workers import spread  # a quick start: a small store needs none of it

    # Largest first: the cores then finish together.
    first_to_last = sorted(range(len(jobs)), key=lambda number: -sizes[number])
    results = spread(lambda number: convert_input(jobs[number], request, to), first_to_last, count)
    for job, result in zip(jobs, results, strict=True):
        yield job, result if isinstance(result, ConvertedInput) else _died(job)


def _died(job: FoundSource) -> ConvertedInput:
    """Return the report of a job whose process died (out of memory, killed): a fault like any other."""
    report = Report(files=1)
    report.error("output-failed", "the process that converted it crashed", job.name)
    return ConvertedInput(report)
