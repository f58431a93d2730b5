"""When a request is sent again. Any may be: reading changes nothing, and doing the rest twice does it once."""

from __future__ import annotations

import random
from dataclasses import dataclass

from pond.client.errors import ServerError, Unreachable


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is sent at most, and the seconds between: they double from `first` up to `most`."""

    attempts: int = 5
    first: float = 0.2
    most: float = 5.0

    def pause(self, error: ServerError | Unreachable, tried: int) -> float | None:
        """Return how long to wait after this many attempts; None if another attempt is useless."""
        if tried >= min(self.attempts, _worth(error)):
            return None
        # Clients that failed together should not come back together.
        return float(min(self.most, self.first * 2 ** (tried - 1)) * random.uniform(0.5, 1.0))


DEFAULT = Retries()


def _worth(error: ServerError | Unreachable) -> float:
    """Return how many attempts this kind of error is worth."""
    if isinstance(error, Unreachable):
        return float("inf") if error.retry else 1
    failure = error.failure
    if failure is None or not failure.retry:
        return 1
    return 2 if failure.once else float("inf")
