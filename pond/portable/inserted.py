"""The few words pond itself puts into a session, each recognisable, so that the way back can take them out again."""

from __future__ import annotations

import re

# The adapters' span tables know this tag, so that what it holds is never taken for something a person typed.
OPEN, CLOSE = '<injected-context source="', "</injected-context>"
_TAG, _SPELLED = re.compile(r"<(\\*/?injected-context)"), re.compile(r"<\\(\\*/?injected-context)")
WRITER = "pond"  # who wrote the file, where a client's file says that
STUB = "[pond: the session holds no result for this call]"
OPENING = "[pond: the session begins with an answer; what came before is not in it]"


def tagged(text: str, client: str) -> str:
    """Return injected text in a tag that says which client's harness put it there; it cannot close the tag itself."""
    inside = _TAG.sub(r"<\\\1", text)
    return f'{OPEN}{client}">\n{inside}\n{CLOSE}'


def is_tagged(text: str) -> bool:
    """Tell whether a text stands in the tag."""
    return text.startswith(OPEN) and text.endswith(CLOSE)


def untagged(text: str) -> str:
    """Return the text inside the tag; a text without one as it is."""
    if is_tagged(text):
        inside = text[text.index(">") + 1 : -len(CLOSE)].removeprefix("\n").removesuffix("\n")
        return _SPELLED.sub(r"<\1", inside)
    return text


def left_out(what: str) -> str:
    """Return the note in place of something that the target cannot hold."""
    return f"[pond: {what} was here; it could not be carried over]"
