"""What a search found, as lines to read."""

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pond.cli.show import counted
from pond.cli.times import clock
from pond.diagnostics.visible import in_line
from pond.model.json_text import JsonObject

_LINES = 6  # of a message that are shown
_INDENT = "    "
_CUT = "…"


@dataclass(frozen=True, slots=True)
class Line:
    """A line to print, and which of its characters matched."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def session_lines(session: JsonObject, more_matched: bool) -> Iterator[Line]:
    """Yield a session with its best messages, and how to open or continue it."""
    yield Line(_heading(session))
    for hit in session["hits"]:
        yield from _hit_lines(hit)
    id = in_line(shlex.quote(session["session_id"]))
    hidden = session["matched_messages"] - len(session["hits"])
    more = f"{'at least ' if more_matched else ''}{hidden} more here; " if hidden > 0 else ""
    yield Line(f"  {more}read: pond get {id}  restore: pond restore {id} -o DIR")
    yield Line("")


def _heading(session: JsonObject) -> str:
    """Return which session it is: its title, who recorded it, when and where."""
    facts = [session.get("title", "(no title)"), session["source_agent"], session["project"]]
    if "created_at" in session:
        facts.append(clock(session["created_at"])[:16])
    return "  ".join(map(in_line, facts))


def _hit_lines(hit: JsonObject) -> Iterator[Line]:
    """Yield a message: who said it and when, how well it matches, and the text around the match."""
    facts = [hit["role"], clock(hit["timestamp"])] if "timestamp" in hit else [hit["role"]]
    facts += [f"match {hit['match']:.2f}", hit["message_id"]]
    if attached := [part["name"] for part in hit.get("parts_summary", ()) if part["type"] == "file" and "name" in part]:
        facts.append(f"with {', '.join(attached)}")
    if "also_in" in hit:
        facts.append(f"also in {counted(len(hit['also_in']), 'other session')}")
    yield Line("  " + "  ".join(map(in_line, facts)))
    marks = [(mark["start"], mark["end"]) for mark in hit["highlights"]]
    whole = "snippet" not in hit
    yield from _window(list(_split(hit["text"] if whole else hit["snippet"], marks)), whole)


def _split(text: str, marks: Iterable[tuple[int, int]]) -> Iterator[Line]:
    """Yield the lines of a text that are not blank, each with its own marks."""
    begin = 0
    for line in text.split("\n"):
        end = begin + len(line)
        inside = [(max(start, begin), min(stop, end)) for start, stop in marks if start < end and stop > begin]
        if line.strip():
            yield Line(line.removesuffix("\r"), tuple((start - begin, stop - begin) for start, stop in inside))
        begin = end + 1


def _window(lines: list[Line], whole: bool) -> Iterator[Line]:
    """Yield the few neighbouring lines that have most marks, and show where something is left out."""
    starts = range(max(len(lines) - _LINES, 0) + 1)
    first = max(starts, key=lambda at: (sum(len(line.marks) for line in lines[at : at + _LINES]), -at))
    shown = lines[first : first + _LINES]
    for at, line in enumerate(shown):
        before = _CUT if at == 0 and (first or not whole) else ""
        after = _CUT if at == len(shown) - 1 and (first + _LINES < len(lines) or not whole) else ""
        shift = len(_INDENT) + len(before)
        marks = tuple((start + shift, stop + shift) for start, stop in line.marks)
        yield Line(f"{_INDENT}{before}{line.text}{after}", marks)


def summary_lines(response: JsonObject, query: str) -> Iterator[Line]:
    """Yield the totals, how to continue, and what to try if nothing was found."""
    if "notice" in response:
        yield Line(f"Searched by words only: {in_line(response['notice'])}")
    if not response["sessions"]:
        yield from map(Line, _nothing_found(response["searchable_messages"], query))
        return
    if response["weak"]:
        yield Line("Even the best match is weak. What you are looking for may not be here, or may use other words.")
    at_least = "at least " if response["more_matched"] else ""
    found = f"{response['matched_messages']} of {counted(response['searchable_messages'], 'message')}"
    yield Line(f"{at_least}{found} match{'es' if response['matched_messages'] == 1 else ''}.")
    if "cursor" in response:
        yield Line(f"{counted(response['sessions_remaining'], 'more session')}: --cursor {response['cursor']}")


def _nothing_found(searched: int, query: str) -> Iterator[str]:
    if not searched:
        yield "Nothing found: no message matches the filters."
    else:
        yield f"Nothing found in {counted(searched, 'message')}" + (f" for: {in_line(query)}" if query else ".")
    yield "Tool calls, tool output, reasoning and text added by clients are not searched; neither are"
    yield "subagents without --subagents. Try other words, fewer filters, or `pond list`."
