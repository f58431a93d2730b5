"""Canonical sessions that hypothesis makes up: well-formed one by one, as odd as the model allows taken together."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from pond.model.json_text import JsonObject

TIME = "2026-01-02T03:04:05.678Z"
SESSION = "11111111-2222-4333-8444-555555555555"

_ODD = [
    "", " \n", "plain words", "\ud83d half", "\x00 nothing", "\u2028line\u2029", "\U0001f340 leaf", "e\u0301 \u00e9",
    "</injected-context>", "<injected-context source=\"x\">", "```json\n{}\n```", "\r\n", "a\tb", "\\u0000",
    "\"quoted\"",
]  # fmt: skip
texts = st.one_of(
    st.sampled_from(_ODD), st.text(max_size=12), st.text(st.characters(categories=["Cs", "L"]), max_size=3)
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
_call_ids = st.sampled_from(["call-1", "call-2", "toolu_3", "", "a/b.c", "\u00e9", "x" * 80, "call 4"])
_names = st.sampled_from(["Read", "exec_command", "mcp__a__b", "odd name!", "n" * 200, "\u00e9"])
_media = st.sampled_from(
    ["image/png", "image/jpeg", "image/bmp", "application/pdf", "text/plain", "image/*", "audio/wav"]
)
_proof = st.sampled_from([{}, {"anthropic": {"signature": "c2ln"}}, {"openai": {"encrypted_content": "ZW5j"}}])
_left: JsonObject = {"source": {"said": [{"type": "hologram"}, 3]}, "pond": {"weave": {"said": "r0r"}}}
_options: st.SearchStrategy[JsonObject] = st.sampled_from([
    {}, {"source": {"extra": 1}}, {"other": {"k": [None]}}, _left,
])  # fmt: skip


@st.composite
def _file(draw: Callable[..., Any], number: int) -> JsonObject:
    address = draw(st.booleans())
    data = f"https://example.invalid/{number}" if address else f"{number:04d}"
    return {"type": "file", "media_type": draw(_media), "data": data}


@st.composite
def _result(draw: Callable[..., Any], number: int) -> Any:
    """Return a result with words of its own, so that no other can be taken for it."""
    words = f"result {number} {draw(texts)}"
    url = f"data:image/png;base64,{number:04d}"
    picture = {"type": "base64", "media_type": draw(_media), "data": f"{number:04d}"}
    return draw(
        st.sampled_from([
            words,
            [{"type": "text", "text": words}, {"type": "image", "source": picture}],
            [{"type": "input_text", "text": words}, {"type": "input_image", "image_url": url}],
            [{"type": "image", "data": f"{number:04d}", "mimeType": "image/webp"}, words],
            {"odd": words, "deep": draw(_json)},
            [number, None, {"type": "unheard of", "text": words}],
        ])
    )  # fmt: skip


@st.composite
def _part(draw: Callable[..., Any], kind: str, number: int) -> JsonObject:
    if kind in ("text", "reasoning"):
        odd = draw(texts)
        words: JsonObject = {"type": kind, "text": odd if not odd.strip() else f"{kind} {number} {odd}"}
        return {**words, "options": draw(_proof)} if kind == "reasoning" else words
    if kind == "file":
        return {**draw(_file(number))}
    if kind == "tool_call":
        params = draw(st.one_of(st.dictionaries(texts, _json, max_size=3), _json))
        return {
            "type": kind,
            "call_id": draw(_call_ids),
            "name": draw(_names),
            "params": params,
            "provider_executed": False,
        }
    result = draw(_result(number))
    return {
        "type": kind,
        "call_id": draw(_call_ids),
        "name": "Read",
        "result": result,
        "is_failure": draw(st.booleans()),
    }


_HOLDS = {
    "system": [],
    "user": ["text", "text", "file"],
    "assistant": ["text", "reasoning", "tool_call", "tool_call", "tool_result", "file"],
    "tool": ["tool_result"],
}


@st.composite
def sessions(draw: Callable[..., Any], agent: str) -> list[JsonObject]:
    """Return a session row, then messages of all roles, each followed by its parts."""
    row = {"kind": "session", "id": SESSION, "source_agent": agent, "project": "/home/ada/bench", "created_at": TIME}
    events: list[JsonObject] = [{**row, "options": {}}]
    number = 0
    roles = draw(st.lists(st.sampled_from(["user", "assistant", "tool", "assistant", "tool", "system"]), max_size=8))
    for index, role in enumerate(["user", *roles] if draw(st.booleans()) else roles):
        message_id = f"m{index}{draw(st.sampled_from(['', '/x', '~2', ':0', ' ', chr(0xE9)]))}"
        owner = {"session_id": SESSION, "options": draw(_options)}
        message: JsonObject = {"kind": "message", "id": message_id, "role": role, "timestamp": TIME, **owner}
        if role == "system":
            message["content"] = draw(texts)
        events.append(message)
        for kind in draw(st.lists(st.sampled_from(_HOLDS[role]), min_size=1, max_size=3)) if _HOLDS[role] else []:
            number += 1
            provenance = (
                "injected" if kind == "tool_result" else draw(st.sampled_from(["conversational"] * 3 + ["injected"]))
            )
            events.append({
                "kind": "part", "id": f"{message_id}:{number}", "session_id": SESSION, "message_id": message_id,
                "provenance": provenance, "options": {}, **draw(_part(kind, number)),
            })  # fmt: skip
    return events
