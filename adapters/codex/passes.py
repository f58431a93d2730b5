"""What a single Codex row does not say: whether a tool failed, whether the event log is all there is, who asks.

The first is in the text of a tool's output or in a row before it. The others depend on earlier rows only: if a fact
depended on later rows, a longer file would change what a shorter one gave (adapter-integrity-additive-sync).
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from pond.portable.inserted import WRITER
from pond.portable.shown import is_display

# The first lines of what the client prints before a tool's own output.
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:)\s*(-?\d+)", re.MULTILINE)
_HEAD = 400
_SUCCEEDED = ("Process exited with code 0\n", "Exit code: 0\n")  # what `_EXIT` finds first in most outputs
_FAILED = (
    "apply_patch verification failed",
    "Script failed",
    "failed to parse function arguments",
    "exec_command failed",
    "failed in sandbox",
    "unsupported call",
    "Command blocked by",
    "aborted by user",
)
_OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output"))
_EVENTS = frozenset(("item_completed", "exec_command_end", "mcp_tool_call_end", "patch_apply_end"))
_SAID = frozenset(("message", "reasoning"))
_SPEAKERS = ("user", "assistant")
_SHOWN = frozenset(("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"))
# All possible facts; they are shared and must not be changed.
_NOTHING: dict[str, Any] = {}
_FAILURE, _SUCCESS = {"failed": True}, {"failed": False}
_UNHEARD, _UNATTENDED = {"unheard": True}, {"unattended": True}
_UNHEARD_UNATTENDED = _UNHEARD | _UNATTENDED
# Commands that a script starts leave codes that are never used. A code waits for an output a few rows away, so the last
# ones are enough, and the memory stays small however long the session gets.
_MOST_CODES = 128
_LONGEST_ID = 200


class Observer:
    """Sees the observed records in order and changes none, so `lower(lift(rs)) == rs` holds."""

    def __init__(self) -> None:
        self._exit_codes: dict[str, int] = {}  # call id -> exit code seen in the event log
        self._script_code = 0  # worst exit code of the commands a running script started
        self._heard = False  # items say the words: the event log only repeats them
        self._unattended: bool | None = None  # the client itself started the thread; None until the file says

    def state(self) -> dict[str, Any]:
        """Return what is remembered: for each code whether it means failure, as a list, because the order counts."""
        codes = [[call, int(code != 0)] for call, code in self._exit_codes.items()]
        script = int(self._script_code != 0)
        return {"codes": codes, "script": script, "heard": self._heard, "unattended": self._unattended}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        self._exit_codes = dict(state["codes"])
        self._script_code = state["script"]
        self._heard = state["heard"]
        self._unattended = state["unattended"]

    def observe(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return the facts about `record`.

        `failed` is about a tool's output, `unheard` about words that no item has said yet, `unattended` about words
        that the client writes in place of a person, for a guardian or a reviewer.
        """
        item = record.get("payload")
        if type(item) is not dict:
            item = record
        kind = item.get("type")
        if type(kind) is not str:
            if item.get("role") != "tool":
                self._heard = self._heard or _says_items(record, item)
                if (
                    record.get("type") == "session_meta" and self._unattended is None
                ):  # others are copies from elsewhere
                    self._unattended = _is_unattended(item.get("source"))
                return _UNATTENDED if self._unattended else _NOTHING
            return _FAILURE if _failed_text(item.get("content")) else _SUCCESS
        if kind in _OUTPUTS:
            return _FAILURE if self._failed(kind, item) else _SUCCESS
        if kind in _SAID:
            self._heard = self._heard or _says_items(record, item)
            return _UNATTENDED if self._unattended else _NOTHING
        if kind in _SHOWN:
            if self._heard:
                return _NOTHING
            return _UNHEARD_UNATTENDED if self._unattended else _UNHEARD
        if kind in _EVENTS:
            if not is_display(record):  # pond's own, for the screen: the output before it has said how it ended
                self._event(kind, item)
        elif kind == "custom_tool_call":
            self._script_code = 0
        return _NOTHING

    def _event(self, kind: str, event: dict[str, Any]) -> None:
        detail = event.get("item") if kind == "item_completed" else event
        if type(detail) is not dict:
            return
        code = detail.get("exit_code")
        if code is None and (detail.get("success") is False or detail.get("status") == "failed" or _mcp_error(detail)):
            code = 1
        if type(code) is not int:
            return
        call = detail.get("id") if kind == "item_completed" else detail.get("call_id")
        if type(call) is str and len(call) <= _LONGEST_ID:
            self._exit_codes[call] = code
            if len(self._exit_codes) > _MOST_CODES:
                del self._exit_codes[next(iter(self._exit_codes))]
        self._script_code = self._script_code or code

    def _failed(self, kind: str, item: dict[str, Any]) -> bool:
        if item.get("success") is False:
            return True
        call = item.get("call_id")
        code = self._exit_codes.pop(call, None) if type(call) is str else None
        if code is not None:
            return code != 0
        script = self._script_code if kind == "custom_tool_call_output" else 0
        return script != 0 or _failed_text(item.get("output"))


def _says_items(record: dict[str, Any], item: dict[str, Any]) -> bool:
    """Tell whether a row is an item with somebody's words, or shows that this session says its words in items."""
    if item.get("type") == "reasoning" or item.get("role") in _SPEAKERS:
        return True
    return record.get("type") == "world_state" or item.get("originator") == WRITER  # from a later client, or from pond


def _is_unattended(source: object) -> bool:
    """Tell whether the client itself started a thread; a model that spawns an agent counts as somebody who asks."""
    subagent = source.get("subagent") if type(source) is dict else None
    return subagent is not None and not (type(subagent) is dict and "thread_spawn" in subagent)


def _mcp_error(detail: dict[str, Any]) -> bool:
    result = detail.get("result")
    if type(result) is not dict:
        return False
    inner = result.get("Ok")
    return "Err" in result or (type(inner) is dict and inner.get("isError") is True)


def _failed_text(output: object) -> bool:
    """Tell from a tool's printed output whether it failed; without any sign of failure it did not."""
    if type(output) is list and output and type(output[0]) is dict:
        output = output[0].get("text")
    if type(output) is not str or output.startswith(_SUCCEEDED):
        return False
    head = output[:_HEAD]
    if (near := head.find("xit")) >= 0:  # no match starts earlier before it than `Process exited` does
        end = head.find("\nOutput:")  # what follows is the tool's own output
        if found := _EXIT.search(head, max(near - 9, 0), end if end >= 0 else _HEAD):
            return int(found[1]) != 0
    if head.startswith('{"output"') or head.startswith('{"metadata"'):
        return _json_exit_code(output) != 0
    return head.startswith(_FAILED)


def _json_exit_code(output: str) -> int:
    try:
        value = orjson.loads(output)  # only a fact is read from it; the text itself does not change
    except ValueError:
        return 0
    metadata = value.get("metadata") if type(value) is dict else None
    code = metadata.get("exit_code") if type(metadata) is dict else None
    return code if type(code) is int else 0
