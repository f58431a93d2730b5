"""Text from elsewhere, shown to people: whatever would control a terminal or deceive a reader is escaped."""

from __future__ import annotations

import re

# Control characters except line feed and tab; characters that change the direction of text or break lines; invisible
# characters (tags); halves of a surrogate pair. Text, not a pattern: compiling it takes longer than most commands need
# it, and `re` would keep what it compiled.
STEERING = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\U000e0000-\U000e007f"
    "\ud800-\udfff]"
)
_BREAKS = str.maketrans({"\n": "\\n", "\t": "\\t"})


def visible(text: str) -> str:
    """Return a text of many lines with every control character escaped."""
    return re.sub(STEERING, _written_out, text.replace("\r\n", "\n"))


def one_line_of(text: str) -> str:
    """Return a text as one line, character by character: line breaks and tabs are escaped too."""
    return re.sub(STEERING, _written_out, text).translate(_BREAKS)


def in_line(text: str) -> str:
    """Return a text for one line: like `visible`, with all white space as spaces."""
    return visible(" ".join(text.split()))


def in_json(text: str) -> str:
    """Return JSON text with the same meaning that cannot control a terminal: such characters are JSON escapes."""
    return re.sub(STEERING, _json_escape, text)


def _written_out(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


def _json_escape(found: re.Match[str]) -> str:
    char = found[0]
    if char < " " or "\udc80" <= char <= "\udcff":
        return char  # JSON's own white space; a byte that is not UTF-8
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True))
