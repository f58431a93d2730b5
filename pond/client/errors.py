"""What a client raises: the error that a server answered with, or that no server answered."""

from __future__ import annotations

from typing import Any

from pond.diagnostics.diagnostic import Diagnostic, PondError
from pond.diagnostics.failures import Failure


class ServerError(PondError):
    """A server's own error: a `code` from the closed set, and what else it said."""

    def __init__(self, status: int, code: str, message: str, details: dict[str, Any], request_id: str | None) -> None:
        super().__init__(Diagnostic("server-refused", f"{code}: {message}"))
        self.status, self.code, self.details, self.request_id = status, code, details, request_id

    @property
    def reason(self) -> str | None:
        """Return more than the code says: one word from an open list."""
        return self.details.get("reason")

    @property
    def failure(self) -> Failure | None:
        """Return what is known about the code; None for one that only a later server knows."""
        return next((each for each in Failure if each.code == self.code), None)


class Unreachable(PondError):
    """No pond server answered; `retry` says whether trying again may help."""

    def __init__(self, message: str, *, retry: bool) -> None:
        super().__init__(Diagnostic("server-unreachable", message))
        self.retry = retry
