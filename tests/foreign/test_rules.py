"""The rules of validity can fail: a valid session, spoilt in one way at a time, is found out."""

import copy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.foreign import hostile
from tests.foreign.claude_rules import claude_faults
from tests.foreign.codex_rules import codex_faults
from tests.foreign.road import converted

Spoil = Callable[[list[Any]], object]


@cache
def _made(target: str) -> tuple[Path, list[Any]]:
    with converted([*hostile.healthy(), *hostile.asked("More?", "more")], target, note=False) as made:
        ((file, rows),) = made.rows()
        if target == "claude-code":
            rows = [row for row in rows if "uuid" in row]  # what says where it comes from is no row of the chain
        return file, rows


def _rows(target: str) -> tuple[Path, list[Any]]:
    return copy.deepcopy(_made(target))


def _block(rows: list[Any], number: int) -> Any:
    return rows[number]["message"]["content"][0]


def _answer_goes_on(rows: list[Any]) -> None:
    """Put a row between a call and its result that is of the same answer and says it is of another."""
    more = {**rows[1], "uuid": "more", "parentUuid": rows[1]["uuid"], "message": {**rows[1]["message"], "id": "msg_2"}}
    rows.insert(2, {**more, "message": {**more["message"], "content": [{"type": "text", "text": "and"}]}})
    rows[3]["parentUuid"] = "more"


def _say(block: Any) -> Spoil:
    return lambda rows: rows[3]["message"].update(content=[block])


CLAUDE: dict[str, Spoil] = {
    "same uuid": lambda rows: rows[4].update(uuid=rows[3]["uuid"]),
    "chain is broken": lambda rows: rows[3].update(parentUuid=None),
    "not above it": lambda rows: rows[3].update(parentUuid="nobody"),
    "first message is not": lambda rows: (rows.pop(0), rows[0].update(parentUuid=None)),
    "is no date": lambda rows: rows[2].update(timestamp="yesterday"),
    "no zone": lambda rows: rows[2].update(timestamp="2026-01-02T03:04:05"),
    "isSidechain": lambda rows: rows[0].update(isSidechain=True),
    "without message.id": lambda rows: rows[1]["message"].pop("id"),
    "holds a message of": lambda rows: rows[1]["message"].update(role="user"),
    "without content": lambda rows: rows[3]["message"].update(content=[]),
    "holds a block of type": _say({"type": "hologram"}),
    "an empty text": _say({"type": "text", "text": " "}),
    "without a signature": _say({"type": "thinking", "thinking": "hm", "signature": ""}),
    "call that no service": lambda rows: _block(rows, 1).update(input=[]),
    "result holds": lambda rows: _block(rows, 2).update(content=[{"type": "input_text", "text": "x"}]),
    "neither text nor blocks": lambda rows: _block(rows, 2).update(content=None),
    "document that no service": lambda rows: rows[4]["message"].update(
        content=[{"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": "AA"}}]
    ),
    "unanswered calls": lambda rows: rows[1]["message"]["content"].append({**_block(rows, 1), "id": "call-2"}),
    "without its call": lambda rows: _block(rows, 2).update(tool_use_id="call-9"),
    "speaks before": lambda rows: rows[2]["message"]["content"].insert(0, {"type": "text", "text": "wait"}),
    "changes its message.id": lambda rows: _answer_goes_on(rows),
    "belongs to an earlier answer": lambda rows: rows[3]["message"].update(id=rows[1]["message"]["id"]),
    "there is no message": lambda rows: rows.clear(),
}


@pytest.mark.parametrize("wrong", CLAUDE)
def test_claude_code(wrong: str) -> None:
    file, rows = _rows("claude-code")
    assert claude_faults(file, rows, rewound=False) == []
    CLAUDE[wrong](rows)
    found = claude_faults(file, rows, rewound=False)
    assert [what for what in found if wrong in what], found


def test_claude_code_needs_a_uuid() -> None:
    file, rows = _rows("claude-code")
    assert claude_faults(file.with_name("my-session.jsonl"), rows, rewound=False)


def _items(rows: list[Any], kind: str) -> list[Any]:
    return [row["payload"] for row in rows if row["payload"].get("type") == kind]


def _item(kind: str, **changes: Any) -> Spoil:
    return lambda rows: _items(rows, kind)[0].update(changes)


CODEX: dict[str, Spoil] = {
    "no session_meta": lambda rows: rows.pop(0),
    "has no cwd": lambda rows: rows[0]["payload"].pop("cwd"),
    "not that of its file": lambda rows: rows[0]["payload"].update(id="another"),
    "second session_meta": lambda rows: rows.append(rows[0]),
    "no user_message event": lambda rows: [event.update(type="note") for event in _items(rows, "user_message")],
    "no timestamp": lambda rows: rows[2].update(timestamp=5),
    "half a character": _item("user_message", message="\ud83d"),
    "of role": _item("message", role="developer"),
    "without content": _item("message", content="text"),
    "holds a part of type": _item("message", content=[{"type": "text", "text": "x"}]),
    "an empty text": _item("message", content=[{"type": "input_text", "text": ""}]),
    "are no text": _item("function_call", arguments={}),
    "without a name": _item("function_call", name=""),
    "call_id that no service": _item("function_call", call_id="a b"),
    "neither text nor parts": _item("function_call_output", output={"content": "x"}),
    "output holds": _item("function_call_output", output=[{"type": "output_text", "text": "x"}]),
    "picture that no service": _item("message", content=[{"type": "input_image", "image_url": "data:text/plain,x"}]),
    "response_item of type": _item("message", type="hologram"),
    "stands twice": lambda rows: rows.append(
        {**rows[0], "type": "response_item", "payload": _items(rows, "function_call")[0]}
    ),
    "no such call above": _item("function_call_output", call_id="call-9"),
    "of another kind": _item("function_call_output", type="custom_tool_call_output"),
    "answered twice": lambda rows: rows.append(
        {**rows[0], "type": "response_item", "payload": _items(rows, "function_call_output")[0]}
    ),
    "taken back": lambda rows: rows.append(
        {**rows[0], "type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 3}}
    ),
    "without its message": lambda rows: rows.append({**rows[0], "type": "compacted", "payload": {}}),
}


@pytest.mark.parametrize("wrong", CODEX)
def test_codex(wrong: str) -> None:
    file, rows = _rows("codex")
    assert codex_faults(file, rows) == []
    CODEX[wrong](rows)
    found = codex_faults(file, rows)
    assert [what for what in found if wrong in what or wrong == "of another kind"], found


def test_codex_needs_the_name_of_a_rollout() -> None:
    file, rows = _rows("codex")
    assert codex_faults(file.with_name("session.jsonl"), rows)
