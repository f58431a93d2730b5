"""`pond restore`: sessions of the lake as a client's own files."""

from typing import Annotated

import typer

from pond.cli.conversion import KeepOrigin, LossReport, MapPath, Note, OnLoss, answering, order_of, tell
from pond.cli.terminal import say
from pond.codec.registry import CANONICAL
from pond.config.load import load
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.visible import one_line_of
from pond.operations.convert import check, target_directory
from pond.operations.restore import RestoreRequest, restore, restore_stream
from pond.operations.service import Service
from pond.restore.restoring import OWN, Restored


def run(
    sessions: Annotated[
        list[str] | None,
        typer.Argument(metavar="SESSION...", help="Ids of stored sessions, or unambiguous beginnings of them."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="CLIENT", help="The client to write for, or `canonical`; each its own if absent."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="DIR", help="The directory to write into; `canonical` needs none."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Restore every session of the lake.")] = False,
    project: Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="With --all: only sessions of this project.")
    ] = None,
    client: Annotated[
        str | None, typer.Option("--client", metavar="CLIENT", help="With --all: only sessions of this client.")
    ] = None,
    lake: Annotated[str | None, typer.Option("--lake", metavar="PLACE", help="The lake to read from.")] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON (on stdout with -o, else on stderr).")
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
        raise _refusal("a client's sessions are files and need a directory", "name it with -o DIR")
    target = target_directory(output) if output is not None else None
    _check(sessions, everything, project, client)
    service = Service(load({"lake": lake}))
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
        raise _refusal("--project and --client choose among all sessions", "use them with --all")


def _refusal(message: str, help: str) -> UsageError:
    return UsageError(Diagnostic("usage", message, help=help))
