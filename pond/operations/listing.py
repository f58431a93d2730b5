"""`pond list`: which sessions there are, the most recently active first."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, cast

from pond.codec.registry import client_named
from pond.operations.service import Service

if TYPE_CHECKING:
    from pond.types import ListRequest, ListResponse


def list_sessions(service: Service, request: ListRequest) -> ListResponse:
    """Return the sessions asked for, and how many more there are."""
    from pond.lake.listing import LIMIT, ListingFilter, recent

    wanted = ListingFilter(
        client=client_named(request.get("source_agent")),
        project=request.get("project"),
        since=_micros(request.get("since")),
        until=_micros(request.get("until")),
        parent=request.get("parent_session_id"),
        everything=request.get("children", False),
        limit=request.get("limit", LIMIT),
    )
    return cast("ListResponse", recent(service.reading(request.get("namespace")), wanted))


def sessions_of(service: Service, namespace: str | None = None) -> dict[str, int]:
    """Return how many sessions the lake holds of each client."""
    from pond.lake import listing

    return listing.sessions_of(service.reading(namespace))


def _micros(time: str | None) -> int | None:
    from pond.lake.times import micros

    return None if time is None else micros(datetime.fromisoformat(time))
