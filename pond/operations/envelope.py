"""Data from outside as a typed request: the version is checked first, then everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pond.diagnostics.failures import Failure
from pond.model.instants import instant
from pond.model.json_text import JsonObject
from pond.operations.failing import RequestError

if TYPE_CHECKING:  # pydantic is slow to import, and only requests from outside need it
    from pydantic_core import ErrorDetails

    from pond.types import (
        GetRequest,
        ListRequest,
        PodChangeRequest,
        PodGetRequest,
        PodListRequest,
        PodRemoveRequest,
        PodRestoreRequest,
        SearchRequest,
        SqlRequest,
        StatsRequest,
    )

PROTOCOL = 1  # the one supported version
_REASONS = {"missing": "missing-field", "extra_forbidden": "unknown-field"}
_TYPES = ("_type", "_parsing", "int_from_float")
_TIMES = ("since", "until")  # of a request and its filters


def get_request(body: object) -> GetRequest:
    """Return a decoded body as a request of `get`; raise RequestError if it is not one, or has another version."""
    return cast("GetRequest", _validated("GetRequest", body))


def list_request(body: object) -> ListRequest:
    """Return a decoded body as a request of `list`; raise as `get_request` does."""
    return cast("ListRequest", _validated("ListRequest", body))


def search_request(body: object) -> SearchRequest:
    """Return a decoded body as a request of `search`; raise as `get_request` does."""
    return cast("SearchRequest", _validated("SearchRequest", body))


def sql_request(body: object) -> SqlRequest:
    """Return a decoded body as a request of `sql`; raise as `get_request` does."""
    return cast("SqlRequest", _validated("SqlRequest", body))


def stats_request(body: object) -> StatsRequest:
    """Return a decoded body as a request of `stats`; raise as `get_request` does."""
    return cast("StatsRequest", _validated("StatsRequest", body))


def pod_list_request(body: object) -> PodListRequest:
    """Return a decoded body as a request of `list_pods`; raise as `get_request` does."""
    return cast("PodListRequest", _validated("PodListRequest", body))


def pod_get_request(body: object) -> PodGetRequest:
    """Return a decoded body as a request of `get_pod`; raise as `get_request` does."""
    return cast("PodGetRequest", _validated("PodGetRequest", body))


def pod_change_request(body: object) -> PodChangeRequest:
    """Return a decoded body as a request of `change_pod`; raise as `get_request` does."""
    return cast("PodChangeRequest", _validated("PodChangeRequest", body))


def pod_remove_request(body: object) -> PodRemoveRequest:
    """Return a decoded body as a request of `remove_pod`; raise as `get_request` does."""
    return cast("PodRemoveRequest", _validated("PodRemoveRequest", body))


def pod_restore_request(body: object) -> PodRestoreRequest:
    """Return a decoded body as a request of `restore_pod`; raise as `get_request` does."""
    return cast("PodRestoreRequest", _validated("PodRestoreRequest", body))


def _validated(kind: str, body: object) -> Any:
    from pydantic import ValidationError

    from pond.model import _generated

    body = _with_instants(check_version(body))
    try:
        getattr(_generated, kind).model_validate(body)
    except ValidationError as error:
        raise _refusal(body, error.errors(include_url=False, include_context=False)) from None
    return body


def _with_instants(body: JsonObject, narrowing: tuple[str, ...] = ("filters", "exclude")) -> JsonObject:
    """Return a request with its times as canonical spells them: from outside comes whatever RFC 3339 allows.

    What is no time stays as it is: the validator names it.
    """
    found = dict(body)
    for name in _TIMES:
        if type(spelled := found.get(name)) is str:
            found[name] = instant(spelled) or spelled
    if narrowing and type(within := found.get(narrowing[0])) is dict:
        found[narrowing[0]] = _with_instants(within, narrowing[1:])
    return found


def check_version(body: object) -> JsonObject:
    """Return a body that is an object with a supported version; raise RequestError for any other."""
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
        what = f"protocol version {version} is not supported"
        raise RequestError(Failure.VERSION_UNSUPPORTED, "protocol-version", what, supported=[PROTOCOL])
    return found


def _refusal(body: object, errors: list[ErrorDetails]) -> RequestError:
    # If one value or several are allowed, both readings have failed: the one that got further was meant.
    first = _path(body, errors[0])
    path, found = max(
        ((path, each) for each in errors if (path := _path(body, each)).startswith(first)),
        key=lambda pair: len(pair[0]),
    )
    kind = found["type"]
    reason = _REASONS.get(kind) or ("wrong-type" if any(mark in kind for mark in _TYPES) else "wrong-value")
    return RequestError(Failure.VALIDATION_FAILED, reason, f"`{path}`: {found['msg'].lower()}", path=path)


def _path(body: object, error: ErrorDetails) -> str:
    """Return the place of a fault in the body: pydantic also names the readings of a value."""
    path, here = "$", body
    *before, last = error["loc"]
    for step in (*before, last):
        if isinstance(step, int):
            path, here = f"{path}[{step}]", here[step] if isinstance(here, list) else None
        elif isinstance(here, dict):
            if step not in here and step is not last and step in here.values():
                continue  # the discriminator of a union
            path, here = f"{path}.{step}", here.get(step)
    return path
