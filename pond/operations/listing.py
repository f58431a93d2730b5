"""`pond list`: which sessions there are, the most recently active first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from pond.codec.registry import client_named
from pond.diagnostics.failures import Failure
from pond.operations.failing import RequestError
from pond.operations.service import Service
from pond.sessions.stored_text import to_micros

if TYPE_CHECKING:
    from pond.types import ListRequest, ListResponse


def list_sessions(service: Service, request: ListRequest) -> ListResponse:
    """Return the sessions asked for, and how many more there are."""
    from pond.lake.listing import LIMIT, ListingFilter, recent

    wanted = ListingFilter(
        client=client_named(request.get("source_agent")),
        project=request.get("project"),
        since=_micros(request, "since"),
        until=_micros(request, "until"),
        parent=request.get("parent_session_id"),
        everything=request.get("children", False),
        limit=request.get("limit", LIMIT),
    )
    return cast("ListResponse", recent(service.reading(request.get("namespace")), wanted))


def sessions_of(service: Service, namespace: str | None = None) -> dict[str, int]:
    """Return how many sessions the lake holds of each client."""
    from pond.lake import listing

    return listing.sessions_of(service.reading(namespace))


def check_client(service: Service, client: str | None) -> None:
    """Refuse a client that pond does not know and the lake does not hold."""
    from pond.codec.registry import clients
    from pond.diagnostics.nearest import unknown

    client = client_named(client)
    if client is not None and client not in clients() and client not in (held := sessions_of(service)):
        raise unknown("client", client, sorted({*clients(), *held}))


def _micros(request: ListRequest, name: Literal["since", "until"]) -> int | None:
    time = request.get(name)
    if time is not None and to_micros(time) is None:  # a day that no month has
        what = f"expected a time, found `{time}`"
        raise RequestError(Failure.VALIDATION_FAILED, "wrong-value", what, path=f"$.{name}")
    return None if time is None else to_micros(time)
