"""`pond export`: sessions of the lake in one file."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from pond.cli.config import Lake
from pond.cli.show import Watching, print_json
from pond.cli.terminal import note
from pond.cli.times import since, until
from pond.config.load import load
from pond.diagnostics.visible import one_line_of
from pond.lake.times import instant
from pond.operations.archive import ExportRequest, export
from pond.operations.listing import check_client
from pond.operations.service import Service


def run(
    sessions: Annotated[
        list[str],
        typer.Argument(
            metavar="[SESSION]...",
            help="Session ids or unique prefixes; all sessions if none is given.",
            default_factory=list,
            show_default=False,
        ),
    ],
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE.pond", help="The archive to write.")],
    project: Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="Sessions of this project directory, or below it.")
    ] = None,
    client: Annotated[str | None, typer.Option("--client", metavar="CLIENT", help="Sessions of this client.")] = None,
    since: Annotated[str | None, since("Sessions that started")] = None,
    until: Annotated[str | None, until("Sessions that started")] = None,
    lake: Lake = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    request = ExportRequest(Path(output), tuple(sessions), project, client, _micros(since), _micros(until))
    service = Service(load({"lake": lake}))
    check_client(service, client)
    with Watching() as watch:
        done = export(service, request, watch)
    if json:
        counts = {"sessions": done.sessions, "messages": done.messages, "parts": done.parts}
        print_json({"archive": output, **counts, "bytes": done.bytes}, sys.stdout)
    else:
        rows = f"{done.sessions} sessions, {done.messages} messages, {done.parts} parts"
        note(f"{one_line_of(output)}: {rows}, {done.bytes / 1e6:.1f} MB")
    return 0


def _micros(text: str | None) -> int | None:
    return None if text is None else instant(text, datetime.now(UTC))
