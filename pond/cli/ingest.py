"""`pond ingest`: sessions into the lake."""

import os
import sys
from typing import Annotated

import typer

from pond.cli.config import Lake
from pond.cli.ingested import as_json, exit_code, show
from pond.cli.show import Watching, print_json
from pond.codec.registry import CANONICAL, client_named, clients
from pond.config.load import load
from pond.diagnostics.nearest import unknown
from pond.intake.request import Request
from pond.operations.service import Service
from pond.operations.sync import ingest_files


def run(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...", help="Session files, directories (a client's store), or - for standard input."
        ),
    ],
    client: Annotated[
        str | None,
        typer.Option("--client", metavar="CLIENT", help="The client that wrote them; detected if not given."),
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="The project of sessions that do not name one.")
    ] = None,
    lake: Lake = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what is new, and store nothing.")] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", help="Number of processes; all cores if not given.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> int:
    known = [*clients(), CANONICAL]
    if client is not None and client_named(client) not in known:
        raise unknown("client", client, known)
    request = Request([(text, client) for text in inputs], project, dry_run, processes=jobs)
    service = Service(load({"lake": lake}))
    with Watching() as watch:
        summary = ingest_files(service, request, watch)
    if not any(summary.files.values()) and not summary.report.sessions and not summary.report.errors:
        summary.report.nothing_found(inputs)
    if json:
        print_json(as_json(summary), sys.stdout)
    else:
        show(summary, dry_run)
    missing = any(text != "-" and not os.path.lexists(text) for text in inputs)
    return exit_code(summary, missing)
