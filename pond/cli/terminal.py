"""Text that others wrote, for a terminal: what would steer the terminal or deceive the reader is written out.

The same text goes to a pipe: whoever wants the exact characters asks for `--json`.
"""

import re
import sys
from unicodedata import east_asian_width

# Control characters but line feed and tab; what turns the direction of text or breaks lines; characters that are never
# seen (tags); halves of a surrogate pair.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\U000e0000-\U000e007f"
    "\ud800-\udfff]"
)
_ELLIPSIS = "…"


def visible(text: str) -> str:
    """Return a text of many lines with every steering character written out."""
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], text.replace("\r\n", "\n"))


def in_line(text: str) -> str:
    """Return a text for one line: as `visible`, and all white space is a space."""
    return visible(" ".join(text.split()))


def width(text: str) -> int:
    """Return how many columns a visible text takes."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def fitted(text: str, columns: int, *, keep_end: bool = False) -> str:
    """Return a visible line in exactly so many columns: cut at its end, or at its beginning, or filled up."""
    if width(text) <= columns:
        return text + " " * (columns - width(text))
    kept, room = "", columns - 1
    for char in reversed(text) if keep_end else text:
        room -= width(char)
        if room < 0:
            break
        kept += char
    cut = _ELLIPSIS + kept[::-1] if keep_end else kept + _ELLIPSIS
    return cut + " " * (columns - width(cut))


def say(line: str = "") -> None:
    """Print a visible line; a character that the output's encoding lacks is written out too."""
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, "backslashreplace").decode(encoding))
