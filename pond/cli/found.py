"""What a search found, as lines to read."""

import sys
from collections.abc import Iterator
from itertools import pairwise

from pond.cli.reading import clock
from pond.diagnostics.visible import in_line, visible
from pond.model.json_text import JsonObject

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_LINES = 6  # of a message that are shown
_INDENT = "    "


def session_heading(session: JsonObject) -> str:
    """Return which session it is: its title, who recorded it, when and where."""
    facts = [session.get("title", "without a title"), session["source_agent"], session["project"]]
    if "created_at" in session:
        facts.append(clock(session["created_at"])[:16])
    return "  ".join(map(in_line, facts))


def hit_lines(hit: JsonObject) -> Iterator[str]:
    """Yield a message: who and when, how well it matches, and the text around the match with its words marked."""
    time = f"  {clock(hit['timestamp'])}" if "timestamp" in hit else ""
    attached = [part["name"] for part in hit.get("parts_summary", ()) if part["type"] == "file" and "name" in part]
    beside = f"  with {', '.join(attached)}" if attached else ""
    copies = f"  also in {len(hit['also_in'])} other sessions" if "also_in" in hit else ""
    yield in_line(f"  {hit['role']}{time}  match {hit['match']:.2f}  {hit['message_id']}{beside}{copies}")
    text: str = hit["snippet"] if "snippet" in hit else hit["text"]
    cut = "…" if "snippet" in hit else ""
    shown = [line for line in f"{cut}{_marked(text, hit['highlights'])}{cut}".splitlines() if line.strip()]
    yield from (f"{_INDENT}{line}" for line in shown[:_LINES])
    if len(shown) > _LINES:
        yield f"{_INDENT}…"


def summary_lines(response: JsonObject, query: str) -> Iterator[str]:
    """Yield what the totals are, how to go on, and what to try where nothing was found."""
    matched, searched = response["matched_messages"], response["searchable_messages"]
    if not response["sessions"]:
        yield f"Nothing found in {searched} messages for: {in_line(query)}" if query else "Nothing found."
        yield "Tool calls, their output, reasoning and what a client puts into a prompt are not searched; nor are"
        yield "subagents without --subagents. Try other words, fewer filters, or `pond list`."
        return
    if response["weak"]:
        yield "Even the best match is weak: what you look for may not be here, or in other words."
    at_least = "at least " if response["more_matched"] else ""
    yield f"{at_least}{matched} of {searched} messages match."
    if "cursor" in response:
        yield f"{response['sessions_remaining']} more sessions: --cursor {response['cursor']}"


def _marked(text: str, highlights: list[JsonObject]) -> str:
    """Return a text with matched words in bold on a terminal; nothing that stands in it steers the terminal."""
    if not sys.stdout.isatty():
        return visible(text)
    edges = [0, *(at for mark in highlights for at in (mark["start"], mark["end"])), len(text)]
    pieces = [visible(text[begin:end]) for begin, end in pairwise(edges)]
    return "".join(f"{_BOLD}{piece}{_PLAIN}" if at % 2 else piece for at, piece in enumerate(pieces))
