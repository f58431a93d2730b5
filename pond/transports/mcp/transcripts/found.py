"""What a search found, as a text: sessions, the best first, each with its best messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate

from pond.model.json_text import JsonObject
from pond.transports.mcp.transcripts.budget import cut, fitting, size
from pond.transports.mcp.transcripts.inert import label, lines_of
from pond.transports.mcp.transcripts.marks import PAST, clock, page

_BEST, _FURTHER = 500, 240  # characters of a session's best hit, and of each further one
_ROOM_FOR_ENDS = 400  # bytes that a cursor takes at the top and at the end, beside what is known before


def transcript(
    response: JsonObject,
    totals: Mapping[str, int],
    cursor_after: Callable[[int], str | None],
    notes: Iterable[str],
    max_bytes: int,
) -> str:
    """Return an answer within its bytes; `cursor_after` says how to continue after so many of its sessions."""
    head = [_KEY, PAST, *notes]
    pieces = list(_pieces(response["sessions"], totals))
    room = max_bytes - size(head) - 2 * _length(cursor_after) - _ROOM_FOR_ENDS
    count = fitting(pieces, room)
    if pieces and not count:  # one session alone is too much: as much of it as there is room for
        pieces[0], count = [*cut(pieces[0], room - 80), "… (cut: pass a larger max_bytes)"], 1
    cursor = cursor_after(count) if pieces else None
    onward = f'next: cursor="{cursor}" (with the same parameters)' if cursor else ""
    first = _summary(response, count) + (f" {onward}" if onward else "")
    return page([first, *head], [line for piece in pieces[:count] for line in piece], [onward] if onward else ["end."])


_KEY = (
    "key: `=== session` groups hits, best first; `--- [n] score | role | time | message_id` begins a hit, its text is "
    "indented. Whole: pond_get(message_id, session_id)."
)


def _length(cursor_after: Callable[[int], str | None]) -> int:
    return len(cursor_after(0) or "")


def _summary(response: JsonObject, count: int) -> str:
    sessions = response["sessions"]
    if not sessions:
        return (
            f"pond_search: nothing found among {response['searchable_messages']} messages; try other words or filters."
        )
    hits = sum(len(each["hits"]) for each in sessions[:count])
    most = "at least " if response["more_matched"] else ""
    matched = f"{most}{response['matched_messages']} matching messages"
    if response["searched_by"] == ["time"]:
        matched = "the newest messages"
    weak = " The best match is weak." if response["weak"] else ""
    return (
        f"pond_search: {matched}; showing {hits} hit{'s' * (hits != 1)} from {count} of "
        f"{len(sessions) + response['sessions_remaining']} sessions.{weak}"
    )


def _pieces(sessions: list[JsonObject], totals: Mapping[str, int]) -> Iterable[list[str]]:
    begins = accumulate((len(session["hits"]) for session in sessions), initial=1)
    for number, (session, begin) in enumerate(zip(sessions, begins, strict=False), 1):
        yield [*_heading(number, session, totals), *_hits(session["hits"], begin)]


def _heading(number: int, session: JsonObject, totals: Mapping[str, int]) -> Iterable[str]:
    id = session["session_id"]
    best = max((hit["score"] for hit in session["hits"]), default=0.0)
    matched = session["matched_messages"]
    facts = [
        f"best {best:.2f}",
        f"{matched}/{max(totals.get(id, matched), matched)} matched",
        label(session["project"]),
        label(session["source_agent"]),
        label(id),
    ]
    if "parent_session_id" in session:
        facts.append(f"subagent or fork of {label(session['parent_session_id'])}")
    yield ""
    yield f"=== session [{number}] {' | '.join(facts)}"
    if "title" in session:
        yield f"title: {label(session['title'])}"


def _hits(hits: list[JsonObject], begin: int) -> Iterable[str]:
    for number, hit in enumerate(hits):
        facts = [f"{hit['score']:.2f}", hit["role"], *clock(hit), label(hit["message_id"])]
        also = hit.get("also_in")
        yield f"--- [{begin + number}] {' | '.join(facts)}" + (
            f" | also in {', '.join(map(label, also[:2]))}" if also else ""
        )
        yield from lines_of(_window(hit, _FURTHER if number else _BEST))
        yield from (f"  [{_attached(part)}]" for part in hit.get("parts_summary", ()) if part["type"] == "file")


def _attached(part: JsonObject) -> str:
    return f"file {label(part.get('name') or part.get('media_type') or '')}, {part['size_bytes']} bytes"


def _window(hit: JsonObject, length: int) -> str:
    """Return what stands around the first matched word."""
    text = hit.get("snippet") or hit["text"]
    cut_before = "snippet" in hit and not hit["text"].startswith(text[:20])
    at = hit["highlights"][0]["start"] if hit["highlights"] else 0
    begin = min(max(0, at - length // 3), max(0, len(text) - length))
    window = text[begin : begin + length].strip()
    before = "… " if begin or cut_before else ""
    after = " …" if begin + length < len(text) or "snippet" in hit else ""
    return f"{before}{window}{after}"
