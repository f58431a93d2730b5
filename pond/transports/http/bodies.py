"""Bodies and headers of requests: read within limits, decoded exactly, and put into one envelope."""

from __future__ import annotations

import asyncio
import re

from starlette.requests import ClientDisconnect, Request

from pond.diagnostics.failures import Failure
from pond.model.json_text import EVENT_DEPTH, Json, JsonObject, NotJson, decode
from pond.operations.envelope import check_version
from pond.operations.failing import RequestError

MOST_BYTES = 8 << 20  # of a body
_MOST_HEARD = 2 * MOST_BYTES  # that are read and dropped, so that most clients hear why they are refused
PATIENCE = 30.0  # seconds that a client may take to send a body
VERSION, NAMESPACE = "x-pond-protocol-version", "x-pond-namespace"
_DIGITS = re.compile(r"[0-9]{1,9}")


async def body_of(request: Request) -> bytes:
    """Return the body of a request; raise RequestError where it is too large, or takes too long."""
    told = request.headers.get("content-length", "0")
    if not told.isdigit() or int(told) > _MOST_HEARD:
        raise _too_large()
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(PATIENCE):
            async for chunk in request.stream():
                size += len(chunk)
                if size > _MOST_HEARD:
                    raise _too_large()
                if size <= MOST_BYTES:
                    chunks.append(chunk)
    except TimeoutError:
        what = f"the body did not arrive within {PATIENCE:g} seconds"
        raise RequestError(Failure.VALIDATION_FAILED, "time-limit", what) from None
    except ClientDisconnect:
        raise RequestError(Failure.VALIDATION_FAILED, "bad-http", "the client went away") from None
    if size > MOST_BYTES:
        raise _too_large()
    return b"".join(chunks)


def check_type(request: Request) -> None:
    """Raise RequestError where a body says that it is something other than JSON."""
    kind = request.headers.get("content-type")
    if kind is not None and kind.partition(";")[0].strip().lower() != "application/json":
        raise RequestError(Failure.VALIDATION_FAILED, "not-json", "expected a body of type `application/json`")


def decoded(raw: bytes) -> Json:
    """Return the exact value of a body; raise RequestError where it is not JSON."""
    repeated: list[str] = []
    try:
        # An event lies two levels deep in a body.
        value = decode(raw, repeated.append, EVENT_DEPTH + 2)
    except NotJson as error:
        raise RequestError(Failure.VALIDATION_FAILED, "not-json", f"the body is not JSON: {error}") from None
    if repeated:
        what = f"`{repeated[0]}` is a duplicate key"
        raise RequestError(Failure.VALIDATION_FAILED, "not-json", what)
    return value


def in_envelope(body: Json, request: Request) -> Json:
    """Return a body with the namespace that a header names; raise RequestError where the two name different ones."""
    named = request.headers.get(NAMESPACE)
    if named is None or not isinstance(body, dict):
        return body
    if body.setdefault("namespace", named) != named:
        what = f"the body and `{NAMESPACE}` name different namespaces"
        raise RequestError(Failure.VALIDATION_FAILED, "wrong-value", what, path="$.namespace")
    return body


def from_headers(request: Request) -> JsonObject:
    """Return the envelope of a request that has no body: its version and its namespace are headers."""
    envelope: JsonObject = {}
    if (version := request.headers.get(VERSION)) is not None:
        envelope["protocol_version"] = int(version) if _DIGITS.fullmatch(version) else version
    if (namespace := request.headers.get(NAMESPACE)) is not None:
        envelope["namespace"] = namespace
    return envelope


def checked_envelope(request: Request) -> JsonObject:
    """Return the envelope that the headers of a request are; raise RequestError for another version."""
    envelope = from_headers(request)
    check_version(envelope)
    return envelope


def _too_large() -> RequestError:
    what = f"a body has {MOST_BYTES} bytes at most"
    return RequestError(Failure.VALIDATION_FAILED, "body-too-large", what, most=MOST_BYTES)
