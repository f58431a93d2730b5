"""The indexed text of a message: the one function that decides what search can find."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pond.model.json_text import JsonObject

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def search_text(role: str, parts: Iterable[JsonObject]) -> str | None:
    """Return what person and model said in a message, its parts in order; None where there is nothing to see.

    What the harness put there is not searched (model-part-provenance), nor are reasoning, tool calls and results.
    """
    if role == "system" or role == "tool":
        return None
    texts: list[str] = []
    for part in parts:
        if part["provenance"] == "conversational":
            kind = part["type"]
            if kind == "text":
                texts.append(part["text"])
            elif kind == "file":
                texts.append(part.get("file_name", ""))
                texts.append(part["media_type"])
    text = _indexable("\n".join([text for text in texts if text and not text.isspace()]))
    return text if text and not text.isspace() else None


def _indexable(text: str) -> str:
    """Return `text` as an index can hold it: derived text, so what cannot be stored is replaced, not escaped."""
    if "\0" in text:
        text = text.replace("\0", " ")
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text)
