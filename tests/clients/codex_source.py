"""What a Codex rollout says: its response items, after compactions and rollbacks, with the head of a fork's parent."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.clients.expected import Item, NotASession, between, names, rows

Row = dict[str, Any]

_FAILED = re.compile(r"^Process exited with code [1-9]", re.MULTILINE)  # what surely says so; there is more
# Texts in user messages that the client wrote itself.
_INJECTED = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<image name=",
    "</image>",
)


def read(path: Path) -> list[Item]:
    """Return what has to reach the model when this rollout is resumed."""
    history = _history(path)
    outputs = {item["call_id"]: item for item in history if str(item.get("type")).endswith("_call_output")}
    return [found for item in history for found in _items(item, outputs)]


def _history(path: Path) -> list[Row]:
    """Return the response items that are left of a rollout."""
    found = rows(path)
    if not found or found[0].get("type") != "session_meta":
        raise NotASession("the first record is not session_meta")
    items: list[Row] = []
    for row in [*_inherited(path, found[0]["payload"]), *found]:
        payload = row.get("payload", {})
        match row.get("type"), payload.get("type"):
            case "response_item", _:
                items.append(payload)
            case "compacted", _:
                items = _compacted(items, payload)
            case "event_msg", "thread_rolled_back":
                items = _rolled_back(items, int(payload["num_turns"]))
    return items


def _inherited(path: Path, meta: Row) -> list[Row]:
    """Return the records of the parent from which a fork continues; its own file holds only what came after."""
    base = meta.get("history_base")
    if not base:
        return []
    parents = [each for each in path.parents[3].rglob("rollout-*.jsonl") if each.stem.endswith(base["thread_id"])]
    if not parents:
        raise NotASession(f"the rollout goes on from {base['thread_id']}, which is not in the store")
    return [row for row in rows(parents[0]) if row["ordinal"] < base["end_ordinal_exclusive"]]


def _compacted(items: list[Row], payload: Row) -> list[Row]:
    replacement = payload.get("replacement_history")
    if isinstance(replacement, list):
        return list(replacement)
    summary = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": payload["message"]}]}
    return [*(item for item in items if _opens_turn(item)), summary]


def _rolled_back(items: list[Row], turns: int) -> list[Row]:
    starts = [index for index, item in enumerate(items) if _opens_turn(item)]
    return items[: starts[-turns]] if 0 < turns <= len(starts) else items


def _opens_turn(item: Row) -> bool:
    return item.get("role") == "user" and any(_typed(part.get("text", "")) for part in item["content"])


def _typed(text: str) -> str:
    """Return what a person typed: of a shell command the command, of the client's own notes nothing."""
    if text.startswith("<user_shell_command>"):
        return between(text, "<command>", "</command>")
    return "" if text.startswith(_INJECTED) else text


def _items(item: Row, outputs: dict[str, Row]) -> Iterator[Item]:
    ids = names(item.get("id"), item.get("call_id"))
    kind = str(item.get("type"))
    if kind == "message":
        yield from _said(item, ids)
    elif kind == "reasoning":
        pieces = [*(item.get("summary") or []), *(item.get("content") or [])]
        yield Item("thinking", "\n".join(str(piece["text"]) for piece in pieces), ids)
    elif kind in ("function_call", "custom_tool_call"):
        output = outputs.get(item["call_id"])
        texts, pictures = _output(output["output"] if output else "")
        result = None if output is None else "\n".join(texts)
        ids |= names(output.get("id")) if output else frozenset()
        arguments = json.loads(item["arguments"]) if kind == "function_call" else item["input"]
        failed = result is not None and _FAILED.search(result) is not None
        yield Item("call", "", ids, item["name"], arguments, result, failed)
        yield from (Item("image", names=ids) for _ in range(pictures))


def _said(item: Row, ids: frozenset[str]) -> Iterator[Item]:
    role = item.get("role")
    for part in item["content"]:
        if part["type"] == "input_image":
            yield Item("image", names=ids)
        elif role == "assistant":
            yield Item("model", part["text"], ids)
        elif role == "user" and _typed(part["text"]):
            yield Item("human", _typed(part["text"]), ids)


def _output(output: Any) -> tuple[list[str], int]:
    """Return an output's texts and how many pictures are in it."""
    if isinstance(output, str):
        return [output], 0
    texts = [part["text"] for part in output if part["type"] == "input_text"]
    return texts, sum(part["type"] == "input_image" for part in output)
