"""Text that others wrote, for people to read: what would steer a terminal or deceive a reader is written out."""

from __future__ import annotations

import re

# Control characters but line feed and tab; what turns the direction of text or breaks lines; characters that are never
# seen (tags); halves of a surrogate pair.
# Text, not a pattern: compiling it takes longer than most commands need it, and `re` remembers what it compiled.
STEERING = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\U000e0000-\U000e007f"
    "\ud800-\udfff]"
)
_BREAKS = str.maketrans({"\n": "\\n", "\t": "\\t"})


def visible(text: str) -> str:
    """Return a text of many lines with every steering character written out."""
    return re.sub(STEERING, _written_out, text.replace("\r\n", "\n"))


def one_line_of(text: str) -> str:
    """Return a text as one line, character by character: line breaks and tabs are written out too."""
    return re.sub(STEERING, _written_out, text).translate(_BREAKS)


def in_line(text: str) -> str:
    """Return a text for one line: as `visible`, and all white space is a space."""
    return visible(" ".join(text.split()))


def in_json(text: str) -> str:
    """Return JSON text that steers nothing and means the same: steering characters are escaped as JSON knows it."""
    return re.sub(STEERING, _json_escape, text)


def _written_out(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


def _json_escape(found: re.Match[str]) -> str:
    char = found[0]
    if char < " " or "\udc80" <= char <= "\udcff":
        return char  # JSON's own white space; a byte that is no UTF-8
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True))
