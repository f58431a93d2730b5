"""What a session says, in the terms of the judge; the readers of the two clients' files make these."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Speech = Literal["human", "model", "thinking", "call", "image"]


@dataclass(frozen=True)
class Item:
    """One thing that has to reach the model.

    `names` are the ids by which a loss report may speak of it; `result` is what a call gave back, None where
    the session holds no result for it.
    """

    kind: Speech
    text: str = ""
    names: frozenset[str] = frozenset()
    name: str = ""
    arguments: Any = None
    result: str | None = None
    failed: bool = False


class NotASession(Exception):
    """The file is not a session of that client, so that nothing can be expected of it."""


def rows(path: Path) -> list[dict[str, Any]]:
    """Read a JSONL file strictly: each line is an object."""
    found = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if line.strip():
            row = json.loads(line)
            if not isinstance(row, dict):
                raise NotASession(f"{path.name}:{number}: not an object")
            found.append(row)
    return found


def names(*ids: object) -> frozenset[str]:
    """Return the ids that are there."""
    return frozenset(each for each in ids if isinstance(each, str) and each)


def between(text: str, start: str, end: str) -> str:
    """Return what is between two marks, without surrounding white space; empty if a mark is missing."""
    _, found, rest = text.partition(start)
    inside, closed, _ = rest.partition(end)
    return inside.strip() if found and closed else ""
