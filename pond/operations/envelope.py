"""What comes from outside, as a typed request: the version is looked at first, then everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pond.diagnostics.failures import Failure
from pond.model.json_text import JsonObject
from pond.operations.failing import RequestError

if TYPE_CHECKING:  # takes a while to import, and only requests from outside need it
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

PROTOCOL = 1  # the one version that is spoken
_REASONS = {"missing": "missing-field", "extra_forbidden": "unknown-field"}
_TYPES = ("_type", "_parsing", "int_from_float")

Request = TypeVar("Request", bound="BaseModel")


def request_of(kind: type[Request], body: object) -> Request:
    """Return a decoded body as a request; raise RequestError where it is none, or of another protocol version."""
    check_version(body)
    from pydantic import ValidationError

    try:
        return kind.model_validate(body)
    except ValidationError as error:
        raise _refusal(error.errors(include_url=False, include_context=False)[0]) from None


def check_version(body: object) -> None:
    """Raise RequestError unless a body is an object that says a version which is spoken here."""
    if not isinstance(body, dict):
        raise RequestError(Failure.VALIDATION_FAILED, "wrong-type", "expected an object", path="$")
    found: JsonObject = body
    if "protocol_version" not in found:
        what = "`protocol_version` is missing"
        raise RequestError(Failure.VALIDATION_FAILED, "missing-field", what, path="$.protocol_version")
    version = found["protocol_version"]
    if type(version) is not int:
        what = "`protocol_version` must be an integer"
        raise RequestError(Failure.VALIDATION_FAILED, "wrong-type", what, path="$.protocol_version")
    if version != PROTOCOL:
        what = f"protocol version {version} is not spoken here"
        raise RequestError(Failure.VERSION_UNSUPPORTED, "protocol-version", what, supported=[PROTOCOL])


def _refusal(found: ErrorDetails) -> RequestError:
    path = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in found["loc"])
    kind = found["type"]
    reason = _REASONS.get(kind) or ("wrong-type" if any(mark in kind for mark in _TYPES) else "wrong-value")
    return RequestError(Failure.VALIDATION_FAILED, reason, f"`{path}`: {found['msg'].lower()}", path=path)
