"""What a Claude Code session says: the chain of its last leaf, from the last compaction on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.clients.expected import Item, NotASession, between, names, rows

Row = dict[str, Any]

# Texts in user records that the client wrote itself.
_INJECTED = (
    "<system-reminder>",
    "<local-command-",
    "<command-message>",
    "[Image: source:",
    "[Request interrupted by user",
)
_COMMAND = "<command-name>"


def read(path: Path) -> list[Item]:
    """Return what has to reach the model when this session is resumed."""
    all_rows = rows(path)
    chain = _chain(all_rows)
    results = _results(all_rows)
    return [item for row in chain for item in _items(row, results)]


def _chain(all_rows: list[Row]) -> list[Row]:
    """Follow the parents from the leaf: the last record of the file, or the one a later `last-prompt` names."""
    by_id = {row["uuid"]: row for row in all_rows if isinstance(row.get("uuid"), str)}
    leaf: str | None = None
    for row in all_rows:
        if row.get("type") in ("user", "assistant") and not row.get("isSidechain"):
            leaf = row["uuid"]
        elif row.get("type") == "last-prompt" and row.get("leafUuid") in by_id:
            leaf = row["leafUuid"]
    if leaf is None:
        raise NotASession(f"no conversation in {len(all_rows)} records")
    wanted: set[str] = set()
    while leaf is not None and leaf not in wanted:
        wanted.add(leaf)
        leaf = by_id[leaf].get("parentUuid") if leaf in by_id else None
    # A model's answer with several calls is several records with one message id; the results hang on different ones.
    answers = {_answer(by_id[each]) for each in wanted if each in by_id} - {None}
    chain = [row for row in all_rows if row.get("uuid") in wanted or _answer(row) in answers]
    return list(_with_preserved(chain, by_id))


def _with_preserved(chain: list[Row], by_id: dict[str, Row]) -> Iterator[Row]:
    """Yield the chain, with the records that a compaction kept behind the record it names as their anchor."""
    kept: dict[str, list[str]] = {}
    for row in chain:
        preserved = row.get("compactMetadata", {}).get("preservedMessages")
        if preserved:
            kept[preserved["anchorUuid"]] = preserved["uuids"]
        yield row
        yield from (by_id[each] for each in kept.get(row["uuid"], ()))


def _answer(row: Row) -> str | None:
    identity = row["message"].get("id") if row.get("type") == "assistant" else None
    return identity if isinstance(identity, str) else None


def _blocks(row: Row) -> list[Row]:
    content = row["message"]["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _results(all_rows: list[Row]) -> dict[str, Row]:
    """Return the result blocks by the id of their call; a call's result may be beside the chain."""
    spoken = [row for row in all_rows if row.get("type") == "user"]
    return {block["tool_use_id"]: block for row in spoken for block in _blocks(row) if block["type"] == "tool_result"}


def _items(row: Row, results: dict[str, Row]) -> Iterator[Item]:
    if row.get("type") == "user":
        for block in _blocks(row):
            yield from _from_user(row, block)
    elif row.get("type") == "assistant" and row["message"].get("model") != "<synthetic>":
        for block in _blocks(row):
            yield from _from_model(row, block, results)


def _from_user(row: Row, block: Row) -> Iterator[Item]:
    if block["type"] == "image":
        yield Item("image", names=names(row["uuid"]))
    elif block["type"] == "text" and not row.get("isMeta"):
        text = _typed(block["text"])
        if text:
            yield Item("human", text, names(row["uuid"]))


def _typed(text: str) -> str:
    """Return what a person typed: of a slash command its arguments, of the client's own notes nothing."""
    if _COMMAND in text:
        return between(text, "<command-args>", "</command-args>")
    return "" if text.startswith(_INJECTED) else text


def _from_model(row: Row, block: Row, results: dict[str, Row]) -> Iterator[Item]:
    ids = names(row["uuid"], row["message"].get("id"), block.get("id"))
    match block["type"]:
        case "text":
            yield Item("model", block["text"], ids)
        case "thinking":
            yield Item("thinking", block["thinking"], ids)
        case "tool_use":
            content = results[block["id"]]["content"] if block["id"] in results else None
            texts, pictures = _content(content)
            result = None if content is None else "\n".join(texts)
            failed = results.get(block["id"], {}).get("is_error") is True
            yield Item("call", "", ids, block["name"], block["input"], result, failed)
            yield from (Item("image", names=ids) for _ in range(pictures))


def _content(content: Any) -> tuple[list[str], int]:
    """Return a result's texts and how many pictures are in it."""
    if isinstance(content, str):
        return [content], 0
    blocks = content or []
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    return texts, sum(block["type"] == "image" for block in blocks)
