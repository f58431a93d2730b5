"""`pond get`: a session of the lake, or one message of it, to read."""

import sys
from typing import Annotated

import typer

from pond.cli.config import Lake
from pond.cli.reading import message_lines, session_lines
from pond.cli.show import print_json
from pond.cli.terminal import say
from pond.config.load import load
from pond.lake import find
from pond.lake.get import CONVERSATIONAL, LIMIT, get_message, get_session
from pond.model.json_text import JsonObject
from pond.sessions.lake import existing
from pond.substrate.store import Store


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
    ] = CONVERSATIONAL,
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
    """Show a session of the lake, a page at a time, or one message of it."""
    store = existing(load({"lake": lake}))
    found = _meant(store, target, session)
    response: JsonObject
    if found.message_id is not None:
        response = get_message(store, found.session_id, found.message_id, context, limit, after)
        lines = message_lines(response)
    else:
        from_end, most = tail is not None, limit if tail is None else tail
        response = get_session(store, found.session_id, mode, most, after, from_end)
        lines = session_lines(response, from_end)
    if json:
        print_json(response, sys.stdout)
        return 0
    for line in lines:
        say(line)
    return 0


def _meant(store: Store, target: str, session: str | None) -> find.Found:
    if session is None:
        return find.session_or_message(store, target)
    return find.message(store, find.session(store, session), target)
