"""One call as a piece of work: the answer, a smaller one for when it takes long, and what there is when time is up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Answer = Callable[[], "Told"]


@dataclass(frozen=True, slots=True)
class Told:
    """A text, and the address of a file that goes with it."""

    text: str
    file: str | None = None
    media_type: str | None = None
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Work:
    """`run` answers; `short` answers less, where `run` takes long; `so_far` returns what `run` has by now, if anything.

    They run in threads.
    """

    run: Answer
    short: Answer | None = None
    so_far: Callable[[], Told | None] = lambda: None
