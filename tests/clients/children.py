"""The files of subagents: no client sends them to a model, so they are read as they lie."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.clients.expected import rows
from tests.clients.judge import legible


def faults(before: list[Path], after: list[Path]) -> Iterator[str]:
    """Yield what is wrong with the written files: their number, and words that are in none of them."""
    if len(before) != len(after):
        yield f"{len(after)} files of subagents were written, {len(before)} were there"
    written = [legible(text) for path in after for row in rows(path) for text in _strings(row)]
    spoken = [legible(text) for path in before for text in _spoken(path)]
    yield from (f"no subagent's file says {text!r}" for text in spoken if not any(text in each for each in written))


def _spoken(path: Path) -> Iterator[str]:
    """Yield the texts of user and assistant, whichever client wrote the file."""
    for row in rows(path):
        said = row.get("message") or row.get("payload") or {}
        content = said.get("content")
        if said.get("role") in ("user", "assistant"):
            texts = [content] if isinstance(content, str) else [block.get("text", "") for block in content or []]
            yield from (text for text in texts if text and not text.startswith(("<", "# AGENTS.md")))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
