"""Session files into session files: one input to a stream or a file, many into a directory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from pond.codec.alone import Alone
from pond.codec.batch import converted_into, is_directory, run_jobs, staging
from pond.codec.finding import FoundSource, expand
from pond.codec.opening import Input, open_input
from pond.codec.output import NewFile, failed
from pond.codec.placing import note_resume, put_beside, refuse_empty
from pond.codec.registry import CANONICAL, clients
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.session import Written
from pond.codec.surprise import contained
from pond.codec.writing import write_session
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.nearest import unknown
from pond.diagnostics.progress import Progress, Watch, unwatched

_WHAT = "converting"
ON_LOSS = ("warn", "raise", "ignore")


@dataclass(frozen=True, slots=True)
class ConvertRequest:
    """Convert files, folders or `-`; `output` is a file or a directory, None a stream."""

    inputs: Sequence[str]
    order: ConversionRequest
    output: str | None = None
    processes: int | None = None


@dataclass(slots=True)
class Converted:
    """What a conversion did."""

    report: Report = field(default_factory=Report)
    missing: bool = False  # a named input does not exist
    not_written: bool = False  # the one output could not be written
    beside: list[str] = field(default_factory=list)  # files that belong beside a session, and do not fit into a stream


def convert(request: ConvertRequest, out: BinaryIO, watch: Watch = unwatched) -> Converted:
    """Convert every input; what goes to no file goes to `out`. Raise UsageError if the request makes no sense."""
    check(request.order)
    done = Converted()
    found = expand(list(request.inputs), done.report)
    done.missing = any(d.span and d.span.file in request.inputs for d in done.report.diagnostics)
    several = len(found) > 1 or any(job.folder for job in found)
    if several or (request.output is not None and is_directory(request.output)):
        _many(found, request, out, done.report, watch)
    elif found:
        file = Path(request.output) if request.output is not None else None
        with staging(file.parent if file is not None else Path()) as stage:
            alone = Alone(found[0], request.order, stage if file is not None else None)
            _one(found[0], alone, request, out, done, watch)
            alone.bring_children(file, done.report)
    return done


def check(order: ConversionRequest, *others: str) -> None:
    """Raise UsageError for an unknown client or loss policy; `others` are further allowed targets."""
    known = [*clients(), CANONICAL]
    for name, allowed in ((order.to, (*known, *others)), (order.client, (*known, None))):
        if name not in allowed:
            raise unknown("client", name or "", known)
    if order.on_loss not in ON_LOSS:
        raise unknown("on-loss", order.on_loss, ON_LOSS)


def target_directory(output: str) -> Path:
    """Return the directory for sessions, made with the first file; raise if it is something else."""
    if os.path.lexists(output) and not os.path.isdir(output):
        raise UsageError(Diagnostic("usage", f"`{output}` is not a directory", help="several sessions need one"))
    return Path(output)


def _one(job: FoundSource, alone: Alone, request: ConvertRequest, out: BinaryIO, done: Converted, watch: Watch) -> None:
    """Convert one input to the stream or to the named file."""
    order, output, report = request.order, request.output, done.report
    with contained(report, job.name, BrokenPipeError, UsageError), job.open() as opened:
        report.files += 1
        source = open_input(opened, order, report)
        if output is None:
            written = _stream(source, alone, order.to, out, report, "standard output", watch)
            done.beside = list(dict.fromkeys(extra.name for extra in written.beside))
            if report.losses:  # a session on its way back to its client continues in a pipe, not on a screen
                note_resume(written.resume, "", report)
            return
        with NewFile(Path(output)) as new:
            written = _stream(source, alone, order.to, new, report, output, watch)
            refuse_empty(new, job.name, job.name)
        put_beside(Path(output), written, "", report)
        note_resume(written.resume, "", report)
    done.not_written = any(d.code.startswith("output") and d.severity == "error" for d in report.diagnostics)


def _stream(
    source: Input, alone: Alone, to: str, out: BinaryIO, report: Report, called: str, watch: Watch
) -> Written:  # fmt: skip
    """Write the one session of an input; return what belongs beside it."""
    written = Written([])
    size = source.source.path.stat().st_size if source.source.path else 0

    def tick(done: int) -> None:
        watch(Progress(_WHAT, done, size))

    try:
        for number, session in enumerate(alone.sessions(source, report)):
            if number and to != CANONICAL:
                help = "write into a directory"
                raise UsageError(Diagnostic("output-several", "the input holds several sessions", help=help))
            written = write_session(session, to, out, report, source.source.name, tick)
        out.flush()
        return written
    except BrokenPipeError:
        raise
    except OSError as error:
        raise failed(called, error) from None


def _many(found: list[FoundSource], request: ConvertRequest, out: BinaryIO, report: Report, watch: Watch) -> None:
    """Convert several inputs into a directory, or (canonical only) one after the other to the stream."""
    order = request.order
    if request.output is None and order.to != CANONICAL:
        help = "write into a directory"
        raise UsageError(Diagnostic("output-several", "several sessions do not fit in one stream", help=help))
    target = target_directory(request.output) if request.output is not None else None
    total, done = sum(job.size for job in found), 0
    with tempfile.TemporaryDirectory(prefix="pond-") as spool:
        for job, result in run_jobs(found, order, target, Path(spool), request.processes):
            report.add(result)
            done += job.size
            watch(Progress(_WHAT, done, total))
            if target is None and (made := converted_into(job, Path(spool))) is not None:
                with open(made, "rb") as file:
                    shutil.copyfileobj(file, out)
                made.unlink()
