"""What Codex and the service behind it ask of a rollout, checked on the rows as they are written."""

import re
from collections.abc import Iterator
from pathlib import Path

from pond.model.json_text import Json, JsonObject

_NAME = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(?P<id>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl")
_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HALF = re.compile("[\ud800-\udfff]")
_META = ("id", "timestamp", "cwd", "originator", "cli_version")
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS = {"function_call_output": "function_call", "custom_tool_call_output": "custom_tool_call"}
_CONTENT = {"user": ("input_text", "input_image"), "assistant": ("output_text",)}


def codex_faults(file: Path, rows: list[Json]) -> list[str]:
    """Return what is wrong with a rollout."""
    return [
        *_file_faults(file, rows),
        *(f"row {n}: {what}" for n, row in enumerate(rows) for what in _row_faults(row)),
        *_call_faults(rows),
        *_rollback_faults(rows),
    ]


def _file_faults(file: Path, rows: list[Json]) -> Iterator[str]:
    name = _NAME.fullmatch(file.name)
    if name is None:
        yield f"{file.name!r} is no name of a rollout"
    head = rows[0]
    if head["type"] != "session_meta":
        yield "the first row is no session_meta"
        return
    for field in _META:
        if type(head["payload"].get(field)) is not str or not head["payload"][field]:
            yield f"session_meta has no {field}"
    if name is not None and head["payload"].get("id") != name["id"]:
        yield "the session's id is not that of its file"
    if any(row["type"] == "session_meta" for row in rows[1:]):
        yield "a second session_meta"
    child = "source" in head["payload"]  # is never looked for by itself
    if not child and not any(_payload(row).get("type") == "user_message" for row in rows if row["type"] == "event_msg"):
        yield "no user_message event: the session cannot be found again"


def _row_faults(row: JsonObject) -> Iterator[str]:
    if type(row.get("timestamp")) is not str or not row["timestamp"]:
        yield "no timestamp"
    payload = _payload(row)
    checked = {**row, "payload": {key: value for key, value in payload.items() if key != "arguments"}}
    if any(_HALF.search(text) for text in _texts(checked)):
        yield "half a character: the row will be dropped"
    if row["type"] == "response_item":
        yield from _item_faults(payload)
    elif row["type"] == "compacted":
        if type(payload.get("message")) is not str:
            yield "a compaction without its message"
        for item in payload.get("replacement_history", []):
            yield from _item_faults(item)


def _item_faults(item: JsonObject) -> Iterator[str]:
    kind = item.get("type")
    if kind == "message":
        if item["role"] not in _CONTENT:
            yield f"a message of role {item['role']!r}"
        elif type(item["content"]) is not list or not item["content"]:
            yield "a message without content"
        else:
            for part in item["content"]:
                if part["type"] not in _CONTENT[item["role"]]:
                    yield f"a message of {item['role']} holds a part of type {part['type']!r}"
                else:
                    yield from _part_faults(part)
    elif kind in _CALLS:
        if type(item.get(_CALLS[kind])) is not str:
            yield f"the {_CALLS[kind]} of a call are no text"
        if not (type(item.get("name")) is str and item["name"]):
            yield "a call without a name"
        if not (type(item.get("call_id")) is str and _CALL_ID.fullmatch(item["call_id"])):
            yield f"a call_id that no service takes: {item.get('call_id')!r}"
    elif kind in _OUTPUTS:
        output = item.get("output")
        if type(output) is list:
            for part in output:
                if part.get("type") not in ("input_text", "input_image"):
                    yield f"an output holds a part of type {part.get('type')!r}"
                else:
                    yield from _part_faults(part, empty_allowed=True)
        elif type(output) is not str:
            yield f"an output is neither text nor parts: {output!r}"
    else:
        yield f"a response_item of type {kind!r}"


def _part_faults(part: JsonObject, empty_allowed: bool = False) -> Iterator[str]:
    if part["type"] == "input_image":
        url = part.get("image_url")
        if not (type(url) is str and (url.startswith("data:image/") or "://" in url)):
            yield f"a picture that no service takes: {url!r}"
    elif type(part.get("text")) is not str or not (empty_allowed or part["text"].strip()):
        yield f"an empty text: {part}"


def _call_faults(rows: list[Json]) -> Iterator[str]:
    """Call ids are unique, and each output stands after its call, once, and is of its kind."""
    calls: dict[str, str] = {}
    answered: set[str] = set()
    for row in rows:
        item = _payload(row)
        kind, call_id = item.get("type"), item.get("call_id")
        if row["type"] != "response_item" or type(call_id) is not str:
            continue
        if kind in _CALLS:
            if call_id in calls:
                yield f"the call id {call_id!r} stands twice"
            calls[call_id] = kind
        elif calls.get(call_id) != _OUTPUTS[str(kind)]:
            yield f"the output of {call_id!r} has no such call above it"
        elif call_id in answered:
            yield f"the call {call_id!r} is answered twice"
        else:
            answered.add(call_id)


def _rollback_faults(rows: list[Json]) -> Iterator[str]:
    live = 0
    for row in rows:
        item = _payload(row)
        if row["type"] == "response_item" and item.get("role") == "user":
            live += 1
        elif row["type"] == "compacted":
            live = sum(kept.get("role") == "user" for kept in item.get("replacement_history", []))
        elif item.get("type") == "thread_rolled_back":
            if type(item["num_turns"]) is not int or not 0 < item["num_turns"] <= live:
                yield f"{item['num_turns']} of {live} turns are taken back"
            live -= item["num_turns"]


def _payload(row: JsonObject) -> JsonObject:
    payload = row.get("payload")
    return payload if type(payload) is dict else {}


def _texts(value: Json) -> Iterator[str]:
    if type(value) is str:
        yield value
    elif type(value) is dict:
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif type(value) is list:
        for item in value:
            yield from _texts(item)
