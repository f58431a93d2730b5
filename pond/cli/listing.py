"""`pond list`: the sessions of the lake, the most recently active first."""

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, cast

import typer

from pond.cli.columns import room
from pond.cli.config import Lake
from pond.cli.finding import session_found
from pond.cli.session_table import session_table
from pond.cli.show import print_json
from pond.cli.terminal import note, say
from pond.cli.times import since, until
from pond.codec.registry import client_named
from pond.config.load import load
from pond.lake.projects import place
from pond.lake.times import instant
from pond.model.json_text import JsonObject
from pond.operations.envelope import PROTOCOL
from pond.operations.listing import check_client, list_sessions, sessions_of
from pond.operations.service import Service
from pond.sessions.stored_text import from_micros
from pond.transports.local import ask

if TYPE_CHECKING:  # shapes only
    from pond.types import ListRequest

LIMIT = 20


def run(
    client: Annotated[str | None, typer.Option("--client", metavar="CLIENT", help="Sessions of this client.")] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="Sessions of this project directory, or below it.")
    ] = None,
    since: Annotated[str | None, since("Sessions last active")] = None,
    until: Annotated[str | None, until("Sessions last active")] = None,
    parent: Annotated[
        str | None, typer.Option("--parent", metavar="SESSION", help="The sessions that this session spawned.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="List subagents, too, each on a line of its own.")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most this many sessions.")] = LIMIT,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON; times are UTC.")] = False,
    lake: Lake = None,
) -> int:
    settings = load({"lake": lake})
    service = Service(settings)
    request: ListRequest = {"protocol_version": PROTOCOL, "children": everything, "limit": limit}
    now = datetime.now(UTC)
    if since is not None:
        request["since"] = from_micros(instant(since, now))
    if until is not None:
        request["until"] = from_micros(instant(until, now))
    if (client := client_named(client)) is not None:
        request["source_agent"] = client
    if project is not None:
        request["project"] = place(project)
    if parent is not None:
        request["parent_session_id"] = session_found(settings, service, parent)
    check_client(service, client)
    found = ask(settings, "/v1/list", request) or cast(JsonObject, list_sessions(service, request))
    if json:
        print_json(found, sys.stdout)
        return 0
    for line in session_table(found["sessions"], room(), datetime.now().astimezone()):
        say(line)
    if not found["sessions"]:
        say(_nothing(sessions_of(service), client))
    if found["sessions_remaining"]:
        note(f"… {found['sessions_remaining']} more: pond list --limit {limit * 2}, or --since, --project, --client")
    return 0


def _nothing(held: Mapping[str, int], client: str | None) -> str:
    """Say why nothing is listed, and what to do."""
    if not held:
        return "The lake holds no sessions yet: `pond sync` stores those of this machine, `pond ingest PATH` others."
    if client is not None and client not in held:
        return f"The lake holds no sessions of {client}: `pond sync` stores those of this machine."
    return f"None of the {sum(held.values())} sessions in the lake matches; `pond list` shows the latest."
