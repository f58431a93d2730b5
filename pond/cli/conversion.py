"""What `convert` and `restore` have in common at the prompt: how a target is asked for, and what is said afterwards."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from pond.cli.continuing import show_resumes
from pond.cli.losses import show_losses, show_moved, write_losses
from pond.cli.show import print_json, show_faults, summary
from pond.cli.terminal import json_out
from pond.codec.continuing import provider_of
from pond.codec.output import failed
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.diagnostics.diagnostic import Diagnostic, SourceFault, UsageError

KeepOrigin = Annotated[
    bool,
    typer.Option("--keep-origin", help="Include the session's own records, so that converting back is exact."),
]
MapPath = Annotated[
    list[str] | None,
    typer.Option(
        "--map-path", metavar="OLD=NEW", help="Replace paths below OLD by paths below NEW; may be given several times."
    ),
]
LossReport = Annotated[
    str | None,
    typer.Option(
        "--loss-report", metavar="FILE", help="Write every value that the other client cannot hold to a file (JSONL)."
    ),
]
Note = Annotated[
    bool,
    typer.Option("--note/--no-note", help="Say in a session that goes to another client where it comes from."),
]
OnLoss = Annotated[
    str,
    typer.Option(
        "--on-loss", metavar="warn|raise|ignore", help="What to do if part of the conversation would be lost."
    ),
]


def order_of(
    to: str, on_loss: str, keep_origin: bool, map_path: list[str] | None, client: str | None = None,
    project: str | None = None, note: bool = True, output: str | None = None,
) -> ConversionRequest:  # fmt: skip
    """Return what is asked of every session."""
    provider = provider_of(to, os.environ, output)
    return ConversionRequest(to, client, project, on_loss, keep_origin, _directories(map_path or []), note, provider)


def _directories(pairs: list[str]) -> tuple[tuple[str, str], ...]:
    """Return the directories that `OLD=NEW` texts name."""
    found = []
    for pair in pairs:
        old, equals, new = pair.partition("=")
        if not (equals and old.strip("/") and new):
            raise UsageError(
                Diagnostic(
                    "usage", f"`--map-path {pair}` is not of the form OLD=NEW", help="OLD and NEW are directories"
                )
            )
        found.append((old, new))
    return tuple(found)


@contextmanager
def answering() -> Iterator[BinaryIO]:
    """Give standard output for JSON text, and flush it at the end; a reader that went away is for `main` to hear of."""
    try:
        yield json_out()
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise failed("standard output", error) from None


def tell(
    report: Report, order: ConversionRequest, output: str | None, loss_report: str | None, json: dict[str, Any] | None
) -> int:  # fmt: skip
    """Say what happened, as JSON with these values besides where they are given; return the exit code."""
    if loss_report is not None:
        try:
            write_losses(report, Path(loss_report))
        except SourceFault as fault:  # what was converted is told all the same
            report.diagnostics += fault.diagnostics
    if json is not None:
        print_json({**summary(report), **json}, sys.stdout if output else sys.stderr)
    else:
        show_faults(report)
        show_moved(report, order.paths)
        if order.on_loss == "warn":
            show_losses(report, loss_report is not None)
        show_resumes(report, output)
    return 2 if _unusable(report) else 1 if report.errors else 0


def _unusable(report: Report) -> bool:
    """Tell whether the request itself cannot be carried out: nothing could be read, or the target cannot take it."""
    codes = {diagnostic.code for diagnostic in report.diagnostics}
    nothing = report.sessions == 0 and "internal" not in codes  # a mistake in pond is not the request's
    return report.errors > 0 and (nothing or any(code.startswith("usage") for code in codes))
