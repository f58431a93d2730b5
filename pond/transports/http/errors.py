"""Every error of the server in the one shape that the wire has for it."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from pond.diagnostics.failures import Failure
from pond.model.json_text import JsonObject, encode
from pond.operations.failing import RequestError, error_of, failure_of

JSON = "application/json"


def json_response(content: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return encoded JSON as a response."""
    return Response(content, status, dict(headers or {}), JSON)


def error_body(error: BaseException) -> tuple[int, JsonObject]:
    """Return the status of an error, and the body that tells it."""
    return failure_of(error).status, {"error": error_of(error)}


def error_response(error: BaseException, headers: Mapping[str, str] | None = None) -> Response:
    """Return an exception as the response to a request."""
    status, body = error_body(error)
    return json_response(encode(body), status, headers)


def no_such_path(path: str) -> RequestError:
    """Return the refusal of an address that the server does not have."""
    return RequestError(Failure.NOT_FOUND, "no-such-path", f"nothing at `{path}`; `GET /` lists what is here")


def wrong_method(path: str, allowed: list[str]) -> RequestError:
    """Return the refusal of a method that an address does not take."""
    what = f"`{path}` takes {' and '.join(allowed)}"
    return RequestError(Failure.VALIDATION_FAILED, "wrong-method", what, allowed=allowed)
