"""`pond stats`: what was done, in numbers."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, cast

import typer

from pond.cli.columns import room, table, within
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
from pond.cli.show import print_json
from pond.cli.terminal import say
from pond.config.load import load
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.visible import in_line
from pond.model.json_text import JsonObject
from pond.operations.envelope import PROTOCOL
from pond.operations.service import Service
from pond.operations.stats import activity
from pond.search.query.query import Key

if TYPE_CHECKING:  # shapes only
    from pond.types import StatsRequest

LIMIT = 10
_BAR, _NARROWEST_BAR, _WIDEST_BAR = "█", 8, 30
_USUAL = 100  # columns, where there is no terminal
_HEADS = ("sessions", "messages", "prompts", "calls", "failed", "days", "tokens in", "tokens out")


def run(
    client: Client = None,
    project: Project = None,
    session: Session = None,
    since: Since = None,
    until: Until = None,
    role: Role = None,
    tool: Tool = None,
    file: File = None,
    has: Has = None,
    failed: Failed = False,
    agent: Agent = None,
    subagents: Annotated[
        str,
        typer.Option(
            "--subagents", metavar="true|false|only", help="Count subagents, too; leave them out; or count only them."
        ),
    ] = "true",
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most this many lines in each table.")] = LIMIT,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    lake: Lake = None,
) -> int:
    if limit < 1:
        raise UsageError(Diagnostic("usage", f"expected a limit of at least 1, found {limit}"))
    filters = chosen(
        {
            Key.CLIENT: client, Key.PROJECT: project, Key.SESSION: session, Key.AFTER: since, Key.BEFORE: until,
            Key.ROLE: role, Key.TOOL: tool, Key.FILE: file, Key.HAS: has, Key.AGENT: agent, Key.FAILED: failed,
            Key.SUBAGENTS: None if subagents == "true" else subagents,
        }
    )  # fmt: skip
    request: StatsRequest = {"protocol_version": PROTOCOL, "filters": filters}
    found = cast(JsonObject, activity(Service(load({"lake": lake})), request))
    if json:
        print_json(found, sys.stdout)
        return 0
    columns = room()
    for line in within(_lines(found, limit, columns), columns):
        say(line)
    return 0


def _lines(found: JsonObject, limit: int, columns: int | None) -> Iterator[str]:
    totals = found["totals"]
    if not any(totals[name] for name in ("sessions", "subagent_sessions", "messages", "tool_calls")):
        yield "Nothing to count: no message matches."
        return
    yield from _summary(totals)
    for title, name in (("by client", "clients"), ("by project", "projects")):
        yield from _section(title, _HEADS, [_counts(each) for each in found[name]], limit, columns)
    models = [(_name(each), str(each["answers"]), str(each["sessions"]), *_tokens(each)) for each in found["models"]]
    yield from _section("by model", ("answers", "sessions", "tokens in", "tokens out"), models, limit, columns)
    tools = [
        (_name(each), str(each["calls"]), str(each["failed"]), f"{each['failed'] / each['calls']:.0%}")
        for each in found["tools"]
    ]
    yield from _section("by tool", ("calls", "failed", "share"), tools, limit, columns)
    yield from _months(found["months"], columns)


def _summary(totals: JsonObject) -> Iterator[str]:
    tokens = totals["tokens"]
    beside = f", and {totals['subagent_sessions']} of subagents" if totals["subagent_sessions"] else ""
    span = f", {totals['first'][:10]} to {totals['last'][:10]}" if "first" in totals else ""
    yield f"sessions   {totals['sessions']}{beside}"
    yield f"messages   {totals['messages']}, including {totals['prompts']} typed prompts"
    yield f"days       {totals['days']}{span}"
    yield f"tools      {totals['tool_calls']} calls, {totals['failed_calls']} failed"
    sent, written = _tokens(totals)
    fresh, thought, read, kept = (_short(tokens[name]) for name in ("input", "reasoning", "cache_read", "cache_write"))
    yield f"tokens     {sent} in, {written} out ({thought} reasoning)"
    yield f"  in       {read} from a cache, {kept} put into it, {fresh} neither"


def _counts(entry: JsonObject) -> tuple[str, ...]:
    numbers = ("sessions", "messages", "prompts", "tool_calls", "failed_calls", "days")
    return (_name(entry), *(str(entry[name]) for name in numbers), *_tokens(entry))


def _tokens(entry: JsonObject) -> tuple[str, str]:
    """Return all tokens that were sent, from a cache or not, and those that were written."""
    tokens = entry["tokens"]
    return _short(tokens["input"] + tokens["cache_read"] + tokens["cache_write"]), _short(tokens["output"])


def _name(entry: JsonObject) -> str:
    return in_line(entry["name"]) or "unknown"


def _section(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], limit: int, columns: int | None
) -> Iterator[str]:  # fmt: skip
    if not rows:
        return
    yield ""
    yield from table([title, *heads], rows[:limit], [False, *(True for _ in heads)], columns)
    if len(rows) > limit:
        yield f"{len(rows) - limit} more: --limit N, or --json"


def _months(months: Sequence[JsonObject], columns: int | None) -> Iterator[str]:
    """Yield a bar for each month, as long as its messages are many, as far as the line has room."""
    if not months:
        return
    most = max(each["messages"] for each in months) or 1
    digits = len(str(most))
    room = max(_NARROWEST_BAR, min(_WIDEST_BAR, (columns or _USUAL) - len("2026-03") - digits - 4))
    yield ""
    yield "by month, messages"
    for each in months:
        bar = _BAR * max(1 if each["messages"] else 0, each["messages"] * room // most)
        yield f"{each['name']}  {each['messages']:>{digits}}  {bar}".rstrip()


def _short(count: int) -> str:
    """Return a number of tokens as people read it."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= size:
            return f"{count / size:.1f}{unit}"
    return str(count)
