"""Recalled text made inert: nothing in it steers the model that reads it, nor the terminal that shows it.

Each line of recalled text is indented, so that none of it can pass for a line of pond's own. Control characters are
written out. Tags and tokens by which clients and models mark instructions, roles and calls lose their brackets: what
they say stays readable, and nothing takes them for markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pond.diagnostics.visible import in_json, in_line, visible
from pond.model.json_text import encode

INDENT = "  "
LONGEST_LINE = 2_000  # characters: some clients show nothing of a longer one

# Names of tags that clients and models give a meaning, with any prefix (`antml:`) and in any case.
_NAMES = (
    "system", "system[-_]reminder", "system[-_]message", "system[-_]prompt", "system[-_]instructions?", "developer",
    "instructions?", "user", "human", "assistant", "user-prompt-submit-hook", "user[-_]instructions", "user[-_]input",
    "user[-_]query", "environment[-_]context", "environment[-_]details", "important", "untrusted[-_]context",
    "function[-_]calls?", "function[-_]results?", "invoke", "parameter", "tool[-_]use", "tool[-_]calls?",
    "tool[-_]results?", "tool[-_]response", "tool[-_]output", "command-name", "command-message", "command-args",
    "local-command-stdout", "local-command-stderr", "local-command-caveat", "bash-input", "bash-stdout", "bash-stderr",
    "thinking", "think", "reasoning", "task-notification", "ide[-_]opened[-_]file", "ide[-_]selection",
    "permissions", "turn[-_]aborted", "persisted-output", "start[-_]of[-_]turn", "end[-_]of[-_]turn",
)  # fmt: skip
_JOINED = "[\\s\u200c\u200d]*"
_TAG = re.compile(
    rf"[<\uff1c]({_JOINED}/?{_JOINED}(?:[a-z][\w.-]{{0,30}}:)?(?:{'|'.join(_NAMES)})(?![\w-])[^<>\n]{{0,400}})([>\uff1e]?)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"<(\|[^<>\n]{0,60}?\|?)>|<<(/?SYS)>>", re.IGNORECASE)
_INSTRUCTION = re.compile(r"\[(/?INST)\]", re.IGNORECASE)
_UNSEEN = re.compile("[\u200b\u2060-\u2064\ufeff\u00ad\u180e]+")  # they would hide a tag from what looks for it


def inert(text: str) -> str:
    """Return a text of many lines that steers nothing."""
    shown = visible(_UNSEEN.sub("", text))
    if "<" in shown or "\uff1c" in shown:
        shown = _TAG.sub(_without_brackets, _TOKEN.sub(lambda found: f"⟨{found[1] or found[2]}⟩", shown))
    return _INSTRUCTION.sub(r"⟨\1⟩", shown) if "[" in shown else shown


def _without_brackets(found: re.Match[str]) -> str:
    return f"⟨{found[1]}⟩" if found[2] else f"⟨{found[1]}"


def label(text: str, longest: int = 200) -> str:
    """Return a name, an id or a title for a line of pond's own: one line, inert, and not long."""
    shown = inert(in_line(text)).replace("|", "¦")
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def quoted(id: str) -> str:
    """Return an id as an argument that can be passed on."""
    return inert(in_json(encode(id).decode()))


def lines_of(text: str) -> Iterator[str]:
    """Yield a recalled text line by line, inert and indented; a line that is too long continues in the next."""
    for line in map(str.rstrip, inert(text).split("\n")):
        if not line:
            yield ""
        for at in range(0, len(line), LONGEST_LINE):
            yield INDENT + line[at : at + LONGEST_LINE]
