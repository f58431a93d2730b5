"""`pond get`: a session of the lake, or one message of it, to read."""

import sys
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

import typer

from pond.cli.config import Lake
from pond.cli.finding import found
from pond.cli.reading import message_lines, session_lines
from pond.cli.show import print_json
from pond.cli.terminal import say
from pond.config.load import load
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.model.json_text import JsonObject
from pond.operations.envelope import PROTOCOL
from pond.operations.get import get
from pond.operations.service import Service
from pond.transports.local import ask

if TYPE_CHECKING:  # shapes only
    from pond.types import GetRequest

ResponseMode = Literal["conversational", "complete", "verbatim"]
MODES: Final[tuple[ResponseMode, ...]] = ("conversational", "complete", "verbatim")
LIMIT = 20


def run(
    target: Annotated[
        str, typer.Argument(metavar="SESSION|MESSAGE", help="An id, or how one begins as long as only one begins so.")
    ],
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="The session of the message, where several have it.")
    ] = None,
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            metavar="MODE",
            help="How much of a session: conversational (what was said), complete (every message) or verbatim (whole).",
        ),
    ] = "conversational",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="Messages of a session, or parts of a message, at most.")
    ] = LIMIT,
    after: Annotated[
        str | None, typer.Option("--after", metavar="ID", help="Go on after this message of the session, or part.")
    ] = None,
    tail: Annotated[
        int | None,
        typer.Option("--tail", metavar="N", help="The last N messages; with --after, the N before that message."),
    ] = None,
    context: Annotated[
        int, typer.Option("--context", metavar="N", help="Messages to show before and after a message.")
    ] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the response as JSON.")] = False,
    lake: Lake = None,
) -> int:
    settings = load({"lake": lake})
    service = Service(settings)
    session_id, message_id = found(settings, service, target, session)
    request: GetRequest = {"protocol_version": PROTOCOL, "session_id": session_id}
    if after is not None:
        request["after_id"] = after
    if message_id is not None:
        request |= {"message_id": message_id, "context_depth": context, "limit": limit}
    else:
        request |= {"response_mode": _mode(mode), "limit": limit if tail is None else tail}
        request["session_from"] = "start" if tail is None else "end"
    response = ask(settings, "/v1/get", request) or cast(JsonObject, get(service, request))
    if json:
        print_json(response, sys.stdout)
        return 0
    for line in message_lines(response) if message_id else session_lines(response, tail is not None):
        say(line)
    return 0


def _mode(text: str) -> ResponseMode:
    if text not in MODES:
        raise UsageError(Diagnostic("usage", f"unknown mode `{text}`", help=f"one of {', '.join(MODES)}"))
    return text
