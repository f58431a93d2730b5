"""How much a test does: `make test` takes a share of each check, `make soak` the whole.

A check that is slow because it does much of one thing takes its amount from here, so that a short version of it is part
of every run. POND_SOAK=1 is the full size.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")

SOAK = os.environ.get("POND_SOAK", "") not in ("", "0")


def size(full: int, short: int) -> int:
    """Return how many of something to take."""
    return full if SOAK else short


def share(cases: Sequence[Case], short: int) -> list[Case]:
    """Return all cases, or so many of them: the first, the last, and others at even distances between."""
    if SOAK or short >= len(cases):
        return list(cases)
    step = (len(cases) - 1) / max(short - 1, 1)
    return [cases[round(number * step)] for number in range(short)]
