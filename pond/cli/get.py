"""`pond get`: a session of the lake, or one message of it, to read."""

import shlex
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

import typer

from pond.cli.columns import room
from pond.cli.config import Lake
from pond.cli.finding import found
from pond.cli.pages import LastPages, Pages, whole
from pond.cli.reading import Conversation, Line, heading, message_lines, whole_lines
from pond.cli.show import print_json
from pond.cli.terminal import say_pieces
from pond.config.load import load
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.nearest import unknown
from pond.diagnostics.visible import in_line
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
        str, typer.Argument(metavar="SESSION|MESSAGE", help="A session or message id, or a unique prefix of one.")
    ],
    full: Annotated[
        bool,
        typer.Option("--full", help="Show everything: also tool input and output, reasoning, added text."),
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show the whole session, not just one page.")] = False,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="Messages on a page; of one message, parts.")
    ] = LIMIT,
    after: Annotated[
        str | None, typer.Option("--after", metavar="ID", help="Continue after this message; of one message, part.")
    ] = None,
    tail: Annotated[
        int | None,
        typer.Option("--tail", metavar="N", help="Show the last N messages; with --after, the N before that one."),
    ] = None,
    context: Annotated[
        int, typer.Option("--context", metavar="N", help="Of one message: also show N messages before and after it.")
    ] = 0,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="The session of the message, if several hold it.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the response as JSON; times are UTC.")] = False,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode",
            metavar="MODE",
            help="With --json: conversational (what was said), complete (every message, in short) or verbatim (whole).",
        ),
    ] = None,
    lake: Lake = None,
) -> int:
    settings = load({"lake": lake})
    service = Service(settings)
    session_id, message_id = found(settings, service, target, session)

    def fetch(request: "GetRequest") -> JsonObject:
        return ask(settings, "/v1/get", request) or cast(JsonObject, get(service, request))

    request: GetRequest = {"protocol_version": PROTOCOL, "session_id": session_id}
    if after is not None:
        request["after_id"] = after
    if message_id is not None:
        response = fetch(request | {"message_id": message_id, "context_depth": context, "limit": limit})
        return _print_json(response) if json else _print(message_lines(response))
    if json:
        request |= {"response_mode": _mode(mode, full), "limit": limit if tail is None else tail}
        request["session_from"] = "start" if tail is None else "end"
        return _print_json(whole(fetch, request) if everything else fetch(request))
    _check(mode, limit if tail is None else tail)
    kind, most = (Pages, limit) if tail is None else (LastPages, tail)
    pages = kind(fetch, session_id, after, None if everything else most)
    return _print(_session(pages, full, after))


def _session(pages: Pages, full: bool, after: str | None) -> Iterator[Line]:
    """Yield a page of a session, and how to continue where more is left."""
    yield from heading(pages.session, pages.subagents if after is None else ())
    show = whole_lines if full else Conversation(pages.results, room()).lines
    from_end, count = isinstance(pages, LastPages), 0
    messages = list(pages) if from_end else pages
    if from_end:
        yield from _more(pages, "earlier", "--tail N --after")
    for message in messages:
        for line in show(message):
            count += 1
            yield line
    if not from_end:
        yield from _more(pages, "more", "--after")
    if not count:
        yield from ([("", "")], [("Nothing was said here; --full shows what else was recorded.", "dim")])


def _more(pages: Pages, what: str, option: str) -> Iterator[Line]:
    if left := pages.left():
        ids = [in_line(shlex.quote(id)) for id in (pages.session["id"], pages.last or "")]
        yield [("", "")]
        yield [(f"… {left} {what}: pond get {ids[0]} {option} {ids[1]} (--all shows the rest)", "dim")]
    elif not pages.complete:
        yield [("", "")]
        yield [("… nothing more was said; --all shows what else happened", "dim")]


def _print(lines: Iterable[Line]) -> int:
    for line in lines:
        say_pieces(line)
    return 0


def _print_json(response: JsonObject) -> int:
    print_json(response, sys.stdout)
    return 0


def _check(mode: str | None, limit: int) -> None:
    if mode is not None:
        help = "--full shows everything; without it, what was said is shown"
        raise UsageError(Diagnostic("usage", "`--mode` chooses what --json prints", help=help))
    if limit < 1:
        raise UsageError(Diagnostic("usage", f"expected 1 message or more, found {limit}"))


def _mode(text: str | None, full: bool) -> ResponseMode:
    for mode in MODES:
        if text == mode:
            return mode
    if text is not None:
        raise unknown("mode", text, MODES)
    return "verbatim" if full else "conversational"
