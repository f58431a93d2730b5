"""`pond_get`: a page of a session, or one message, as a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from pond.model.json_text import JsonObject
from pond.operations.envelope import PROTOCOL
from pond.operations.finding import meant, session_meant
from pond.operations.get import get
from pond.operations.listing import list_sessions
from pond.operations.service import Service
from pond.operations.surroundings import outcomes, place
from pond.transports.mcp import offered
from pond.transports.mcp.arguments import Arguments
from pond.transports.mcp.asking import Asking
from pond.transports.mcp.transcripts.session import Around, listing, message_page, session_page
from pond.transports.mcp.work import Told, Work

if TYPE_CHECKING:
    from pond.types import GetRequest, ListRequest

_MODES = ("conversational", "complete", "verbatim")
_USUAL, _FEW = 20, 3
_SHORTER = "note: reading took long, so this page is short; ask again, or continue from its end"


def work(service: Service, given: Arguments, asking: Asking) -> Work:
    """Return the reading that the arguments ask for."""
    return Work(lambda: _told(service, given, asking), lambda: _told(service, given, asking, few=True))


def _told(service: Service, given: Arguments, asking: Asking, few: bool = False) -> Told:
    notes = [_SHORTER] if few else []
    session, message = given.text("session_id"), given.text("message_id")
    if session is None and message is None:
        return _sessions(service, asking, _every(given, notes))
    max_bytes = given.number("max_bytes", offered.GET_BYTES)
    request: GetRequest = {"protocol_version": PROTOCOL, "limit": _FEW if few else given.number("limit", _USUAL)}
    if asking.namespace is not None:
        request["namespace"] = asking.namespace
    if (after := given.text("after_id")) is not None:
        request["after_id"] = after
    if message is None:
        assert session is not None
        request["session_id"] = session_meant(service, session, asking.namespace)
        return _session(service, given, request, notes, max_bytes)
    found = meant(service, message, session, asking.namespace)
    request["session_id"] = found.session_id
    if found.message_id is None:  # a session's id, in the other parameter
        return _session(service, given, request, notes, max_bytes)
    request |= {"message_id": found.message_id, "context_depth": given.number("context_depth", 0)}
    return _message(service, given, request, notes, max_bytes)


def _session(service: Service, given: Arguments, request: GetRequest, notes: list[str], max_bytes: int) -> Told:
    mode = cast('Literal["conversational", "complete", "verbatim"]', given.choice("response_mode", _MODES) or _MODES[0])
    from_end = given.choice("session_from", ("start", "end")) == "end"
    request |= {"response_mode": mode, "session_from": "end" if from_end else "start"}
    response = cast(JsonObject, get(service, request))
    around = _around(service, response["messages"], request)
    return Told(session_page(response, around, from_end, _every(given, notes), max_bytes))


def _message(service: Service, given: Arguments, request: GetRequest, notes: list[str], max_bytes: int) -> Told:
    response = cast(JsonObject, get(service, request))
    near = [*response["before"], *response["after"]]
    around = _around(service, [response["message"]], request, near)
    return Told(message_page(response, around, given.number("offset", 0), _every(given, notes), max_bytes))


def _every(given: Arguments, notes: list[str]) -> list[str]:
    return list(dict.fromkeys([*given.notes, *notes]))


def _around(
    service: Service, messages: list[JsonObject], request: GetRequest, near: list[JsonObject] | None = None
) -> Around:  # fmt: skip
    """Return where messages are in their session, and the outcome of the calls on them."""
    session, namespace = request["session_id"], request.get("namespace")
    if not messages:
        return Around(0, 0)
    ids = [each["id"] for each in messages]
    conversational = request.get("response_mode") == "conversational"
    here = place(service, session, ids, conversational=conversational, namespace=namespace)
    every = [*messages, *(near or [])]
    calls = {call for each in every for call in _calls(each)}
    return Around(here.before, here.after, outcomes(service, session, [each["id"] for each in every], calls, namespace))


def _calls(message: JsonObject) -> list[str]:
    parts = message.get("parts_summary", message.get("content"))
    return [part["call_id"] for part in parts if part.get("call_id")] if isinstance(parts, list) else []


def _sessions(service: Service, asking: Asking, notes: list[str]) -> Told:
    request: ListRequest = {"protocol_version": PROTOCOL, "limit": _USUAL}
    if asking.namespace is not None:
        request["namespace"] = asking.namespace
    found = cast(JsonObject, list_sessions(service, request))
    return Told(listing(found["sessions"], notes))
