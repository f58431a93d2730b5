"""How far long work is, as a value: whoever does the work says it, whoever asked for the work may show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """What is being done; where its size is known, how much of how much is behind us, and what was counted.

    It is in bytes, unless `unit` names something else.
    """

    what: str
    done: int = 0
    total: int = 0
    counted: str = ""
    unit: str = ""


Watch = Callable[[Progress], None]


def unwatched(progress: Progress) -> None:
    """Let work go on that nobody watches."""
