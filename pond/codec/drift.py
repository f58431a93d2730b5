"""Kinds and fields that no mapping names, counted by name; names that are really data are counted together.

A client may write an object whose keys are numbers, ids or paths. Each key would be a name of its own, thousands in one
file. So what looks like data becomes a placeholder, and if one parent still has too many names, they become one. Which
names are combined depends on the names alone, not on the order of files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

OTHERS = "<others>"
MOST_SIBLINGS = 64  # names under one parent; formats have fewer, data has more
MOST_NAMES = 1024  # of one file, or of a whole lake: further names are counted together
LONGEST = 160  # characters of a name

# Texts, not patterns: most files have no unnamed field, and `re` would keep what it compiled.
_STEP = r"([./])"
_DATA = (
    (r"-?[0-9]+", "<number>"),
    (r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", "<uuid>"),
    (r"(?s)[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*)?", "<time>"),
    # Random letters contain more digits than a word with a counter.
    (r"(?=(?:[^0-9]*[0-9]){4})(?:[A-Za-z]{1,12}[_-])?[A-Za-z0-9]{16,}", "<id>"),
)


class Drift(dict[str, int]):
    """How often each unnamed kind or field occurred. The number of names is bounded; the counts add up to the total."""

    def count(self, name: str, times: int = 1) -> None:
        """Count a name that occurred this many times."""
        if name in self:  # nothing in it looks like data
            self[name] += times
            return
        name = _shape(name)
        rest = _rest(name)
        if rest in self:
            name = rest
        elif name not in self and len(self) >= MOST_NAMES:
            name = OTHERS
        is_new = name not in self
        self[name] = self.get(name, 0) + times
        if is_new:
            self._fold(rest)

    def add(self, other: Mapping[str, int]) -> None:
        """Add the counts of another one."""
        for name, times in other.items():
            self.count(name, times)

    def _fold(self, rest: str) -> None:
        """Combine the names under one parent if there are too many of them."""
        siblings = [name for name in self if _rest(name) == rest]
        if len(siblings) > MOST_SIBLINGS or rest in self:
            self[rest] = sum(self.pop(name) for name in siblings)


def _shape(name: str) -> str:
    """Return a name with a placeholder for each step that is data, shortened if it is long."""
    steps = "".join(_step(step) for step in re.split(_STEP, name[: 2 * LONGEST]))
    return steps if len(steps) <= LONGEST else f"{steps[: LONGEST - 1]}…"


def _step(step: str) -> str:
    return next((shown for pattern, shown in _DATA if re.fullmatch(pattern, step)), step)


def _rest(name: str) -> str:
    """Return the name that represents all names under the same parent."""
    parent, dot, _ = name.rpartition(".")
    return f"{parent}{dot}{OTHERS}"
