"""`pond_get`: a session a page at a time, or one message with its neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pond.diagnostics.failures import Failure
from pond.operations.failing import RequestError
from pond.operations.service import Service

if TYPE_CHECKING:
    from pond.substrate.store import Store
    from pond.types import GetRequest, GetResponse

END = "end"


def get(service: Service, request: GetRequest) -> GetResponse:
    """Return a page of a session, or a message with a page of its parts and its neighbours in short."""
    from pond.lake import get as lake

    store = service.reading(request.get("namespace"))
    message_id, limit, after = request.get("message_id"), request.get("limit", lake.LIMIT), request.get("after_id")
    session_id = request.get("session_id")
    if session_id is None:
        session_id = _session_of(store, message_id)
    if message_id is not None:
        depth = request.get("context_depth", 0)
        return cast("GetResponse", lake.get_message(store, session_id, message_id, depth, limit, after))
    mode, from_end = request.get("response_mode", lake.CONVERSATIONAL), request.get("session_from") == END
    return cast("GetResponse", lake.get_session(store, session_id, mode, limit, after, from_end))


def _session_of(store: Store, message_id: str | None) -> str:
    """Return the session that holds a message; raise RequestError if none or several do."""
    from pond.lake import find

    if message_id is None:
        what = "expected `session_id` or `message_id`"
        raise RequestError(Failure.VALIDATION_FAILED, "nothing-named", what)
    found = find.sessions_of_message(store, message_id)
    if not found:
        raise RequestError(Failure.NOT_FOUND, "no-such-id", f"no message `{message_id}`")
    if len(found) > 1:
        what = f"several sessions hold message `{message_id}`: name one with `session_id`"
        raise RequestError(Failure.VALIDATION_FAILED, "ambiguous", what, candidates=found)
    return found[0]
