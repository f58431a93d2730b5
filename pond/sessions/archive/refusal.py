"""Why an archive is refused."""

from __future__ import annotations

from pond.diagnostics.diagnostic import Diagnostic, PondError
from pond.diagnostics.span import Span


class ArchiveError(PondError):
    """An archive is refused as a whole; no lake was touched."""

    def __init__(self, code: str, message: str, span: Span | None = None) -> None:
        super().__init__(Diagnostic(code, message, span, help="nothing was changed"))
        self.code, self.message = code, message


def shown(text: str) -> str:
    """Return a name from an archive for a message: no control characters, and not too long."""
    return ascii(text)[1:-1][:100]
