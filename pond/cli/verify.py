"""`pond verify`: the round trip, proved on the person's own files."""

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from pond.cli.show import Progress, drift_line, print_json, summary
from pond.cli.terminal import say
from pond.codec.finding import Found, expand
from pond.codec.report import Report
from pond.codec.verify import UNKNOWN, Verdict, verify_job
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.render import one_line

if TYPE_CHECKING:  # only `--through-lake` stores anything
    from pond.config.settings import Settings
    from pond.intake.request import Request

_WORTH_A_PROCESS = 1_000_000


def run(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Session files or directories.")],
    client: Annotated[
        str | None, typer.Option("--from", metavar="CLIENT", help="The client that wrote them; detected when absent.")
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="The project of sessions that name none.")
    ] = None,
    lake: Annotated[
        bool, typer.Option("--through-lake", help="Let the files grow into a scratch lake first, side by side.")
    ] = False,
    steps: Annotated[int, typer.Option("--steps", metavar="N", help="With --through-lake: in how many steps.")] = 3,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="With --through-lake: decides every cut.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    """Prove on your own files that the round trip through canonical, or through a lake, changes no value."""
    report = Report()
    jobs = expand(paths, report)
    missing = [d for d in report.diagnostics if d.span and d.span.file in paths]
    if missing and not jobs:
        raise UsageError(*missing)
    totals: dict[str, Verdict] = {}
    files: dict[str, int] = {}
    progress = Progress(sum(job.size for job in jobs), "verifying")
    done = 0
    for job, verdict in _through_lake(jobs, client, project, steps, seed) if lake else _verdicts(jobs, client, project):
        total = totals.setdefault(verdict.client, Verdict(verdict.client))
        total.records += verdict.records
        total.equal += verdict.equal
        total.report.add(verdict.report)
        files[verdict.client] = files.get(verdict.client, 0) + 1
        report.add(verdict.report)
        done += job.size
        progress.at(done)
    progress.end()
    different = any(total.equal < total.records for total in totals.values())
    if json:
        print_json(
            {"clients": {name: _row(total) for name, total in sorted(totals.items())}, **summary(report)}, sys.stdout
        )
    else:
        _table(totals, report)
    if missing or (report.errors and {*totals} == {UNKNOWN}):
        return 2
    return 1 if different or report.errors else 0


def _verdicts(jobs: list[Found], client: str | None, project: str | None) -> Iterator[tuple[Found, Verdict]]:
    if len(jobs) < 2 or not hasattr(os, "fork") or sum(job.size for job in jobs) < _WORTH_A_PROCESS:
        for job in jobs:
            yield job, verify_job(job, client, project)
        return
    from pond.codec.workers import spread  # a small store needs none of it

    count = min(os.cpu_count() or 1, len(jobs))
    verdicts = spread(lambda number: verify_job(jobs[number], client, project), range(len(jobs)), count)
    for job, verdict in zip(jobs, verdicts, strict=True):
        yield job, verdict if isinstance(verdict, Verdict) else _died(job)


def _through_lake(
    jobs: list[Found], client: str | None, project: str | None, steps: int, seed: int
) -> Iterator[tuple[Found, Verdict]]:
    if steps < 1 or any(job.path is None for job in jobs):
        raise UsageError(Diagnostic("usage", "through a lake go files and directories, in one step or more"))
    from pond.intake.ingest import ingest  # Lance takes a second to load
    from pond.operations.through_lake import Wish, through_lake

    def take(settings: "Settings", request: "Request") -> None:
        progress = Progress(0, "storing")
        try:
            ingest(settings, request, progress.of)
        finally:
            progress.end()

    paths = {job.path: job for job in jobs if job.path is not None}
    for path, verdict in through_lake(list(paths), Wish(client, project, steps, seed), take):
        yield paths[path], verdict


def _died(job: Found) -> Verdict:
    verdict = Verdict(report=Report(files=1))
    verdict.report.error("source-unreadable", "the process that verified it died", job.name)
    return verdict


def _row(total: Verdict) -> dict[str, object]:
    return {
        "files": total.report.files,
        "records": total.records,
        "equal": total.equal,
        "faults": total.report.errors,
        "unnamed": dict(sorted(total.report.drift.items())),
    }


def _table(totals: dict[str, Verdict], report: Report) -> None:
    say(f"{'client':<14}{'files':>8}{'records':>10}{'equal':>10}{'faults':>8}{'unnamed':>9}")
    for name, total in sorted(totals.items()):
        faults, unnamed = total.report.errors, len(total.report.drift)
        say(f"{name:<14}{total.report.files:>8}{total.records:>10}{total.equal:>10}{faults:>8}{unnamed:>9}")
    for diagnostic in report.faults:
        if diagnostic.severity == "error":
            say(one_line(diagnostic))
    for name, total in sorted(totals.items()):
        if total.report.drift:
            say(f"{name}: carried, not named by the mapping: {drift_line(total.report.drift)}")
    warnings = [d for d in report.faults if d.severity != "error"]
    for diagnostic in warnings:
        if not diagnostic.path:
            say(one_line(diagnostic))
    if values := [d for d in warnings if d.path]:
        counted = sum(d.count for d in values)
        say(f"{counted} values did not have the type the mapping expects; they were kept as they are. First:")
        say(f"  {one_line(values[0])}")
    everything = sum(t.records for t in totals.values())
    equal = sum(t.equal for t in totals.values())
    say(f"{equal} of {everything} records came back value-equal." if everything else _nothing())


def _nothing() -> str:
    return one_line(Diagnostic("source-none", "no session was found"))
