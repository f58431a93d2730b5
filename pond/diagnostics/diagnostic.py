"""The one error value of pond, and the exceptions that carry it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pond.diagnostics.codes import CODES
from pond.diagnostics.span import Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What happened (`code`, `message`), where (`span`, `path` inside the record), and what helps."""

    code: str
    message: str
    span: Span | None = None
    path: str = ""
    help: str = ""
    rule: str = ""
    count: int = field(default=1, compare=False)

    @property
    def severity(self) -> str:
        return CODES[self.code].severity


class PondError(Exception):
    """Base of every error pond raises on purpose; carries diagnostics, never prose alone."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(d.message for d in diagnostics))
        self.diagnostics = diagnostics


class MappingError(PondError):
    """A mapping file does not say something valid."""


class UsageError(PondError):
    """The request itself cannot be carried out (exit code 2)."""


class SourceFault(PondError):
    """One piece of a client's data cannot be read; the rest still can."""
