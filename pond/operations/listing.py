"""`pond list`: which sessions there are, the most recently active first."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from pond.operations.service import Service

if TYPE_CHECKING:
    from pond.model._generated import ListRequest
    from pond.types import ListResponse


def list_sessions(service: Service, request: ListRequest) -> ListResponse:
    """Return the sessions asked for, and how many more there are."""
    from pond.lake.listing import LIMIT, Wanted, recent

    asked: dict[str, Any] = request.model_dump(exclude_unset=True)
    wanted = Wanted(
        client=asked.get("source_agent"),
        project=asked.get("project"),
        since=_micros(asked.get("since")),
        until=_micros(asked.get("until")),
        parent=asked.get("parent_session_id"),
        everything=asked.get("children", False),
        limit=asked.get("limit", LIMIT),
    )
    return cast("ListResponse", recent(service.reading(asked.get("namespace")), wanted))


def _micros(time: str | None) -> int | None:
    from pond.lake.times import micros

    return None if time is None else micros(datetime.fromisoformat(time))
