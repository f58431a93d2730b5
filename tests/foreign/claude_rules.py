"""What Claude Code and the service behind it ask of a session file, checked on the rows as they are written."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from pond.model.json_text import Json, JsonObject

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_BLOCKS = {
    "user": ("text", "image", "document", "tool_result"),
    "assistant": ("text", "thinking", "redacted_thinking", "tool_use"),
}
Row = JsonObject


def claude_faults(file: Path, rows: list[Json], rewound: bool) -> list[str]:
    """Return what is wrong with a session file; `rewound` tells whether a prompt may start the session again."""
    chain = [row for row in rows if "uuid" in row]
    return [
        *_file_faults(file, chain),
        *(f"row {n}: {what}" for n, row in enumerate(rows) for what in _row_faults(row)),
        *_chain_faults(chain, rewound),
        *(what for path in _paths(chain) for what in _talk_faults(path)),
        *_answer_faults(chain),
    ]


def _file_faults(file: Path, chain: list[Row]) -> Iterator[str]:
    subagent = file.parent.name == "subagents"
    name = file.parent.parent.name if subagent else file.stem
    if not _UUID.fullmatch(name):
        yield f"the session's name {name!r} is no UUID"
    spoken = [row for row in chain if row["type"] in ("user", "assistant")]
    if not spoken:
        yield "there is no message"
    elif spoken[0]["type"] != "user":
        yield "the first message is not the user's"
    if {row.get("isSidechain") for row in spoken} - {subagent}:
        yield "isSidechain does not fit the place of the file"
    ids = [row["uuid"] for row in chain]
    if len(set(ids)) != len(ids):
        yield "two rows have the same uuid"


def _row_faults(row: Row) -> Iterator[str]:
    if row["type"] not in ("user", "assistant", "system"):
        return
    try:
        if datetime.fromisoformat(row["timestamp"]).tzinfo is None:
            yield "the timestamp has no zone"
    except (ValueError, KeyError, TypeError):
        yield f"the timestamp {row.get('timestamp')!r} is no date"
    if row["type"] == "system":
        return
    message = row["message"]
    if message["role"] != row["type"]:
        yield f"a {row['type']} row holds a message of {message['role']!r}"
    if row["type"] == "assistant" and not message.get("id"):
        yield "an answer without message.id"
    if not blocks(row):
        yield "a message without content"
    for block in blocks(row):
        if block["type"] not in _BLOCKS[row["type"]]:
            yield f"a {row['type']} message holds a block of type {block['type']!r}"
        else:
            yield from _block_faults(block)


def _block_faults(block: JsonObject) -> Iterator[str]:
    kind = block["type"]
    if kind == "text" and not (type(block["text"]) is str and block["text"].strip()):
        yield "an empty text"
    if kind == "thinking" and not (type(block.get("signature")) is str and block["signature"]):
        yield "thinking without a signature"
    if kind == "tool_use" and (
        type(block["input"]) is not dict or not _CALL_ID.fullmatch(block["id"]) or not block["name"]
    ):
        yield f"a call that no service takes: {block}"
    if kind == "tool_result":
        content = block.get("content")
        if type(content) is list:
            for inner in content:
                if inner["type"] not in ("text", "image", "document"):
                    yield f"a result holds a block of type {inner['type']!r}"
                else:
                    yield from _block_faults(inner)
        elif type(content) is not str:
            yield f"a result is neither text nor blocks: {content!r}"
    if kind in ("image", "document") and not _is_source(kind, block["source"]):
        yield f"a picture or document that no service takes: {block['source']}"


def _is_source(kind: str, source: JsonObject) -> bool:
    if source["type"] == "url":
        return type(source["url"]) is str and "://" in source["url"]
    wanted = _IMAGES if kind == "image" else ("application/pdf",)
    return source["type"] == "base64" and source["media_type"] in wanted and type(source["data"]) is str


def _chain_faults(chain: list[Row], rewound: bool) -> Iterator[str]:
    seen: set[str] = set()
    for row in chain:
        parent = row.get("parentUuid")
        if parent is None:
            anew = rewound and row["type"] == "user"
            if seen and not anew and row.get("subtype") != "compact_boundary":
                yield f"the chain is broken at {row['uuid']}"
        elif parent not in seen:
            yield f"{row['uuid']} hangs on {parent}, which is not above it"
        seen.add(row["uuid"])


def _paths(chain: list[Row]) -> Iterator[list[Row]]:
    """Yield the rows from a root to each leaf: every conversation that a person can continue."""
    by_id = {row["uuid"]: row for row in chain}
    parents = {row.get("parentUuid") for row in chain}
    for leaf in chain:
        if leaf["uuid"] not in parents:
            path: list[Row] = []
            at: Row | None = leaf
            while at is not None and len(path) <= len(chain):  # a circle is a broken chain, told elsewhere
                path.insert(0, at)
                at = by_id.get(at.get("parentUuid"))
            yield path


def _talk_faults(path: list[Row]) -> Iterator[str]:
    """Every call is answered by the very next user rows, before they say anything else; no result without a call."""
    open_calls: set[str] = set()
    told = False  # the user said something else than results since the last answer
    for row in path:
        if row["type"] == "assistant" and told:
            if open_calls:
                yield f"unanswered calls before {row['uuid']}: {sorted(open_calls)}"
            open_calls, told = set(), False
        for block in blocks(row):
            if block["type"] == "tool_use":
                open_calls.add(block["id"])
            elif block["type"] == "tool_result":
                if block["tool_use_id"] not in open_calls:
                    yield f"{row['uuid']} holds a result without its call: {block['tool_use_id']}"
                open_calls.discard(block["tool_use_id"])
                told = True
            elif row["type"] == "user":
                if open_calls:
                    yield f"{row['uuid']} speaks before the results of {sorted(open_calls)}"
                told = True


def _answer_faults(chain: list[Row]) -> Iterator[str]:
    """Rows of one answer share a message.id, and no other answer has it."""
    seen: set[str] = set()
    current = ""
    at: str | None = None
    for row in chain:
        if row["type"] != "assistant":
            current = ""
        else:
            own = row["message"].get("id", "")
            if current and row.get("parentUuid") == at and own != current:
                yield f"the answer at {row['uuid']} changes its message.id"
            if own != current and own in seen:
                yield f"the message.id of {row['uuid']} belongs to an earlier answer"
            seen.add(own)
            current = own
        at = row["uuid"]


def blocks(row: Row) -> list[JsonObject]:
    """Return a row's content blocks; a plain text is one."""
    content = row.get("message", {}).get("content", [])
    return [{"type": "text", "text": content}] if type(content) is str else content
