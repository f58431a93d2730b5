"""What a search asks for, whichever way it was said."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pond.diagnostics.span import Span


class Key(StrEnum):
    """What a condition is about, as it is typed."""

    ROLE = "role"
    CLIENT = "client"
    PROJECT = "project"
    SESSION = "session"
    AFTER = "after"
    BEFORE = "before"
    AGENT = "agent"
    TOOL = "tool"
    FILE = "file"
    HAS = "has"
    FAILED = "failed"
    SUBAGENTS = "subagents"


SPELLINGS: dict[str, Key] = {key.value: key for key in Key} | {"since": Key.AFTER, "until": Key.BEFORE}


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that must hold, or with `negated` must not; the value is one that `values.read` returned."""

    key: Key
    value: str
    negated: bool = False
    span: Span | None = field(default=None, compare=False)  # where the value stands; None where nobody typed it

    @property
    def column(self) -> int:
        """Return where the value begins in its line, counted from 1; 0 where nobody typed it."""
        return self.span.column if self.span else 0


@dataclass(frozen=True, slots=True)
class Query:
    """A typed text as it is meant. The words rank; the rest decides which messages come into question at all."""

    text: str
    words: str  # in the order typed, those of phrases too: they rank as well
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
