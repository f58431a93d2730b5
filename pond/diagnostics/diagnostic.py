"""The one error value of pond, and the exceptions that carry it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

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
    """Base of every error that pond raises on purpose; it always has diagnostics."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(d.message for d in diagnostics))
        self.diagnostics = diagnostics

    def __reduce__(self) -> tuple[Callable[..., PondError], tuple[type[PondError], tuple[object, ...], dict[str, Any]]]:
        # It is sent between processes; a subclass may be made from other things than diagnostics.
        return _made_again, (type(self), self.args, self.__dict__)


def _made_again(kind: type[PondError], args: tuple[object, ...], state: dict[str, Any]) -> PondError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class MappingError(PondError):
    """A mapping file is not valid."""


class UsageError(PondError):
    """The request itself cannot be carried out (exit code 2)."""


class SourceFault(PondError):
    """One piece of a client's data cannot be read; the rest still can."""
