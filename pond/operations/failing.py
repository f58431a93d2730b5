"""Any exception as the one error of the wire: a code from a closed set, a sentence, and facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError
from pond.diagnostics.failures import REASONS, Failure

if TYPE_CHECKING:  # shapes only
    from pond.types import Error, ErrorCode


class RequestError(UsageError):
    """A request that cannot be carried out, with its failure on the wire."""

    def __init__(self, failure: Failure, reason: str, message: str, **facts: object) -> None:
        assert reason in REASONS
        self.failure, self.details = failure, {"reason": reason, **facts}
        super().__init__(Diagnostic("usage", message))


# Diagnostic code -> the failure and the reason on the wire; any other code is a mistake of pond's.
_BY_CODE: dict[str, tuple[Failure, str]] = {
    "usage": (Failure.VALIDATION_FAILED, "wrong-value"),
    "lake-not-found": (Failure.NOT_FOUND, "no-such-id"),
    "lake-ambiguous": (Failure.VALIDATION_FAILED, "ambiguous"),
    "lake-missing": (Failure.NOT_FOUND, "no-lake"),
    "lake-immutable": (Failure.VALIDATION_FAILED, "immutable"),
    "lake-differs": (Failure.VALIDATION_FAILED, "differs"),
    "lake-erased": (Failure.VALIDATION_FAILED, "erased"),
    "canonical-broken": (Failure.VALIDATION_FAILED, "broken-event"),
    "source-not-json": (Failure.VALIDATION_FAILED, "broken-event"),
    "source-too-deep": (Failure.VALIDATION_FAILED, "broken-event"),
    "source-too-large": (Failure.VALIDATION_FAILED, "broken-event"),
    "lake-conflict": (Failure.CONFLICT, "lost-races"),
    "lake-unavailable": (Failure.STORAGE_UNAVAILABLE, "unreachable"),
    "lake-exhausted": (Failure.STORAGE_UNAVAILABLE, "exhausted"),
    "lake-damaged": (Failure.STORAGE_UNAVAILABLE, "damaged"),
    "lake-payload": (Failure.STORAGE_UNAVAILABLE, "damaged"),
    "lake-newer": (Failure.STORAGE_UNAVAILABLE, "other-version"),
    "lake-older": (Failure.STORAGE_UNAVAILABLE, "other-version"),
    "sql-syntax": (Failure.VALIDATION_FAILED, "wrong-query"),
    "sql-refused": (Failure.VALIDATION_FAILED, "wrong-query"),
    "sql-unknown": (Failure.VALIDATION_FAILED, "wrong-query"),
    "sql-failed": (Failure.VALIDATION_FAILED, "wrong-query"),
    "sql-limit": (Failure.VALIDATION_FAILED, "query-limit"),
    "model-unknown": (Failure.NOT_FOUND, "no-such-id"),
    "model-exists": (Failure.VALIDATION_FAILED, "file-exists"),
    "pods-name": (Failure.VALIDATION_FAILED, "wrong-value"),
    "pods-name-taken": (Failure.VALIDATION_FAILED, "name-taken"),
    "pods-change": (Failure.VALIDATION_FAILED, "wrong-value"),
    "pods-missing": (Failure.NOT_FOUND, "no-such-pod"),
    "pods-inactive": (Failure.NOT_FOUND, "inactive"),
    "pods-pending": (Failure.NOT_FOUND, "pending"),
    "pods-session-unknown": (Failure.NOT_FOUND, "no-session"),
    "pods-session-empty": (Failure.NOT_FOUND, "empty-session"),
    "pods-busy": (Failure.CONFLICT, "lost-races"),
    "pods-corrupt": (Failure.STORAGE_UNAVAILABLE, "damaged"),
    "pods-storage": (Failure.STORAGE_UNAVAILABLE, "unreachable"),
    "pods-place": (Failure.STORAGE_UNAVAILABLE, "unreachable"),
    "output-exists": (Failure.VALIDATION_FAILED, "file-exists"),
}
_UNEXPECTED = Failure.INTERNAL, "unexpected"


def failure_of(error: BaseException) -> Failure:
    """Return the kind of failure for an exception."""
    if isinstance(error, RequestError):
        return error.failure
    return _failure(error.diagnostics[0])[0] if isinstance(error, PondError) else Failure.INTERNAL


def error_of(error: BaseException) -> Error:
    """Return an exception as the error of a response; the content of an unexpected one is not revealed."""
    if isinstance(error, RequestError):
        return _error(error.failure, str(error), error.details)
    if isinstance(error, PondError):
        return diagnosed(error.diagnostics[0])
    return _error(*_unexpected(error))


def diagnosed(diagnostic: Diagnostic) -> Error:
    """Return a diagnostic as the error of a response."""
    failure, reason = _failure(diagnostic)
    details: dict[str, object] = {"reason": reason, "diagnostic": diagnostic.code}
    if diagnostic.path:
        details["path"] = diagnostic.path
    if diagnostic.help:
        details["help"] = diagnostic.help
    if diagnostic.span and diagnostic.span.column:
        details |= {"line": diagnostic.span.line, "column": diagnostic.span.column}
    return _error(failure, diagnostic.message, details)


def _failure(diagnostic: Diagnostic) -> tuple[Failure, str]:
    return _BY_CODE.get(diagnostic.code, _UNEXPECTED)


def _unexpected(error: BaseException) -> tuple[Failure, str, dict[str, object]]:
    failure, reason = _UNEXPECTED
    return failure, f"an unexpected error: {type(error).__name__}", {"reason": reason}


def _error(failure: Failure, message: str, details: dict[str, Any]) -> Error:
    return {"code": cast("ErrorCode", failure.code), "message": message, "details": details}
