"""`pond export`: sessions of the lake in one file."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from pond.cli.show import Watching, print_json
from pond.cli.terminal import say
from pond.config.load import load
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.visible import one_line_of
from pond.operations.archive import ExportRequest, export
from pond.operations.service import Service


def run(
    sessions: Annotated[
        list[str],
        typer.Argument(
            metavar="SESSION",
            help="Sessions, each by its id or the beginning of one; all when absent.",
            default_factory=list,
            show_default=False,
        ),
    ],
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE.pond", help="The archive to write.")],
    project: Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="Only sessions of this project, or of one below it.")
    ] = None,
    client: Annotated[
        str | None, typer.Option("--client", metavar="CLIENT", help="Only sessions of this client.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only sessions that began then or later.")
    ] = None,
    lake: Annotated[str | None, typer.Option("--lake", metavar="PLACE", help="The lake to read.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    request = ExportRequest(Path(output), tuple(sessions), project, client, _micros(since))
    service = Service(load({"lake": lake}))
    with Watching() as watch:
        done = export(service, request, watch)
    if json:
        counts = {"sessions": done.sessions, "messages": done.messages, "parts": done.parts}
        print_json({"archive": output, **counts, "bytes": done.bytes}, sys.stdout)
    else:
        rows = f"{done.sessions} sessions, {done.messages} messages, {done.parts} parts"
        say(f"{one_line_of(output)}: {rows}, {done.bytes / 1e6:.1f} MB")
    return 0


def _micros(text: str | None) -> int | None:
    """Return the microseconds since 1970 of a day or a time; without an offset it is UTC."""
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        help = "a day (2026-03-14) or a time (2026-03-14T09:26Z)"
        raise UsageError(Diagnostic("usage", f"expected a time, found `{text}`", help=help)) from None
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1_000_000)
