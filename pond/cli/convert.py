"""`pond convert`: sessions in, sessions out."""

import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from pond.cli.losses import show_losses, show_moved, show_resumes, write_losses
from pond.cli.show import Progress, print_json, show_faults, summary
from pond.codec.batch import (
    Job,
    convert_child,
    converted_into,
    expand,
    is_directory,
    place_beside,
    run_jobs,
    with_families,
)
from pond.codec.convert import Input, Order, Written, open_input, write_canonical, write_native
from pond.codec.output import NewFile, failed
from pond.codec.registry import CANONICAL, clients
from pond.codec.report import Report
from pond.diagnostics.diagnostic import Diagnostic, SourceFault, UsageError


def run(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="INPUT...", help="Files, directories (a client's store), or - for standard input."),
    ],
    to: Annotated[str, typer.Option("--to", metavar="CLIENT", help="The client to write for, or `canonical`.")],
    client: Annotated[
        str | None,
        typer.Option("--from", metavar="CLIENT", help="The client that wrote the input; detected when absent."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="OUT", help="A file for one session, a directory for several."),
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="The project of a session whose source names none.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON (on stdout with -o, else on stderr).")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", help="Processes for a directory; all cores when absent.")
    ] = None,
    keep_origin: Annotated[
        bool,
        typer.Option("--keep-origin", help="Let the session's own records ride along, so that the way back is exact."),
    ] = False,
    map_path: Annotated[
        list[str] | None,
        typer.Option("--map-path", metavar="OLD=NEW", help="Paths below OLD become paths below NEW; repeatable."),
    ] = None,
    loss_report: Annotated[
        str | None,
        typer.Option("--loss-report", metavar="FILE", help="Name every value another client cannot hold (JSONL)."),
    ] = None,
    on_loss: Annotated[
        str,
        typer.Option("--on-loss", metavar="warn|raise|ignore", help="What to do when conversation would be lost."),
    ] = "warn",
) -> int:
    """Turn sessions into canonical events, into their own client's files again, or into another client's sessions."""
    known = [*clients(), CANONICAL]
    for name in (to, client):
        if name is not None and name not in known:
            raise UsageError(Diagnostic("usage", f"unknown client `{name}`", help=f"known: {', '.join(known)}"))
    if on_loss not in _ON_LOSS:
        raise UsageError(Diagnostic("usage", f"unknown --on-loss `{on_loss}`", help=f"one of {', '.join(_ON_LOSS)}"))
    order = Order(to, client, project, on_loss, keep_origin, _paths(map_path or []))
    report = Report()
    found = expand(inputs, report)
    several = len(found) > 1 or any(job.folder for job in found)
    code = 2 if any(d.span and d.span.file in inputs for d in report.diagnostics) else 0  # an input named is not there
    if several or (output is not None and is_directory(output)):
        _many(found, replace(order, defer=True), output, report, jobs)
    elif found:
        (named, *family), order = with_families(found, order)
        code = max(code, _one(named, order, output, report))
        _children(family, order, output, report)
    if loss_report is not None:
        write_losses(report, Path(loss_report))
    if json:
        print_json(summary(report), sys.stdout if output else sys.stderr)
    else:
        show_faults(report)
        show_moved(report, order.paths)
        if on_loss == "warn":
            show_losses(report, loss_report is not None)
        show_resumes(report, output)
    return code or (2 if _unusable(report) else 1 if report.errors else 0)


_ON_LOSS = ("warn", "raise", "ignore")


def _paths(pairs: list[str]) -> tuple[tuple[str, str], ...]:
    """Return the directories that `OLD=NEW` texts name."""
    for pair in pairs:
        old, equals, new = pair.partition("=")
        if not (equals and old.strip("/") and new):
            raise UsageError(Diagnostic("usage", f"`--map-path {pair}` is not OLD=NEW", help="both are directories"))
    return tuple((pair.partition("=")[0], pair.partition("=")[2]) for pair in pairs)


def _unusable(report: Report) -> bool:
    """Tell whether the request itself cannot be carried out: nothing could be read, or the target cannot take it."""
    return report.errors > 0 and (report.sessions == 0 or any(d.code.startswith("usage") for d in report.diagnostics))


def _one(job: Job, order: Order, output: str | None, report: Report) -> int:
    """Convert one input to standard output or to the file named."""
    try:
        with job.open() as file:
            report.files += 1
            source = open_input(file, job.name, job.path, order, report)
            if output is None:
                written = _stream(source, order, sys.stdout.buffer, report)
                for extra in written.beside:
                    print(
                        f"pond: `{extra.name}` lies beside the session and does not fit in a stream; use -o",
                        file=sys.stderr,
                    )
                return 0
            with NewFile(Path(output)) as out:
                written = _stream(source, order, out, report)
            place_beside(Path(output), written)
    except SourceFault as fault:
        report.diagnostics += fault.diagnostics
        return 1 if fault.diagnostics[0].code.startswith("output") else 0
    return 0


def _children(family: list[Job], order: Order, output: str | None, report: Report) -> None:
    """Write the children of the one session beside it; name those that a stream cannot hold."""
    if not report.resumes or not family:
        return
    for job in family:
        if output is None:
            report.losses[0].add("children-left-out", "", what=job.name)
        else:
            convert_child(job, order, Path(output), report.resumes[0].place, report)


def _stream(source: Input, order: Order, out: BinaryIO, report: Report) -> Written:
    """Write the one session of an input; return what belongs beside it."""
    written = Written([])
    size = source.source.path.stat().st_size if source.source.path else 0
    progress = Progress(size, "converting")
    try:
        for number, session in enumerate(source.sessions):
            if order.to == CANONICAL:
                write_canonical(session, out, progress.at)
            elif number:
                raise UsageError(
                    Diagnostic(
                        "output-several", "the input holds several sessions", help="name a directory with -o DIR/"
                    )
                )
            else:
                written = write_native(session, out, report, source.source.name, progress.at)
        out.flush()
        return written
    except BrokenPipeError:
        raise
    except OSError as error:
        raise failed("standard output" if out is sys.stdout.buffer else "output", error) from None
    finally:
        progress.end()


def _many(found: list[Job], order: Order, output: str | None, report: Report, jobs: int | None) -> None:
    """Convert several inputs into a directory, or (canonical only) one after the other to standard output."""
    if output is None and order.to != CANONICAL:
        raise UsageError(
            Diagnostic(
                "output-several", "several sessions cannot go to standard output", help="name a directory with -o DIR"
            )
        )
    progress = Progress(sum(job.size for job in found), "converting")
    with tempfile.TemporaryDirectory(prefix="pond-") as spool:
        target = Path(output) if output is not None else None
        if target is not None and target.exists() and not target.is_dir():
            raise UsageError(Diagnostic("usage", f"`{output}` is not a directory", help="several sessions need one"))
        done = 0
        try:
            for job, result in run_jobs(found, order, target, Path(spool), jobs):
                report.add(result)
                done += job.size
                progress.at(done)
                if target is None and (made := converted_into(job, Path(spool))) is not None:
                    with open(made, "rb") as file:
                        shutil.copyfileobj(file, sys.stdout.buffer)
                    made.unlink()
            if target is None:
                sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise failed("standard output", error) from None
        finally:
            progress.end()
