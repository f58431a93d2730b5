"""`pond convert`: sessions in, sessions out."""

import shutil
import tempfile
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from pond.cli.conversion import KeepOrigin, LossReport, MapPath, OnLoss, answering, order_of, target_directory, tell
from pond.cli.show import Progress
from pond.cli.terminal import json_out, warn
from pond.codec.alone import Alone
from pond.codec.batch import converted_into, is_directory, run_jobs, staging
from pond.codec.finding import Found, expand
from pond.codec.opening import Input, open_input
from pond.codec.output import NewFile, failed
from pond.codec.placing import place_beside, refuse_empty
from pond.codec.registry import CANONICAL
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.session import Written
from pond.codec.surprise import contained
from pond.codec.writing import write_session
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.visible import one_line_of


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
    keep_origin: KeepOrigin = False,
    map_path: MapPath = None,
    loss_report: LossReport = None,
    on_loss: OnLoss = "warn",
) -> int:
    """Turn sessions into canonical events, into their own client's files again, or into another client's sessions."""
    order = order_of(to, on_loss, keep_origin, map_path, client, project)
    report = Report()
    found = expand(inputs, report)
    several = len(found) > 1 or any(job.folder for job in found)
    code = 2 if any(d.span and d.span.file in inputs for d in report.diagnostics) else 0  # an input named is not there
    if several or (output is not None and is_directory(output)):
        _many(found, order, output, report, jobs)
    elif found:
        file = Path(output) if output is not None else None
        with staging(file.parent if file is not None else Path()) as stage:
            alone = Alone(found[0], order, stage if file is not None else None)
            code = max(code, _one(found[0], alone, order, output, report))
            alone.bring_children(file, report)
    told = tell(report, order, output, loss_report, {} if json else None)
    return code or told


def _one(job: Found, alone: Alone, order: ConversionRequest, output: str | None, report: Report) -> int:
    """Convert one input to standard output or to the file named."""
    with contained(report, job.name, BrokenPipeError, UsageError), job.open() as opened:
        report.files += 1
        source = open_input(opened, order, report)
        if output is None:
            written = _stream(source, alone, order, json_out(), report, "standard output")
            for name in dict.fromkeys(one_line_of(extra.name) for extra in written.beside):
                warn(f"pond: `{name}` lies beside the session and does not fit in a stream; use -o")
            return 0
        with NewFile(Path(output)) as out:
            written = _stream(source, alone, order, out, report, output)
            refuse_empty(out, job.name, job.name)
        place_beside(Path(output), written, "", report)
    return 1 if any(d.code.startswith("output") and d.severity == "error" for d in report.diagnostics) else 0


def _stream(
    source: Input, alone: Alone, order: ConversionRequest, out: BinaryIO, report: Report, called: str
) -> Written:
    """Write the one session of an input; return what belongs beside it."""
    written = Written([])
    size = source.source.path.stat().st_size if source.source.path else 0
    progress = Progress(size, "converting")
    try:
        for number, session in enumerate(alone.sessions(source, report)):
            if number and order.to != CANONICAL:
                raise UsageError(
                    Diagnostic(
                        "output-several", "the input holds several sessions", help="name a directory with -o DIR/"
                    )
                )
            written = write_session(session, order.to, out, report, source.source.name, progress.at)
        out.flush()
        return written
    except BrokenPipeError:
        raise
    except OSError as error:
        raise failed(called, error) from None
    finally:
        progress.end()


def _many(found: list[Found], order: ConversionRequest, output: str | None, report: Report, jobs: int | None) -> None:
    """Convert several inputs into a directory, or (canonical only) one after the other to standard output."""
    if output is None and order.to != CANONICAL:
        raise UsageError(
            Diagnostic(
                "output-several", "several sessions cannot go to standard output", help="name a directory with -o DIR"
            )
        )
    progress = Progress(sum(job.size for job in found), "converting")
    target = target_directory(output) if output is not None else None
    done = 0
    with tempfile.TemporaryDirectory(prefix="pond-") as spool, answering() as out:
        try:
            for job, result in run_jobs(found, order, target, Path(spool), jobs):
                report.add(result)
                done += job.size
                progress.at(done)
                if target is None and (made := converted_into(job, Path(spool))) is not None:
                    with open(made, "rb") as file:
                        shutil.copyfileobj(file, out)
                    made.unlink()
        finally:
            progress.end()
