"""The proof on a person's own files: what is written back, or comes out of a lake, has every value it had."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pond.codec.finding import FoundSource, expand
from pond.codec.registry import CANONICAL, adapter, client_named
from pond.codec.report import Report
from pond.codec.verify import UNKNOWN, Verdict, verify_job
from pond.config.process import may_fork
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.progress import Progress, Watch, unwatched

if TYPE_CHECKING:  # only a lake stores anything
    from pond.config.settings import Settings
    from pond.intake.request import Request

_WORTH_A_PROCESS = 1_000_000


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """Read files or folders, write their records back and compare; with `steps`, let them grow through a lake first."""

    paths: Sequence[str]
    client: str | None = None
    project: str | None = None
    steps: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "client", client_named(self.client))


@dataclass(slots=True)
class Verified:
    """What was compared, by client."""

    totals: dict[str, Verdict] = field(default_factory=dict)
    report: Report = field(default_factory=Report)
    missing: bool = False  # a named path does not exist

    @property
    def different(self) -> bool:
        """Tell whether a record came back changed."""
        return any(total.equal < total.records for total in self.totals.values())

    @property
    def unusable(self) -> bool:
        """Tell whether no client's file could be read."""
        return bool(self.report.errors) and {*self.totals} == {UNKNOWN}


def verify(request: VerifyRequest, watch: Watch = unwatched) -> Verified:
    """Compare every file with what comes back; raise UsageError where none of the paths is there."""
    if request.client is not None and request.client != CANONICAL:
        adapter(request.client)
    found = Verified()
    jobs = expand(list(request.paths), found.report)
    missing = [d for d in found.report.diagnostics if d.span and d.span.file in request.paths]
    found.missing = bool(missing)
    if missing and not jobs:
        raise UsageError(*missing)
    total, done = sum(job.size for job in jobs), 0
    verdicts = _through_lake(jobs, request, watch) if request.steps is not None else _verdicts(jobs, request)
    for job, verdict in verdicts:
        sums = found.totals.setdefault(verdict.client, Verdict(verdict.client))
        sums.records += verdict.records
        sums.equal += verdict.equal
        sums.report.add(verdict.report)
        found.report.add(verdict.report)
        done += job.size
        watch(Progress("verifying", done, total))
    return found


def _verdicts(jobs: list[FoundSource], request: VerifyRequest) -> Iterator[tuple[FoundSource, Verdict]]:
    if len(jobs) < 2 or not may_fork() or sum(job.size for job in jobs) < _WORTH_A_PROCESS:
        for job in jobs:
            yield job, verify_job(job, request.client, request.project)
        return
    from pond.codec.workers import spread  # a small store needs none of it

    count = min(os.cpu_count() or 1, len(jobs))
    work = spread(lambda number: verify_job(jobs[number], request.client, request.project), range(len(jobs)), count)
    for job, verdict in zip(jobs, work, strict=True):
        yield job, verdict if isinstance(verdict, Verdict) else _died(job)


def _died(job: FoundSource) -> Verdict:
    verdict = Verdict(report=Report(files=1))
    verdict.report.error("source-unreadable", "the process that verified it crashed", job.name)
    return verdict


def _is_file(job: FoundSource) -> bool:
    return job.path is not None and os.path.isfile(job.path)


def _through_lake(
    jobs: list[FoundSource], request: VerifyRequest, watch: Watch
) -> Iterator[tuple[FoundSource, Verdict]]:
    assert request.steps is not None
    if request.steps < 1 or any(job.path is None for job in jobs):
        raise UsageError(
            Diagnostic("usage", "verifying through a lake takes files and directories, and at least one step")
        )
    from pond.intake.ingest import ingest  # Lance takes a second to load
    from pond.lake.through_lake import Wish, through_lake

    def take(settings: Settings, wanted: Request) -> None:
        ingest(settings, wanted, lambda done, total, so_far: watch(Progress("storing", done, total, so_far)))

    # What is not a file has no records that could grow: it is checked as it is.
    yield from ((job, verify_job(job, request.client, request.project)) for job in jobs if not _is_file(job))
    paths = {job.path: job for job in jobs if job.path is not None and _is_file(job)}
    wish = Wish(request.client, request.project, request.steps, request.seed)
    for path, verdict in through_lake(list(paths), wish, take):
        yield paths[path], verdict
