"""Canonical events that no reader made: a small healthy session, and ways to spoil it."""

import copy
from collections.abc import Iterator
from typing import Any

from pond.model.json_text import JsonObject

TIME = "2026-01-02T03:04:05.678Z"
ID = "11111111-2222-4333-8444-555555555555"
Events = list[JsonObject]


def session(session_id: str = ID, agent: str = "gemini-cli", **more: Any) -> JsonObject:
    row = {"kind": "session", "id": session_id, "source_agent": agent, "project": "/home/ada/bench", "created_at": TIME}
    return {**row, "options": {}, **more}


def message(role: str, message_id: str, session_id: str = ID, **more: Any) -> JsonObject:
    content = {"content": ""} if role == "system" else {}
    head = {"kind": "message", "id": message_id, "session_id": session_id, "role": role, "timestamp": TIME}
    return {**head, **content, "options": {}, **more}


def part(message_id: str, kind: str, session_id: str = ID, **more: Any) -> JsonObject:
    provenance = "injected" if kind == "tool_result" else "conversational"
    head = {"kind": "part", "id": f"{message_id}:0", "session_id": session_id, "message_id": message_id, "type": kind}
    return {**head, "provenance": provenance, "options": {}, **more}


def asked(text: Any = "Water the ferns", message_id: str = "ask", session_id: str = ID) -> Events:
    return [message("user", message_id, session_id), part(message_id, "text", session_id, text=text)]


def called(call_id: Any = "call-1", message_id: str = "call", **more: Any) -> Events:
    call = {"call_id": call_id, "name": "Water", "params": {"litres": 2}, "provider_executed": False, **more}
    return [message("assistant", message_id), part(message_id, "tool_call", **call)]


def returned(call_id: Any = "call-1", message_id: str = "result", **more: Any) -> Events:
    result = {"call_id": call_id, "name": "Water", "result": "done", "is_failure": False, **more}
    return [message("tool", message_id), part(message_id, "tool_result", **result)]


def answered(text: Any = "They are wet.", message_id: str = "answer") -> Events:
    return [message("assistant", message_id), part(message_id, "text", text=text)]


def healthy() -> Events:
    """Return a prompt, a call, its result and an answer."""
    return [session(), *asked(), *called(), *returned(), *answered()]


JUNK: list[Any] = [
    None, True, 0, -1, 1.5, 10**30, "", " ", "x", "a/b/../c", "\ud83d", "\x00", "y" * 5000, [], [None], [[]], {},
    {"a": None}, [{"type": "text"}], [{"type": "text", "text": 5}], [{"type": "image", "source": {"type": "base64"}}],
    {"type": "text", "text": "t"}, "2026-13-99", "../../../etc/passwd",
]  # fmt: skip


def spoilt() -> Iterator[tuple[str, Events]]:
    """Yield the healthy session with one field of one event gone, or of another type or shape."""
    files = [*asked(message_id="picture"), message("assistant", "thought")]
    files.insert(
        2, {**part("picture", "file", media_type="image/png", data="AAAA", file_name="a.png"), "id": "picture:1"}
    )
    files.append(part("thought", "reasoning", text="hm", options={"anthropic": {"signature": "c2ln"}}))
    rows = [*healthy(), *files]
    for index, event in enumerate(rows):
        for field in event:
            changed = copy.deepcopy(rows)
            del changed[index][field]
            yield f"{index}-{field}-gone", changed
            for number, junk in enumerate(JUNK):
                changed = copy.deepcopy(rows)
                changed[index][field] = copy.deepcopy(junk)
                yield f"{index}-{field}-{number}", changed


def arranged() -> Iterator[tuple[str, Events]]:
    """Yield sessions whose events are each in order and do not fit together."""
    yield "parts without a message", [session(), *asked(), part("nobody", "text", text="lost"), *answered()]
    yield "a part of an earlier message", [session(), *asked(), *answered(), part("ask", "text", text="late")]
    yield "two calls of one id", [session(), *asked(), *called(), *called(message_id="call2"), *returned(), *answered()]
    yield "one id asked and answered twice", [
        session(), *asked(), *called(), *returned(), *called(message_id="c2"), *returned(message_id="r2"), *answered(),
    ]  # fmt: skip
    yield (
        "two results of one call",
        [session(), *asked(), *called(), *returned(), *returned(message_id="r2"), *answered()],
    )
    yield "a result before its call", [session(), *asked(), *returned(), *called(), *answered()]
    yield "a result and no call", [session(), *returned()]
    yield "a call and no result", [session(), *asked(), *called(), *asked("And now?", "again"), *answered()]
    yield "a call at the end", [session(), *asked(), *called()]
    yield "two messages of one id", [session(), *asked(), *asked("The same id"), *answered()]
    yield "two parts of one id", [session(), *asked(), part("ask", "text", text="The same id"), *answered()]
    yield "an answer first", [session(), *answered(), *asked(), *answered(message_id="more")]
    yield "only empty texts", [session(), *asked(""), *answered(" \n")]
    yield (
        "an unknown role",
        [session(), *asked(), message("narrator", "n"), part("n", "text", text="So it was."), *answered()],
    )
    yield (
        "an unknown part",
        [session(), *asked(), message("assistant", "h"), part("h", "hologram", text="x"), *answered()],
    )
    yield "a message of nobody", [session(), *asked(), *asked("who?", "w", "another session"), *answered()]
    yield "nothing but the session", [session()]
    yield "a slash in the id", [session("a/b/../../c"), *asked(session_id="a/b/../../c")]
    yield "a very long id", [session("i" * 4000), *asked(session_id="i" * 4000)]
    for name in ("\ud83d", "\x00", "C:\\x", "/", ".", "~", "/a\nb", "/" + "deep/" * 400, "/\u00e9\U0001f340"):
        yield f"project {name[:9]!r}", [session(project=name), *asked(), *answered()]
    loop = [("a", "b"), ("b", "a"), ("c", "c")]
    yield (
        "families in a circle",
        [event for one, other in loop for event in [session(one, parent_session_id=other), *asked(session_id=one)]],
    )
