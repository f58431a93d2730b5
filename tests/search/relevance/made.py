"""Text in bulk, made of sentences written by hand: sessions that nobody asks for, and what surrounds a deep answer.

Nothing is random: the same files make the same text on every machine.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_SLOT = re.compile(r"\{(\w+)\}")


class _Draw:
    """Choices that look arbitrary and depend on a name only."""

    def __init__(self, name: str) -> None:
        self._state = zlib.crc32(name.encode())

    def below(self, end: int) -> int:
        self._state = (self._state * 1103515245 + 12345) % (1 << 31)
        return (self._state >> 8) % end

    def mixed(self, items: Sequence[Any]) -> Iterator[Any]:
        """Yield the items again and again, each once in every round."""
        while True:
            left = list(items)
            while left:
                yield left.pop(self.below(len(left)))

    def filled(self, text: str, words: Mapping[str, Sequence[str]], chosen: dict[str, str]) -> str:
        """Return a text with a word in each slot: the one already `chosen`, else a new one."""

        def word(slot: re.Match[str]) -> str:
            name = slot[1]
            if name not in chosen:
                chosen[name] = words[name][self.below(len(words[name]))]
            return chosen[name]

        filled = _SLOT.sub(word, text)
        return filled[:1].upper() + filled[1:]


@cache
def _read(name: str) -> Any:
    return json.loads((HERE / name).read_text("utf-8"))


def crowd() -> list[dict[str, Any]]:
    """Return the sessions of the crowd, in the form of a set's sessions."""
    crowd, sessions = _read("crowd.json"), []
    for plan in crowd["sessions"]:
        draw = _Draw(plan["id"])
        pairs = draw.mixed([pair for theme in plan["themes"] for pair in crowd["themes"][theme]])
        clock = datetime.fromisoformat(plan["start"]) + timedelta(hours=9)
        messages: list[dict[str, str]] = []
        for _ in range(plan["turns"]):
            chosen: dict[str, str] = {}
            for role, text in zip(("user", "assistant"), next(pairs), strict=True):
                clock += timedelta(seconds=30 + draw.below(300))
                said = draw.filled(text, crowd["words"], chosen)
                id = f"{plan['id']}-{len(messages) + 1:02}"
                messages.append({"id": id, "role": role, "at": f"{clock:%Y-%m-%dT%H:%M:%S}.000Z", "text": said})
        named = {name: plan[name] for name in ("id", "client", "project")}
        sessions.append({**named, "messages": messages})
    return sessions


def surrounded(name: str, text: str, kind: str, characters: int, at: float) -> str:
    """Return a text deep in a long one of about so many characters: `at` is the share that stands before it."""
    filler, draw = _read("filler.json"), _Draw(name)
    pieces = draw.mixed(filler["kinds"][kind])
    between = "\n" if kind == "log" else "\n\n"
    said: list[str] = []
    size, placed = 0, False
    while size < characters or not placed:
        if not placed and size >= characters * at:
            said.append(text)
            placed = True
        said.append(draw.filled(next(pieces), filler["words"], {}))
        size += len(said[-1])
    return between.join(said)
