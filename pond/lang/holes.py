"""The holes of file patterns: `{x}` is a path segment or a piece of one, `{x**}` several, `{x:uuid}` a UUID."""

from __future__ import annotations

import re

HOLE = re.compile(r"\{(?P<name>\w+)(?P<rest>\*\*|:\w+)?\}")
SHAPES = {"uuid": r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"}


def pattern(text: str) -> str:
    """Return the regular expression of a file pattern, a group for each hole."""
    out, at = "", 0
    for hole in HOLE.finditer(text):
        out += re.escape(text[at : hole.start()])
        out += f"(?P<{hole['name']}>{_inside(hole['rest'])})"
        at = hole.end()
    return out + re.escape(text[at:])


def _inside(rest: str | None) -> str:
    if rest is None:
        return "[^/]+"
    return ".+" if rest == "**" else SHAPES[rest[1:]]
