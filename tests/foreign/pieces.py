"""What a session says, piece by piece, from its canonical events alone: nothing here knows how pond converts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from pond.model.json_text import Json, JsonObject, encode
from pond.portable.inserted import STUB
from tests.laws.passage import Passage

SPEECH = ("user", "assistant", "call", "file")
_DEEP = 490  # levels
TEXTS = ("text", "input_text", "output_text")


@dataclass(frozen=True)
class Piece:
    """One thing said, called, shown or returned; two are equal where their content is, wherever they stand."""

    kind: str  # user, assistant, call, file, result, reasoning, injected, or the type of any other Part
    content: Json
    message: str = field(compare=False)
    part: str = field(compare=False)
    call_id: str = field(default="", compare=False)


def pieces(events: list[JsonObject]) -> Iterator[Piece]:
    """Yield every Part of a session's messages as a piece, in order; a note in place of a result is none."""
    roles: dict[str, str] = {}
    names: dict[str, str] = {}  # of calls that were renamed: what they were called
    for event in events:
        if event["kind"] == "message":
            roles[event["id"]] = event["role"]
            names |= _renamed(event)
        elif event["kind"] == "part" and event.get("result") != STUB:
            yield _piece(event, roles[event["message_id"]], names)


def _renamed(message: JsonObject) -> dict[str, str]:
    pond = _residue(message).get("pond")
    return pond.get("tools", {}) if type(pond) is dict else {}


def _piece(part: JsonObject, role: str, names: dict[str, str]) -> Piece:
    kind, content = part["type"], None
    if kind == "text":
        kind = role if part["provenance"] == "conversational" else "injected"
        content = part["text"]
    elif kind == "reasoning":
        content = part["text"]
    elif kind == "tool_call":
        name = names.get(part.get("call_id") or "", part["name"])
        kind, content = "call", (name, exactly(_read(part.get("params"))))
    elif kind == "tool_result":
        kind, content = "result", tuple(result(part.get("result")))
    elif kind == "file":
        kind = "file" if role == "user" else f"file of {role}"
        content = _kept(part["media_type"], part["data"])
    return Piece(kind, content, part["message_id"], part["id"], part.get("call_id") or "")


def _read(params: Json) -> Json:
    """Return the arguments of a call; those that were too deep for a record are text in it, under `input`."""
    text = params.get("input") if type(params) is dict and len(params) == 1 else None
    if type(text) is not str or text.count("{") + text.count("[") < _DEEP:
        return params
    try:
        return {"input": json.loads(text)}
    except (ValueError, RecursionError):
        return params


def exactly(value: Json) -> str:
    """Return a text that is the same for equal JSON values."""
    return json.dumps(value, sort_keys=True, default=str)


def result(value: Json) -> Iterator[tuple[str, ...]]:
    """Yield the texts and files of a tool result; whatever is no content block counts as its JSON text."""
    if value is not None:
        for block in value if type(value) is list else [value if type(value) is str else encode(value).decode("utf-8")]:
            piece = _block(block)
            if piece != ("text", ""):
                yield piece


def _block(block: Json) -> tuple[str, ...]:
    if type(block) is str:
        return ("text", block)
    if type(block) is dict and block.get("type") in TEXTS and type(block.get("text")) is str:
        return ("text", block["text"])
    found = _file(block) if type(block) is dict else None
    return found or ("text", encode(block).decode("utf-8"))


def _file(block: JsonObject) -> tuple[str, ...] | None:
    source = block.get("source")
    if block.get("type") in ("image", "document") and type(source) is dict:
        if source.get("type") == "base64":
            return _told(source.get("media_type"), source.get("data"))
        return _told("address", source.get("url"))
    if block.get("type") == "image":
        return _told(block.get("mimeType"), block.get("data"))
    url = block.get("image_url")
    if block.get("type") == "input_image" and type(url) is str:
        head, comma, data = url.partition(";base64,")
        return _told(head.removeprefix("data:"), data) if comma else _told("address", url)
    return None


def _kept(media_type: str, data: str) -> tuple[str, str]:
    """Return a file as it is told apart: an address says by itself what is behind it, no client notes its type."""
    return ("address" if "://" in data else media_type, data)


def _told(media_type: Json, data: Json) -> tuple[str, ...] | None:
    return ("file", *_kept(media_type, data)) if type(media_type) is str and type(data) is str else None


def on_the_side(passage: Passage) -> set[str]:
    """Return the messages of subagents that an old Claude Code kept in the session's own file.

    A file that begins with one is a subagent's as a whole: nothing in it is on the side.
    """
    marked = [(m["id"], _residue(m).get("isSidechain") is True) for m in passage.messages if m["role"] != "system"]
    return set() if not marked or marked[0][1] else {message_id for message_id, side in marked if side}


def _residue(message: JsonObject) -> JsonObject:
    source = message["options"].get("source")
    return source if type(source) is dict else {}
