"""`pond restore`: sessions of the lake as a client's own files."""

from typing import Annotated

import typer

from pond.cli.config import Lake
from pond.cli.conversion import KeepOrigin, LossReport, MapPath, Note, OnLoss, answering, order_of, tell
from pond.cli.terminal import say
from pond.codec.registry import CANONICAL
from pond.config.load import load
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.visible import one_line_of
from pond.operations.convert import check, target_directory
from pond.operations.listing import check_client
from pond.operations.restore import RestoreRequest, restore, restore_stream
from pond.operations.service import Service
from pond.restore.restoring import OWN, Restored


def run(
    sessions: Annotated[
        list[str] | None,
        typer.Argument(metavar="SESSION...", help="Session ids, or unique prefixes."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="CLIENT", help="The client to write for, or `canonical`; by default the own one."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="DIR", help="The directory to write to; `canonical` needs none."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Restore every session in the lake.")] = False,
    project: Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="With --all: only sessions of this project.")
    ] = None,
    client: Annotated[
        str | None, typer.Option("--client", metavar="CLIENT", help="With --all: only sessions of this client.")
    ] = None,
    lake: Lake = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON, to stderr unless -o is given.")
    ] = False,
    keep_origin: KeepOrigin = False,
    map_path: MapPath = None,
    loss_report: LossReport = None,
    on_loss: OnLoss = "warn",
    note: Note = True,
) -> int:
    order = order_of(OWN if to is None else to, on_loss, keep_origin, map_path, note=note, output=output)
    check(order, OWN)
    if output is None and order.to != CANONICAL:
        raise _refusal("restoring a session needs a directory to write to", "name it with -o DIR")
    target = target_directory(output) if output is not None else None
    _check(sessions, everything, project, client)
    service = Service(load({"lake": lake}))
    check_client(service, client)
    request = RestoreRequest(order, sessions or [], everything, project, client)
    made: list[Restored] = []
    with answering() as out:
        if target is None:
            report = restore_stream(service, request, out)
        else:
            running = restore(service, request, target)
            report = running.report
            for one in running.made:
                made.append(one)
                if not json:
                    say(one_line_of(str(one.path)))
    written = [{"session": one.session_id, "client": one.client, "path": str(one.path)} for one in made]
    return tell(report, order, output, loss_report, {"written": written} if json else None)


def _check(sessions: list[str] | None, everything: bool, project: str | None, client: str | None) -> None:
    if everything == bool(sessions):
        raise _refusal("expected sessions, or --all", "`pond list` shows what is there")
    if not everything and (project or client):
        raise _refusal("--project and --client only work with --all", "add --all, or leave them out")


def _refusal(message: str, help: str) -> UsageError:
    return UsageError(Diagnostic("usage", message, help=help))
