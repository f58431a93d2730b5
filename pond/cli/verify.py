"""`pond verify`: the round trip, proved on the person's own files."""

import sys
from typing import Annotated

import typer

from pond.cli.show import Watching, drift_line, print_json, summary
from pond.cli.terminal import say
from pond.codec.report import Report
from pond.codec.verify import Verdict
from pond.diagnostics.render import one_line
from pond.operations.verify import VerifyRequest, verify


def run(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Session files or directories.")],
    client: Annotated[
        str | None, typer.Option("--from", metavar="CLIENT", help="The client that wrote them; detected if not given.")
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="The project of sessions that do not name one.")
    ] = None,
    lake: Annotated[
        bool, typer.Option("--through-lake", help="Store the files step by step in a scratch lake first.")
    ] = False,
    steps: Annotated[int, typer.Option("--steps", metavar="N", help="With --through-lake: the number of steps.")] = 3,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="With --through-lake: the random seed for the steps.")
    ] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    request = VerifyRequest(paths, client, project, steps if lake else None, seed)
    with Watching() as watch:
        found = verify(request, watch)
    nothing = not any(total.records for total in found.totals.values())
    if nothing and not found.report.faults:
        found.report.nothing_found(paths)
    if json:
        rows = {name: _row(total) for name, total in sorted(found.totals.items())}
        print_json({"clients": rows, **summary(found.report)}, sys.stdout)
    else:
        _table(found.totals, found.report)
    if found.missing or found.unusable or (nothing and found.report.errors):
        return 2
    return 1 if found.different or found.report.errors else 0


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
            say(f"{name}: kept, though the mapping does not name it: {drift_line(total.report.drift)}")
    warnings = [d for d in report.faults if d.severity != "error"]
    for diagnostic in warnings:
        if not diagnostic.path:
            say(one_line(diagnostic))
    if values := [d for d in warnings if d.path]:
        counted = sum(d.count for d in values)
        say(f"{counted} values have a different type than the mapping expects; they are kept unchanged. The first:")
        say(f"  {one_line(values[0])}")
    everything = sum(t.records for t in totals.values())
    equal = sum(t.equal for t in totals.values())
    if everything:
        say(f"{equal} of {everything} records came back value-equal.")
