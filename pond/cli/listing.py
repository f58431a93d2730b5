"""`pond list`: the sessions of the lake, the most recently active first."""

import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, cast

import typer

from pond.cli.columns import room
from pond.cli.config import Lake
from pond.cli.reading import clock
from pond.cli.show import print_json
from pond.cli.terminal import fitted, say, width
from pond.codec.registry import client_named, clients
from pond.config.load import load
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.visible import in_line
from pond.lake.projects import place
from pond.lake.times import instant
from pond.model.json_text import JsonObject
from pond.operations.envelope import PROTOCOL
from pond.operations.finding import session_meant
from pond.operations.listing import list_sessions, sessions_of
from pond.operations.service import Service
from pond.sessions.stored_text import from_micros
from pond.transports.local import ask

if TYPE_CHECKING:  # shapes only
    from pond.types import ListRequest

LIMIT = 20

_HEADS = ("id", "active (UTC)", "client", "msgs", "subs", "project", "title")
_CLIENT, _PROJECT, _TITLE = 2, 5, 6
_WIDEST_CLIENT = 16
_NARROWEST_PROJECT, _WIDEST_PROJECT, _NARROWEST_TITLE = 8, 24, 12


def run(
    client: Annotated[
        str | None, typer.Option("--client", metavar="CLIENT", help="Only sessions that this client recorded.")
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="Only sessions of this project, or below this one.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Active since then: 2026-03-14, yesterday, 12h, 7d.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Not active since then.")] = None,
    parent: Annotated[
        str | None, typer.Option("--parent", metavar="SESSION", help="The children of this session.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Children too, each for itself; without it a session stands for its children.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Sessions to show at most.")] = LIMIT,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
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
        request["parent_session_id"] = session_meant(service, parent)
    _check_client(service, client)
    found = ask(settings, "/v1/list", request) or cast(JsonObject, list_sessions(service, request))
    if json:
        print_json(found, sys.stdout)
        return 0
    for line in _table(found["sessions"], room()):
        say(line)
    if not found["sessions"]:
        say(_nothing(sessions_of(service), client))
    if found["sessions_remaining"]:
        say(f"… {found['sessions_remaining']} more: --limit N")
    return 0


def _check_client(service: Service, client: str | None) -> None:
    """Refuse a client that pond does not know and the lake does not hold."""
    if client is not None and client not in clients() and client not in (held := sessions_of(service)):
        known = ", ".join(sorted({*clients(), *held}))
        raise UsageError(Diagnostic("usage", f"unknown client `{client}`", help=f"known: {known}"))


def _nothing(held: Mapping[str, int], client: str | None) -> str:
    """Say why nothing is listed, and what to do."""
    if not held:
        return "The lake holds no sessions yet: `pond sync` stores this machine's, `pond ingest PATH` others."
    if client is not None and client not in held:
        return f"The lake holds no sessions of {client}: `pond sync` stores those of this machine."
    return f"None of the {sum(held.values())} sessions in the lake matches; `pond list` shows the newest."


def _table(sessions: list[JsonObject], columns: int | None) -> Iterator[str]:
    rows = [_row(session) for session in sessions]
    if not rows:
        return
    widths = [max(map(width, column)) for column in zip(_HEADS, *rows, strict=True)]
    if columns is not None:
        _fit(widths, columns)
    for row in (_HEADS, *rows):
        cells = zip(row, widths, strict=True)
        # Of a path the end says most.
        yield "  ".join(fitted(cell, room, keep_end=at == _PROJECT) for at, (cell, room) in enumerate(cells)).rstrip()


def _fit(widths: list[int], columns: int) -> None:
    """Make room on a terminal: client, project and title are cut, what names a session never is."""
    widths[_CLIENT] = min(widths[_CLIENT], _WIDEST_CLIENT)
    rest = columns - sum(widths[:_PROJECT]) - 2 * _TITLE
    widths[_PROJECT] = min(widths[_PROJECT], max(_NARROWEST_PROJECT, min(_WIDEST_PROJECT, rest // 3)))
    widths[_TITLE] = min(widths[_TITLE], max(_NARROWEST_TITLE, rest - widths[_PROJECT]))


def _row(session: JsonObject) -> tuple[str, ...]:
    return (
        in_line(session["prefix"]),
        clock(session["active_at"])[:16] if "active_at" in session else "",
        in_line(session["source_agent"]),
        str(session["messages"]),
        str(session["children"] or ""),
        in_line(session["project"]),
        in_line(session.get("title", "")),
    )
