"""Session files written by hand: only what counting looks at."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def write(file: Path, rows: Iterable[Row]) -> Path:
    """Write a session file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def time(minute: int, day: int = 14) -> str:
    """Return a minute of an invented day."""
    return f"2026-03-{day:02}T09:{minute:02}:00.000Z"


# --- Claude Code ------------------------------------------------------------------------------------------------------


def _claude(session: str, id: str, minute: int, **more: Any) -> Row:
    return {"uuid": id, "sessionId": session, "cwd": "/srv/fern", "timestamp": time(minute), **more}


def typed(session: str, id: str, minute: int, text: str) -> Row:
    """Return a prompt."""
    return _claude(session, id, minute, type="user", message={"role": "user", "content": text})


def answered(session: str, id: str, minute: int, answer: str, output: int, *blocks: Row, model: str = "fern-1") -> Row:
    """Return a record of an answer; several may belong to one."""
    usage = {
        "input_tokens": 10,
        "output_tokens": output,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 5,
    }
    message = {
        "id": answer,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(blocks),
        "usage": usage,
    }
    return _claude(session, id, minute, type="assistant", message=message)


def text(words: str) -> Row:
    """Return a block of text."""
    return {"type": "text", "text": words}


def call(id: str, name: str) -> Row:
    """Return a block that calls a tool."""
    return {"type": "tool_use", "id": id, "name": name, "input": {}}


def returned(session: str, id: str, minute: int, call_id: str, failed: bool) -> Row:
    """Return the result of a call."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "done", "is_error": failed}
    return _claude(session, id, minute, type="user", message={"role": "user", "content": [block]})


def queued(session: str, minute: int, operation: str, words: str) -> Row:
    """Return a row of the queue."""
    return {
        "type": "queue-operation",
        "operation": operation,
        "timestamp": time(minute),
        "sessionId": session,
        "content": words,
    }


# --- Codex ------------------------------------------------------------------------------------------------------------


def meta(id: str, minute: int, parent: str | None = None) -> Row:
    """Return the first row of a rollout."""
    payload = {
        "id": id,
        "timestamp": time(minute),
        "cwd": "/srv/moss",
        "originator": "codex_exec",
        "cli_version": "0.106.0",
    }
    return _codex("session_meta", minute, payload | ({"forked_from_id": parent} if parent else {}))


def turn(minute: int, model: str) -> Row:
    """Return the row that names the model of what follows."""
    return _codex("turn_context", minute, {"cwd": "/srv/moss", "model": model})


def spoken(minute: int, role: str, words: str) -> Row:
    """Return a message."""
    kind = "input_text" if role == "user" else "output_text"
    return _codex(
        "response_item", minute, {"type": "message", "role": role, "content": [{"type": kind, "text": words}]}
    )


def total(minute: int, output: int, newest: int, reads: int = 1000, cached: int = 400) -> Row:
    """Return a running total, and what the newest answer took."""
    info = {
        "total_token_usage": {"input_tokens": reads, "cached_input_tokens": cached, "output_tokens": output},
        "last_token_usage": {"input_tokens": 500, "cached_input_tokens": 200, "output_tokens": newest},
    }
    return _codex("event_msg", minute, {"type": "token_count", "info": info})


def noted(minute: int, response: str, output: int) -> Row:
    """Return what newer versions note with each answer."""
    usage = {"input_tokens": 500, "cached_input_tokens": 200, "output_tokens": output}
    return _codex("token_usage_record", minute, {"response_id": response, "usage": usage})


def _codex(kind: str, minute: int, payload: Row) -> Row:
    return {"timestamp": time(minute), "type": kind, "payload": payload}
