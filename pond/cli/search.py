"""`pond search`: the messages of the lake by what was said in them."""

import shlex
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

import typer

from pond.cli.config import Lake
from pond.cli.found import hit_lines, session_heading, summary_lines
from pond.cli.show import print_json
from pond.cli.terminal import say, warn
from pond.config.load import load
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.render import picture
from pond.model.json_text import JsonObject
from pond.operations.envelope import PROTOCOL
from pond.operations.search import LIMIT, search
from pond.operations.service import Service
from pond.search.query.query import Key
from pond.search.wire import filters_of
from pond.transports.local import ask

if TYPE_CHECKING:  # shapes only
    from pond.types import SearchRequest

Sort = Literal["relevance", "recent"]
SORTS: Final[tuple[Sort, ...]] = ("relevance", "recent")
_Values = list[str] | None


def run(
    query: Annotated[
        list[str] | None,
        typer.Argument(metavar="[QUERY]...", help='Words, "exact phrases" and conditions such as role:user, after:7d.'),
    ] = None,
    role: Annotated[_Values, typer.Option("--role", metavar="ROLE", help="user or assistant.")] = None,
    client: Annotated[_Values, typer.Option("--client", metavar="CLIENT", help="Recorded by this client.")] = None,
    project: Annotated[
        _Values, typer.Option("--project", metavar="DIR", help="Of this project or below it; a name, or *part*.")
    ] = None,
    session: Annotated[_Values, typer.Option("--session", metavar="ID", help="In this session.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", "--after", metavar="TIME", help="Not older: 2026-03-14, 12h, 7d, today.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", "--before", metavar="TIME", help="Older than this.")] = None,
    tool: Annotated[_Values, typer.Option("--tool", metavar="NAME", help="In a turn that used this tool.")] = None,
    file: Annotated[_Values, typer.Option("--file", metavar="PATH", help="In a turn that used this file.")] = None,
    has: Annotated[_Values, typer.Option("--has", metavar="WHAT", help="With such an attachment: image, file.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="In a turn in which a tool failed.")] = False,
    agent: Annotated[_Values, typer.Option("--agent", metavar="KIND", help="Of subagents of this kind.")] = None,
    subagents: Annotated[bool, typer.Option("--subagents", help="Sessions of subagents, too.")] = False,
    sort: Annotated[
        str, typer.Option("--sort", metavar="ORDER", help="relevance, or recent: the newest of what matches well.")
    ] = "relevance",
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Sessions to show at most.")] = LIMIT,
    cursor: Annotated[str | None, typer.Option("--cursor", metavar="TEXT", help="Go on where a page ended.")] = None,
    min_score: Annotated[
        float | None, typer.Option("--min-score", metavar="X", help="Only messages that score at least this, 0 to 1.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say how the ranks came about.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the response as JSON.")] = False,
    lake: Lake = None,
) -> int:
    text = " ".join(query or ())
    filters = filters_of(
        {
            Key.ROLE: role or (), Key.CLIENT: client or (), Key.PROJECT: project or (), Key.SESSION: session or (),
            Key.AFTER: [since] if since is not None else (), Key.BEFORE: [until] if until is not None else (),
            Key.TOOL: tool or (), Key.FILE: file or (), Key.HAS: has or (), Key.AGENT: agent or (),
            Key.FAILED: ["true"] if failed else (), Key.SUBAGENTS: ["true"] if subagents else (),
        },
        datetime.now(UTC),
    )  # fmt: skip
    if min_score is not None:
        filters["min_score"] = min_score
    if not text.strip() and not filters:
        raise UsageError(Diagnostic("usage", "nothing to search for", help="give words, or a filter: see --help"))
    request: SearchRequest = {"protocol_version": PROTOCOL, "query": text, "filters": filters, "limit": _limit(limit)}
    request |= {"sort": _sort(sort), "explain": explain}
    if cursor is not None:
        request["cursor"] = cursor
    try:
        settings = load({"lake": lake})
        response = ask(settings, "/v1/search", request) or cast(JsonObject, search(Service(settings), request))
    except UsageError as error:
        if (diagnostic := error.diagnostics[0]).span is None:
            raise
        warn(picture(diagnostic, text))
        return 2
    if json:
        print_json(response, sys.stdout)
        return 0
    for line in _lines(response, text, explain):
        say(line)
    return 0


def _sort(text: str) -> Sort:
    for known in SORTS:
        if text == known:
            return known
    raise UsageError(Diagnostic("usage", f"unknown order `{text}`", help=f"one of {', '.join(SORTS)}"))


def _limit(limit: int) -> int:
    if not 1 <= limit <= 200:
        raise UsageError(Diagnostic("usage", f"expected a limit of 1 to 200, found {limit}"))
    return limit


def _lines(response: JsonObject, text: str, explain: bool) -> Iterator[str]:
    if explain:
        yield from _explained(response["explanation"])
    for session in response["sessions"]:
        yield session_heading(session)
        for hit in session["hits"]:
            yield from hit_lines(hit)
        more = session["matched_messages"] - len(session["hits"])
        yield f"  {f'{more} more here; ' if more else ''}open: pond get {shlex.quote(session['session_id'])}"
        yield ""
    yield from summary_lines(response, text)


def _explained(explanation: JsonObject) -> Iterator[str]:
    words = ", ".join(f"{word} {weight:.2f}" for word, weight in explanation["words"].items())
    yield f"words       {words or 'none: the newest first'}"
    yield f"terms       {' '.join(explanation['terms'])}"
    yield f"filter      {explanation.get('filter', 'none')}"
    yield f"around      counts {explanation['surroundings']:.2f}"
    for hit in explanation["hits"]:
        arms = "  ".join(f"{arm} {value:.2f}" for arm, value in hit["arms"].items())
        made = "  ".join(f"{name} {hit[name]:.2f}" for name in ("covered", "own", "around"))
        yield f"  {hit['message_id']}  {arms}  {made}"
    yield ""
