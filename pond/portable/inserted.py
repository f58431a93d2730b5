"""The few words pond itself puts into a session, each recognisable, so that the way back can take them out again."""

from __future__ import annotations

import re

# The adapters' span tables know this tag, so that what it holds is never taken for something a person typed.
OPEN, CLOSE = '<injected-context source="', "</injected-context>"
_TAG, _SPELLED = re.compile(r"<(\\*/?injected-context)"), re.compile(r"<\\(\\*/?injected-context)")
WRITER = "pond"  # who wrote the file, if a client's file says so
STUB = "[pond: interrupted, outcome unknown: the session holds no result for this call; check before you rely on it]"
STUBS = (STUB, "[pond: the session holds no result for this call]")  # the second is what earlier versions wrote
OPENING = "[pond: the session begins with an answer; what came before is not in it]"


def tagged(text: str, client: str, **where: str) -> str:
    """Return injected text in a tag that says which client's harness put it there; it cannot close the tag itself.

    `where` are further attributes: the file that was attached, the hook that spoke.
    """
    inside = _TAG.sub(r"<\\\1", text)
    named = "".join(f' {name}="{_attribute(value)}"' for name, value in where.items() if value)
    return f'{OPEN}{client}"{named}>\n{inside}\n{CLOSE}'


def _attribute(value: str) -> str:
    for mark, spelled in (("&", "&amp;"), ('"', "&quot;"), ("<", "&lt;"), (">", "&gt;"), ("\n", " ")):
        value = value.replace(mark, spelled)
    return value


def is_tagged(text: str) -> bool:
    """Tell whether a text is inside the tag."""
    return text.startswith(OPEN) and text.endswith(CLOSE)


def untagged(text: str) -> str:
    """Return the text inside the tag; a text without one as it is."""
    if is_tagged(text):
        inside = text[text.index(">") + 1 : -len(CLOSE)].removeprefix("\n").removesuffix("\n")
        return _SPELLED.sub(r"<\1", inside)
    return text


def without_halves(text: str, tags: tuple[str, ...]) -> str:
    """Return injected text without the halves of tags whose other half is after or before a person's words."""
    for tag in tags:
        start, end = f"<{tag}>", f"</{tag}>"
        if text.rstrip().endswith(start):
            text = text.rstrip().removesuffix(start).rstrip()
        if text.lstrip().startswith(end):
            text = text.lstrip().removeprefix(end).lstrip()
    return text


def left_out(what: str) -> str:
    """Return the note in place of something that the target cannot hold."""
    return f"[pond: {what} was here; it could not be carried over]"


def came_from(client: str, session_id: str) -> str:
    """Return the one line that tells a person where a session comes from; it comes before the first message."""
    return f"[pond] This history was copied from {client} session {session_id}."
