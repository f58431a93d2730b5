"""Responses of `pond_get` as lines to read."""

import shlex
from collections.abc import Iterator
from itertools import chain

from pond.diagnostics.visible import in_line, visible
from pond.model.json_text import Json, JsonObject, encode

_NAMES = ("name", "file_name", "media_type")


def session_lines(response: JsonObject, from_end: bool) -> Iterator[str]:
    """Yield a page of a session, and how to go on where more remains."""
    messages, remaining = response["messages"], response["messages_remaining"]
    yield _heading(response["session"])
    if from_end:
        yield from _more(remaining, "earlier", "--tail N --after", messages[:1])
    show = _whole if response["response_mode"] == "verbatim" else _summary
    for message in messages:
        yield from chain([""], show(message))
    if not from_end:
        yield from _more(remaining, "more", "--after", messages[-1:])


def message_lines(response: JsonObject) -> Iterator[str]:
    """Yield a message between its neighbours."""
    message = response["message"]
    yield _heading(response["session"])
    for neighbour in response["before"]:
        yield from chain([""], _summary(neighbour))
    yield from chain([""], _whole(message, mark="==="))
    if response["parts_remaining"]:
        yield from _more(response["parts_remaining"], "more parts", "--after", message["content"][-1:])
    for neighbour in response["after"]:
        yield from chain([""], _summary(neighbour))


def clock(timestamp: str) -> str:
    """Return a time to the second, in UTC like the timestamp."""
    return visible(timestamp[:19].replace("T", " "))


def comes(session: JsonObject) -> str:
    """Return how a session comes from its parent, in words before the parent's id."""
    return _COMES.get(session.get("lineage_kind", ""), "child of")


_COMES = {"spawn": "spawned by", "fork": "forked from", "continuation": "continues"}


def _heading(session: JsonObject) -> str:
    facts = [session["id"], session["source_agent"], session["project"]]
    if "parent_session_id" in session:
        facts.append(f"{comes(session)} {session['parent_session_id']}")
    return "  ".join(["session", *map(in_line, facts)])


def _more(count: int, what: str, option: str, last: list[JsonObject]) -> Iterator[str]:
    if count:
        yield from (
            "",
            f"… {count} {what}: {option} {in_line(shlex.quote(last[0]['id']))}" if last else f"… {count} {what}",
        )


def _title(message: JsonObject, mark: str) -> str:
    time = f"  {clock(message['timestamp'])}" if "timestamp" in message else ""
    return f"{mark} {in_line(message['role'])}{time}  {in_line(message['id'])}"


def _summary(message: JsonObject) -> Iterator[str]:
    yield _title(message, "---")
    if message["text"]:
        yield visible(message["text"])
    if message.get("again"):
        yield "[a prompt from above, written down again]"
    for part in message["parts_summary"]:
        # What a text part says stands above already, unless the harness put it there.
        if part["type"] != "text" or part["provenance"] == "injected":
            yield f"[{_label(part)} {part['size_bytes']} bytes]"


def _whole(message: JsonObject, mark: str = "---") -> Iterator[str]:
    yield _title(message, mark)
    if type(message["content"]) is str:
        if message["content"]:
            yield visible(message["content"])
        return
    for part in message["content"]:
        content = _content(part)
        plain = part["type"] == "text" and part["provenance"] == "conversational"
        if not plain:
            yield f"[{_label(part)}]"
        if content:
            yield visible(content)


def _label(part: JsonObject) -> str:
    words = [part["type"], *(part[name] for name in _NAMES if name in part)]
    injected = ["injected"] if part["provenance"] == "injected" else []
    return in_line(" ".join([*injected, *words]))


def _content(part: JsonObject) -> str:
    """Return what a part says, as text; a file only says what it is."""
    for name in ("text", "params", "result", "reason"):
        if name in part:
            return _text(part[name])
    return ""


def _text(value: Json) -> str:
    return value if type(value) is str else encode(value).decode()
