"""`pond search`: the messages of the lake by what was said in them."""

import re
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

import typer

from pond.cli.config import Lake
from pond.cli.filters import (
    Agent,
    Client,
    Failed,
    File,
    Has,
    Project,
    Role,
    Session,
    Since,
    Tool,
    Until,
    chosen,
)
from pond.cli.finding import found
from pond.cli.found import Line, session_lines, summary_lines
from pond.cli.quick import options_of
from pond.cli.show import print_json, refuse_query
from pond.cli.terminal import say
from pond.config.load import load
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.nearest import unknown
from pond.diagnostics.visible import in_line
from pond.model.json_text import JsonObject
from pond.operations.envelope import PROTOCOL
from pond.operations.search import LIMIT, search
from pond.operations.service import Service
from pond.search.query.query import Key
from pond.transports.local import ask

if TYPE_CHECKING:  # shapes only
    from pond.config.settings import Settings
    from pond.types import MessageAddress, SearchRequest

Sort = Literal["relevance", "recent"]
SORTS: Final[tuple[Sort, ...]] = ("relevance", "recent")
# A condition on a path from here, or from home: a server that is asked has another directory.
_FROM_HERE: Final = re.compile(r"""(?:project|file):["']?[.~]""", re.IGNORECASE)


def run(
    query: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[QUERY]...", help='Words, "exact phrases" and conditions such as role:user or after:7d.'
        ),
    ] = None,
    role: Role = None,
    client: Client = None,
    project: Project = None,
    session: Session = None,
    since: Since = None,
    until: Until = None,
    tool: Tool = None,
    file: File = None,
    has: Has = None,
    failed: Failed = False,
    agent: Agent = None,
    subagents: Annotated[bool, typer.Option("--subagents", help="Search the sessions of subagents, too.")] = False,
    like: Annotated[
        str | None,
        typer.Option("--like", metavar="ID", help="Messages similar in meaning to this one; needs embeddings."),
    ] = None,
    sort: Annotated[
        str,
        typer.Option(
            "--sort", metavar="ORDER", help="Best first (relevance), or the newest of the good matches (recent)."
        ),
    ] = "relevance",
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most this many sessions.")] = LIMIT,
    cursor: Annotated[
        str | None, typer.Option("--cursor", metavar="TEXT", help="Continue after the page that printed this text.")
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option("--min-score", metavar="X", help="Only messages with at least this score, from 0 to 1."),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how the ranking was computed.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the response as JSON; times are UTC.")] = False,
    lake: Lake = None,
) -> int:
    text = " ".join(query or ())
    filters = chosen(
        {
            Key.ROLE: role, Key.CLIENT: client, Key.PROJECT: project, Key.SESSION: session, Key.AFTER: since,
            Key.BEFORE: until, Key.TOOL: tool, Key.FILE: file, Key.HAS: has, Key.AGENT: agent, Key.FAILED: failed,
            Key.SUBAGENTS: subagents,
        }
    )  # fmt: skip
    if min_score is not None:
        filters["min_score"] = _share(min_score)
    if not text.strip() and not filters and like is None:
        raise UsageError(Diagnostic("usage", "nothing to search for", help="give words or a filter; see --help"))
    settings = load({"lake": lake})
    service = Service(settings)
    request: SearchRequest = {"protocol_version": PROTOCOL, "query": text, "filters": filters, "limit": _limit(limit)}
    request |= {"sort": _sort(sort), "explain": explain}
    if cursor is not None:
        request["cursor"] = cursor
    if like is not None:
        request["like"] = _address(settings, service, like)
    try:
        there = None if _FROM_HERE.search(text) else ask(settings, "/v1/search", request)
        response = there or cast(JsonObject, search(service, request))
    except UsageError as error:
        return refuse_query(error, text)
    if json:
        print_json(response, sys.stdout)
        return 0
    for line in _lines(response, text, explain):
        say(line.text, marks=line.marks)
    return 0


def ordered(arguments: list[str]) -> list[str]:
    """Return the arguments with the words of the query last: no option is short, so `-role:tool` and `-m` are words."""
    options = options_of(run)
    given: list[str] = []
    words: list[str] = []
    rest = iter(arguments)
    for word in rest:
        flag, equals, _ = word.partition("=")
        if word == "--":
            words += rest
        elif not flag.startswith("--") or any(map(str.isspace, flag)):
            words.append(word)
        else:
            given.append(word)
            if not equals and options.get(flag, ("", bool))[1] is not bool:
                given += islice(rest, 1)
    return [*given, "--", *words] if any(word.startswith("-") for word in words) else arguments


def _sort(text: str) -> Sort:
    for known in SORTS:
        if text == known:
            return known
    raise unknown("order", text, SORTS)


def _address(settings: "Settings", service: Service, text: str) -> "MessageAddress":
    """Return the message meant."""
    session_id, message_id = found(settings, service, text)
    if message_id is None:
        raise UsageError(Diagnostic("usage", f"`{text}` is a session; --like takes the id of a message"))
    return {"session_id": session_id, "message_id": message_id}


def _share(score: float) -> float:
    if not 0 <= score <= 1:  # nor is NaN
        raise UsageError(Diagnostic("usage", f"expected a score from 0 to 1, found {score}", path="--min-score"))
    return score


def _limit(limit: int) -> int:
    if not 1 <= limit <= 200:
        raise UsageError(Diagnostic("usage", f"expected a limit of 1 to 200, found {limit}"))
    return limit


def _lines(response: JsonObject, text: str, explain: bool) -> Iterator[Line]:
    if explain:
        yield from map(Line, _explained(response))
    for session in response["sessions"]:
        yield from session_lines(session, response["more_matched"])
    yield from summary_lines(response, text)


def _explained(response: JsonObject) -> Iterator[str]:
    explanation = response["explanation"]
    words = ", ".join(f"{word} {weight:.2f}" for word, weight in explanation["words"].items())
    yield f"words       {words or 'none: the newest first'}"
    yield f"terms       {' '.join(explanation['terms'])}"
    yield f"filter      {explanation.get('filter', 'none')}"
    yield f"around      counts {explanation['surroundings']:.2f}"
    yield f"version     {explanation['version']}"
    yield "plan"
    yield from (f"  {line}" for line in explanation["plan"].rstrip().split("\n"))
    yield "messages"
    for hit, made in zip(response["hits"], explanation["hits"], strict=True):
        scores = made["arms"] | {name: made[name] for name in ("covered", "own", "around")}
        scores |= {name: hit[name] for name in ("score", "match")}
        yield in_line(hit["message_id"]) + "".join(f"  {name} {value:.2f}" for name, value in scores.items())
    yield "sessions"
    for session, score in zip(response["sessions"], explanation["sessions"], strict=True):
        yield f"{in_line(session['session_id'])}  score {score:.2f}"
    yield ""
