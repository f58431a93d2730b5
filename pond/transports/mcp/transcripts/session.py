"""A page of a session, or one message between its neighbours, as a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pond.model.json_text import Json, JsonObject, encode
from pond.transports.mcp.transcripts.budget import MOST_LINES, cut, fitting, size
from pond.transports.mcp.transcripts.inert import label, lines_of, quoted
from pond.transports.mcp.transcripts.marks import PAST, clock, page

_ROOM_FOR_ENDS = 900  # bytes of the first and the last lines, which say what is shown and how to continue
_MOST_SUBAGENTS = 20


@dataclass(frozen=True, slots=True)
class Around:
    """What the response does not say itself: where the page stands, and which calls failed."""

    before: int
    after: int
    outcomes: Mapping[str, bool] = field(default_factory=dict)


def session_page(response: JsonObject, around: Around, from_end: bool, notes: Sequence[str], max_bytes: int) -> str:
    """Return a page of a session: as many whole messages as fit, and how to continue."""
    messages, session = response["messages"], response["session"]
    numbers = range(around.before + 1, around.before + 1 + len(messages))
    pieces = [["", *_message(each, n, around.outcomes)] for n, each in zip(numbers, messages, strict=True)]
    head = [_about(session), _KEY, PAST, *notes]
    foot = list(_subagents(response["subagents"]))
    room = max_bytes - size(head) - size(foot) - _ROOM_FOR_ENDS
    in_order = pieces[::-1] if from_end else pieces
    count = fitting(in_order, room, MOST_LINES - len(head) - len(foot) - 4)
    if pieces and not count:
        in_order[0], count = _too_long(in_order[0], messages[-1 if from_end else 0], session["id"], room), 1
    shown = in_order[:count][::-1] if from_end else in_order[:count]
    left = len(pieces) - count
    before, after = around.before + (left if from_end else 0), around.after + (0 if from_end else left)
    ids = [each["id"] for each in (messages[left:] if from_end else messages[:count])]
    first, last = _ends(session["id"], ids, before, after, from_end, response["response_mode"])
    return page([first, *head], [line for piece in shown for line in piece], [*foot, *last])


_KEY = (
    "key: `--- [n] role | time | message_id` begins a message; `-> tool [call id] outcome` is a tool call, `<-` a "
    "result. One message whole: pond_get(message_id, session_id)."
)


def _about(session: JsonObject) -> str:
    facts = [label(session["source_agent"]), label(session["project"])]
    facts += [f"began {session['created_at'][:10]}"] if "created_at" in session else []
    facts += [f"child of {label(session['parent_session_id'])}"] if "parent_session_id" in session else []
    return f"session {label(session['id'])} | {' | '.join(facts)}"


def _ends(
    session_id: str, ids: Sequence[str], before: int, after: int, from_end: bool, mode: str
) -> tuple[str, list[str]]:  # fmt: skip
    """Return the first line, and the last ones."""
    total = before + len(ids) + after
    if not ids:
        return f"pond_get: session {label(session_id)}, mode {mode}: no messages here of {total}.", ["end."]
    what = f"messages {before + 1}-{before + len(ids)} of {total} (mode {mode})."
    back = f'{before} earlier: session_from="end", after_id={quoted(ids[0])}.' if before else ""
    on = f"{after} newer: after_id={quoted(ids[-1])}." if after else ""
    newest = f'{after} newer messages exist; session_from="end" reads the newest.' if after else ""
    onward = back if from_end else on
    first = " ".join(filter(None, [f"pond_get: {what}", f"next: {onward}" if onward else "", newest]))
    last = (
        f"next: pond_get(session_id={quoted(session_id)}{_same(mode)}) with {onward}" if onward else _end(before, after)
    )
    return first, [last]


def _same(mode: str) -> str:
    return "" if mode == "conversational" else f', response_mode="{mode}"'


def _end(before: int, after: int) -> str:
    if after:
        return f"beginning of the session; {after} newer messages exist."
    return "end of the session." if before else "this is the whole session."


def _too_long(piece: list[str], message: JsonObject, session_id: str, room: int) -> list[str]:
    how = (
        f"… (cut: the message is longer than a page; whole: pond_get(message_id={quoted(message['id'])}, "
        f"session_id={quoted(session_id)}))"
    )
    return [*cut(piece, room - size([how])), how]


def _subagents(children: list[JsonObject]) -> Iterator[str]:
    if children:
        yield f"subagents and forks ({len(children)}), each a session of its own for pond_get(session_id):"
        for child in children[:_MOST_SUBAGENTS]:
            title = f" | {label(child['title'], 80)}" if "title" in child else ""
            yield f"- {label(child['id'])} | {label(child['source_agent'])} | {child['messages']} messages{title}"
        if len(children) > _MOST_SUBAGENTS:
            yield f"- and {len(children) - _MOST_SUBAGENTS} more: pond_sql_query on sessions.parent_session_id"


# --- one message ------------------------------------------------------------------------------------------------------


def message_page(response: JsonObject, around: Around, offset: int, notes: Sequence[str], max_bytes: int) -> str:
    """Return a message whole, as far as there is room, between its neighbours in short."""
    message, session = response["message"], response["session"]
    here = around.before + 1
    heading, *body = _message(message, here, around.outcomes, mark="> ")
    text = "\n".join(body)
    head = [_about(session), _KEY, PAST, *notes]
    begins = {"before": here - len(response["before"]), "after": here + 1}
    near = [
        [["", *_message(each, n, around.outcomes)] for n, each in enumerate(response[side], begin)]
        for side, begin in begins.items()
    ]
    room = max_bytes - size(head) - _ROOM_FOR_ENDS
    own = cut(text[offset:].split("\n"), room) if text else []
    shown = sum(map(len, own)) + max(len(own) - 1, 0)
    rest = len(text) - offset - shown
    room -= size([heading, *own])
    kept = _nearest(near, room) if rest <= 0 else ([], [])
    first, last = _message_ends(response, message, session["id"], (offset, offset + shown, len(text)), around)
    lines = [*(line for piece in kept[0] for line in piece), "", heading, *own]
    return page([first, *head], [*lines, *(line for piece in kept[1] for line in piece)], last)


def _nearest(near: list[list[list[str]]], room: int) -> tuple[list[list[str]], list[list[str]]]:
    """Return as many neighbours as fit, the nearest first, by turns before and after."""
    before, after = near[0][::-1], near[1]
    kept: tuple[list[list[str]], list[list[str]]] = ([], [])
    for at in range(max(len(before), len(after))):
        for side, pieces in enumerate((before, after)):
            if at < len(pieces) and len(kept[side]) == at and size(pieces[at]) <= room:
                kept[side].append(pieces[at])
                room -= size(pieces[at])
    return kept[0][::-1], kept[1]


def _message_ends(
    response: JsonObject, message: JsonObject, session_id: str, shown: tuple[int, int, int], around: Around
) -> tuple[str, list[str]]:  # fmt: skip
    begin, end, total = shown
    again = f"pond_get(message_id={quoted(message['id'])}, session_id={quoted(session_id)}"
    which = f"message {around.before + 1} of {around.before + 1 + around.after}"
    newer = f" {around.after} newer messages exist." if around.after else ""
    cut_off = begin or end < total
    what = f"pond_get: {which}{f', characters {begin}-{end} of {total}' if cut_off else ''}.{newer}"
    if end < total:
        return f"{what} next: offset={end}.", [f"next: {again}, offset={end})"]
    if response["parts_remaining"]:
        part = quoted(message["content"][-1]["id"])
        onward = f"{response['parts_remaining']} more parts: after_id={part}."
        return f"{what} next: {onward}", [f"next: {again}, after_id={part})"]
    return what, ["end of the message."]


def _message(
    message: JsonObject, number: int, outcomes: Mapping[str, bool], mark: str = ""
) -> Iterator[str]:  # fmt: skip
    facts = [f"[{number}] {mark}{message['role']}", *clock(message), label(message["id"])]
    yield f"--- {' | '.join(facts)}"
    if "parts_summary" in message:
        yield from lines_of(message["text"]) if message["text"] else ()
        if message.get("again"):
            yield "(a prompt from above, written down again)"
        yield from _summaries(message["parts_summary"], outcomes)
    elif type(message["content"]) is str:
        yield from lines_of(message["content"]) if message["content"] else ()
    else:
        for part in message["content"]:
            yield from _part(part, outcomes)


def _summaries(parts: Iterable[JsonObject], outcomes: Mapping[str, bool]) -> Iterator[str]:
    for part in parts:
        # What a text part says stands above already, unless the harness put it there.
        if part["type"] != "text" or part["provenance"] == "injected":
            yield _line(part, outcomes, part["size_bytes"])


def _part(part: JsonObject, outcomes: Mapping[str, bool]) -> Iterator[str]:
    if part["type"] != "text" or part["provenance"] == "injected":
        yield _line(part, outcomes, None)
    for name in ("text", "params", "result", "reason"):
        if name in part and part[name] is not None:
            yield from lines_of(_text(part[name]))


def _line(part: JsonObject, outcomes: Mapping[str, bool], bytes: int | None) -> str:
    size = "" if bytes is None else f" ({bytes} bytes)"
    name, call = label(part.get("name") or "?", 80), part.get("call_id") or ""
    id = f" [{label(call)}]" if call else ""
    match part["type"]:
        case "tool_call":
            outcome = f" {'failed' if outcomes[call] else 'ok'}" if call in outcomes else " no result"
            return f"-> {name}{id}{outcome}{size}"
        case "tool_result":
            failed = part.get("is_failure", outcomes.get(call, False))
            return f"<- {name}{id} {'failed' if failed else 'ok'}{size}"
        case "file":
            return f"[file {label(part.get('name') or part.get('file_name') or part.get('media_type') or '?')}{size}]"
        case kind:
            injected = "injected " if part["provenance"] == "injected" else ""
            return f"[{injected}{label(kind)}{size}]"


def _text(value: Json) -> str:
    return value if type(value) is str else encode(value).decode()


# --- which sessions there are -----------------------------------------------------------------------------------------


def listing(sessions: Sequence[JsonObject], notes: Sequence[str]) -> str:
    """Return the newest sessions, if the caller named none."""
    head = ["pond_get: no session_id or message_id was given; the newest sessions are:", *notes]
    lines = [f"- {label(each['id'])} | {' | '.join(_facts(each))}" for each in sessions]
    return page(head, lines, ["next: pond_get(session_id), or pond_search to find something."])


def _facts(session: JsonObject) -> Iterator[str]:
    if "active_at" in session:
        yield session["active_at"][:16].replace("T", " ")
    yield label(session["source_agent"])
    yield label(session["project"])
    yield f"{session['messages']} messages"
    if "title" in session:
        yield label(session["title"], 80)
