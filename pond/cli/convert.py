"""`pond convert`: sessions in, sessions out."""

from typing import Annotated

import typer

from pond.cli.conversion import KeepOrigin, LossReport, MapPath, Note, OnLoss, answering, order_of, tell
from pond.cli.show import Watching
from pond.cli.terminal import warn
from pond.diagnostics.visible import one_line_of
from pond.operations.convert import ConvertRequest, convert


def run(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...", help="Session files, directories (a client's store), or - for standard input."
        ),
    ],
    to: Annotated[str, typer.Option("--to", metavar="CLIENT", help="The client to write for, or `canonical`.")],
    client: Annotated[
        str | None,
        typer.Option("--from", metavar="CLIENT", help="The client that wrote the input; detected if not given."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="OUT", help="A file for one session, a directory for several."),
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="The project of sessions that do not name one.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON, to stderr unless -o is given.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", help="Number of processes for a directory; all cores if not given."),
    ] = None,
    keep_origin: KeepOrigin = False,
    map_path: MapPath = None,
    loss_report: LossReport = None,
    on_loss: OnLoss = "warn",
    note: Note = True,
) -> int:
    order = order_of(to, on_loss, keep_origin, map_path, client, project, note, output)
    request = ConvertRequest(inputs, order, output, jobs)
    with Watching() as watch, answering() as out:
        done = convert(request, out, watch)
    for name in map(one_line_of, done.beside):
        warn(f"pond: `{name}` belongs to the session and does not fit into a stream; use -o")
    code = 2 if done.missing else 1 if done.not_written else 0
    told = tell(done.report, order, output, loss_report, {} if json else None)
    return code or told
