"""Why an archive is not taken."""

from __future__ import annotations

from pond.diagnostics.diagnostic import Diagnostic, PondError
from pond.diagnostics.span import Span


class ArchiveError(PondError):
    """An archive is refused as a whole; no lake was touched."""

    def __init__(self, code: str, message: str, span: Span | None = None) -> None:
        super().__init__(Diagnostic(code, message, span, help="nothing was changed"))
        self.code, self.message = code, message


def shown(text: str) -> str:
    """Return a name out of an archive as a message may show it: no control characters, and not endless."""
    return ascii(text)[1:-1][:100]
