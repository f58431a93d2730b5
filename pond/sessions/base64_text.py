"""Base64 text as bytes and a spelling, from which exactly the same text comes back.

If `read(text)` finds `(data, spelling)`, then `write(data, spelling) == text`. This is proved for each text that is
read, so a text with an unknown spelling is simply not accepted.

Text without white space inside is accepted if every character is a letter of base64, even a hex dump or an endless
identifier. That costs nothing, because it comes back exactly, and nobody reads or searches 512 letters without a gap.
Text with white space inside could be words, so it must also look like encoded bytes.
"""

from __future__ import annotations

import re
from binascii import Error as NotBase64
from binascii import a2b_base64, b2a_base64
from itertools import islice
from typing import TypedDict

from pond.model.json_text import Json

_WHITE = b" \t\r\n"
_UPPER, _LOWER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz"
_DIGITS = b"0123456789"
_ALPHABET = _UPPER + _LOWER + _DIGITS + b"+/"
_LETTERS = _ALPHABET + b"-_"
_FROM_URL, _TO_URL = bytes.maketrans(b"-_", b"+/"), bytes.maketrans(b"+/", b"-_")

_HEAD = re.compile(r"[ \t\r\n]*(?:data:[^,]{0,1000};base64,[ \t\r\n]*)?", re.IGNORECASE)
_GAP = re.compile(rb"[ \t\r\n]+")

_SAMPLE = 256
_LETTERS_PER_WHITE = 16  # lines of base64 hold 60 and more; words hold five
_MOST_GAPS = 64
_COUNTED = 1 << 16  # letters at most, spread over the text
_LEAST_UPPER = 0.2  # of the letters: two fifths in encoded bytes, far fewer in words and names


class Spelling(TypedDict, total=False):
    """How a text differs from plain base64: standard alphabet, padded, on one line."""

    head: str  # before the letters: white space, `data:image/png;base64,`
    tail: str  # the white space after them
    url: bool  # `-` and `_` instead of `+` and `/`
    pad: int  # the number of `=`, if it is not what the length requires
    last: str  # the last letter, if it holds bits that belong to no byte
    lines: list[Json]  # letters per line, and what ends it
    gaps: list[list[Json]]  # other white space: after how many letters, and which


def read(text: str) -> tuple[bytes, Spelling | None] | None:
    """Return the bytes that `text` encodes and their spelling (None if plain), or None if it is not base64."""
    found = _HEAD.match(text)
    start = found.end() if found else 0
    if not _is_likely(text[start : start + _SAMPLE]):
        return None
    body = text[start:]
    if not body.isascii():
        return None
    spaced = body.encode("ascii").rstrip(_WHITE)
    spelling: Spelling = {}
    if start:
        spelling["head"] = text[:start]
    if len(spaced) < len(body):
        spelling["tail"] = body[len(spaced) :]
    letters = _without_white(spaced)
    data = None if letters is None else _decode(letters, spelling)
    if data is None:
        return None
    return _proved(text, data, spelling, None if letters is spaced else spaced)


def write(data: bytes, spelling: Spelling | None) -> str:
    """Return the text that `read` decoded."""
    letters = b2a_base64(data, newline=False)
    if not spelling:
        return letters.decode("ascii")
    text = _respelled(letters, spelling).decode("ascii")
    if "lines" in spelling:
        width, end = spelling["lines"]
        text = end.join([text[at : at + width] for at in range(0, len(text), width)])
    elif "gaps" in spelling:
        text = _with_gaps(text, spelling["gaps"])
    return spelling.get("head", "") + text + spelling.get("tail", "")


def _is_likely(sample: str) -> bool:
    """Tell quickly, from the first characters, whether a text may be base64; ordinary text is rejected here."""
    if not sample or not sample.isascii():
        return False
    others = sample.encode("ascii").translate(None, _LETTERS)
    return len(others) * _LETTERS_PER_WHITE <= _SAMPLE and not others.strip(b" \t\r\n=")


def _without_white(spaced: bytes) -> bytes | None:
    """Return the letters alone (the same object if there is nothing else), or None if they look like words."""
    if not any(white in spaced for white in (b"\n", b" ", b"\r", b"\t")):
        return spaced
    letters = spaced.translate(None, _WHITE)
    sparse = (len(spaced) - len(letters)) * _LETTERS_PER_WHITE <= len(letters)
    return letters if sparse and _looks_encoded(letters) else None


def _looks_encoded(letters: bytes) -> bool:
    """Distinguish base64 from lists of words, paths, hashes and constants: all kinds of letters, many upper-case."""
    some = letters[:: len(letters) // _COUNTED + 1]
    upper, lower, digits = (len(some) - len(some.translate(None, kind)) for kind in (_UPPER, _LOWER, _DIGITS))
    return upper >= len(some) * _LEAST_UPPER and lower > 0 and digits > 0


def _decode(letters: bytes, spelling: Spelling) -> bytes | None:
    """Return the bytes, noting alphabet, padding and last letter; None if the letters are not base64."""
    if b"-" in letters or b"_" in letters:
        letters = letters.translate(_FROM_URL)  # a mixture of the alphabets fails the proof
        spelling["url"] = True
    bare = letters.rstrip(b"=")
    pad, due = len(letters) - len(bare), -len(bare) % 4
    if pad > due:
        return None
    if pad != due:
        spelling["pad"] = pad
    try:
        data = a2b_base64(bare + b"=" * due, strict_mode=True)
    except NotBase64:
        return None
    if due and _ALPHABET.index(bare[-1:]) & (0b1111 if due == 2 else 0b11):
        spelling["last"] = bare[-1:].decode("ascii")
    return data


def _proved(text: str, data: bytes, spelling: Spelling, spaced: bytes | None) -> tuple[bytes, Spelling | None] | None:
    """Return `data` with the spelling that gives exactly `text`, trying even lines before single gaps; None if none."""
    if spaced is None:
        return (data, spelling or None) if write(data, spelling) == text else None
    gaps = list(islice(_GAP.finditer(spaced), _MOST_GAPS + 1))
    spelling["lines"] = [gaps[0].start(), gaps[0][0].decode("ascii")]
    if write(data, spelling) == text:
        return data, spelling
    del spelling["lines"]
    if len(gaps) > _MOST_GAPS:
        return None
    spelling["gaps"], white = [], 0
    for gap in gaps:
        spelling["gaps"].append([gap.start() - white, gap[0].decode("ascii")])
        white += len(gap[0])
    return (data, spelling) if write(data, spelling) == text else None


def _respelled(letters: bytes, spelling: Spelling) -> bytes:
    bare = letters.rstrip(b"=")
    pad = spelling.get("pad", len(letters) - len(bare))
    if "last" in spelling:
        bare = bare[:-1] + spelling["last"].encode("ascii")
    if "url" in spelling:
        bare = bare.translate(_TO_URL)
    return bare + b"=" * pad


def _with_gaps(text: str, gaps: list[list[Json]]) -> str:
    pieces: list[str] = []
    done = 0
    for at, white in gaps:
        pieces += text[done:at], white
        done = at
    return "".join(pieces) + text[done:]
