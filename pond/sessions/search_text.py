"""The indexed text of a message: the one function that decides what search can find."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pond.model._tables import SEARCHED
from pond.model.json_text import JsonObject
from pond.model.marks import is_display, says_again

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def search_text(message: JsonObject, parts: Iterable[JsonObject]) -> str | None:
    """Return what a person or a model said in a message, its parts in order; None if there is nothing to see.

    What the harness put there is not searched (model-part-provenance), nor are reasoning, tool calls and results, nor a
    repeated prompt, nor a row that pond wrote only for the screen.
    """
    role, options = message["role"], message["options"]
    if role == "system" or role == "tool" or (role == "user" and says_again(options)) or is_display(options):
        return None
    texts: list[str] = []
    for part in parts:
        if part["provenance"] == "conversational":
            for name in SEARCHED.get(part["type"], ()):
                texts.append(part.get(name, ""))
    text = indexable("\n".join([text for text in texts if text and not text.isspace()]))
    return text if text and not text.isspace() else None


def indexable(text: str) -> str:
    """Return `text` as an index can hold it: it is derived, so what cannot be stored is replaced, not escaped."""
    if "\0" in text:
        text = text.replace("\0", " ")
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text)
