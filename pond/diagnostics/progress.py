"""The progress of long work, as a value: the worker reports it, and the caller may show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """What is being done; if its size is known, how much of it is done, and what was counted.

    It is in bytes, unless `unit` names something else.
    """

    what: str
    done: int = 0
    total: int = 0
    counted: str = ""
    unit: str = ""


Watch = Callable[[Progress], None]


def unwatched(progress: Progress) -> None:
    """Ignore progress that nobody watches."""
