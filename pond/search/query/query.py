"""What a search asks for, in whatever form it was given."""

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
    """One condition that must hold, or with `negated` must not; the value is one that `values.read` returned."""

    key: Key
    value: str
    negated: bool = False
    span: Span | None = field(default=None, compare=False)  # where the value is; None if nobody typed it

    @property
    def column(self) -> int:
        """Return where the value begins in its line, counted from 1; 0 if nobody typed it."""
        return self.span.column if self.span else 0


@dataclass(frozen=True, slots=True)
class Query:
    """The meaning of a typed text. The words rank; the rest decides which messages can match."""

    text: str
    words: str  # in the order typed, including those of phrases: they rank as well
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
