"""What a client would send to its model: the two clients' own rules for what of a log still counts."""

from collections.abc import Iterator

from pond.model.json_text import Json, JsonObject
from pond.portable.inserted import OPEN
from tests.foreign.claude_rules import blocks


def codex_live(rows: list[Json]) -> list[str]:
    """Return the texts that are left: a rollback takes the last n user messages and all after them away.

    A compaction puts its replacement history in place of everything before it.
    """
    live: list[JsonObject] = []
    for row in rows:
        payload = row["payload"]
        if row["type"] == "response_item":
            live.append(payload)
        elif row["type"] == "compacted":
            live = list(payload["replacement_history"])
        elif payload.get("type") == "thread_rolled_back":
            asked = [n for n, item in enumerate(live) if item.get("role") == "user"]
            del live[asked[-payload["num_turns"]] :]
    return [text for item in live for text in _codex_texts(item) if not text.startswith(OPEN)]


def _codex_texts(item: JsonObject) -> Iterator[str]:
    if item["type"] == "message":
        yield from (part["text"] for part in item["content"] if "text" in part)
    else:
        yield item.get("name") or item.get("output") or ""


def claude_live(rows: list[Json]) -> list[str]:
    """Return the texts on the path from the last row, or the one that a later row names, up to a row without a parent.

    A compaction's boundary is such a row; the messages it preserves come between its summary and what follows.
    """
    by_id = {row["uuid"]: row for row in rows if "uuid" in row}
    path: list[JsonObject] = []
    ends = [by_id[row["leafUuid"]] if row["type"] == "last-prompt" else row for row in rows if _is_end(row)]
    at = ends[-1:]
    while at:
        path = at + path
        at = [by_id[parent] for parent in [at[0].get("parentUuid")] if parent is not None]
    kept = path[0].get("compactMetadata", {}).get("preservedMessages", {}).get("uuids", [])
    path[2:2] = [by_id[uuid] for uuid in kept]
    texts = (text for row in path for block in blocks(row) for text in _claude_texts(block))
    return [text for text in texts if not text.startswith(OPEN)]


def _is_end(row: JsonObject) -> bool:
    return "uuid" in row or (row["type"] == "last-prompt" and "leafUuid" in row)


def _claude_texts(block: JsonObject) -> Iterator[str]:
    found = block.get("text") or block.get("name") or block.get("content")
    if type(found) is str:
        yield found
