"""A call and its result as Codex shows them: the one event that its screen takes for a tool of another client."""

from __future__ import annotations

import re

from pond.model.json_text import Json, JsonObject, encode, nests_deeper

_MOST = 2_000  # characters of arguments or of a result: a screen shows the beginning
_DEEPEST = 100  # levels of arguments
_MCP = re.compile(r"mcp__(?P<server>.+?)__(?P<tool>.+)")


def called(call: JsonObject, result: JsonObject, client: str) -> JsonObject:
    """Return the event that shows a call; a tool of no MCP server counts as one of the client that ran it."""
    named = _MCP.fullmatch(call["name"])
    server, tool = (named["server"], named["tool"]) if named is not None else (client, call["name"])
    content = [{"type": "text", "text": _shortened(text)} for text in _texts(result["result"])]
    return {
        "type": "mcp_tool_call_end",
        "call_id": call["call_id"],
        "invocation": {"server": server, "tool": tool, "arguments": _arguments(call["params"])},
        "duration": {"secs": 0, "nanos": 0},
        "result": {"Ok": {"content": content, "isError": result["is_failure"]}},
    }


def _texts(result: Json) -> list[str]:
    """Return the texts of a result in the client's own form; a picture is named."""
    if type(result) is str:
        return [result]
    return [block["text"] if block["type"] == "input_text" else "[image]" for block in result]


def _arguments(params: Json) -> Json:
    """Return arguments that a screen can show: long or deep ones as the beginning of their text."""
    deep = nests_deeper(params, _DEEPEST)
    text = encode(params).decode("utf-8", "replace")
    return {"input": _shortened(text)} if deep or len(text) > _MOST else params


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[:_MOST]}… ({len(text) - _MOST} more characters)"
