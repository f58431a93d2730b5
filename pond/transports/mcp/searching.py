"""`pond_search`: arguments to a request, and the answer to a text."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

from pond.diagnostics.diagnostic import UsageError
from pond.model.json_text import JsonObject
from pond.operations.envelope import PROTOCOL
from pond.operations.finding import meant, session_meant
from pond.operations.search import answered
from pond.operations.service import Service
from pond.operations.surroundings import messages_in
from pond.transports.mcp import offered
from pond.transports.mcp.arguments import Arguments
from pond.transports.mcp.asking import Asking
from pond.transports.mcp.transcripts.found import transcript
from pond.transports.mcp.transcripts.inert import label
from pond.transports.mcp.work import Told, Work

if TYPE_CHECKING:
    from pond.types import SearchFilters, SearchRequest

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_FEW = 3  # sessions of the smaller answer
_SHORTER = "note: searching took long, so this answer goes by words alone and is short; ask again for more"


def work(service: Service, given: Arguments, asking: Asking) -> Work:
    """Return the search that the arguments ask for."""

    def short() -> Told:
        return _told(service, given, asking, _FEW)

    return Work(lambda: _told(service, given, asking), short)


def _told(service: Service, given: Arguments, asking: Asking, few: int | None = None) -> Told:
    notes: list[str] = []
    request = _request(service, given, asking, notes)
    if few is not None:
        request["limit"] = min(request.get("limit", few), few)
        notes.append(_SHORTER)
    found = answered(service, request, by_meaning=few is None or "like" in request)
    response = cast(JsonObject, found.response)
    if "notice" in response:
        notes.append(f"note: searched by words alone: {label(response['notice'], 300)}")
    totals = messages_in(service, [each["session_id"] for each in response["sessions"]], asking.namespace)
    max_bytes = given.number("max_bytes", offered.SEARCH_BYTES)
    every = dict.fromkeys([*given.notes, *notes])
    return Told(transcript(response, totals, found.cursor_after, every, max_bytes))


def _request(service: Service, given: Arguments, asking: Asking, notes: list[str]) -> SearchRequest:
    filters = _filters(given)
    if not given.switch("include_subagents") and not {"session_id", "agent"} & filters.keys():
        notes.append("Subagent sessions are left out; include_subagents=true searches them.")
    own = [] if given.switch("include_current_session") else _stored(service, asking)
    if own and "session_id" not in filters:
        filters["exclude"] = {"session_id": own}
        notes.append(
            f"This session ({', '.join(map(label, own))}) is left out; include_current_session=true searches it."
        )
    request: SearchRequest = {"protocol_version": PROTOCOL, "query": given.text("query") or "", "filters": filters}
    request["limit"] = given.number("limit", 10)
    if given.choice("sort", ("relevance", "recent")) == "recent":
        request["sort"] = "recent"
    if (cursor := given.text("cursor")) is not None:
        request["cursor"] = cursor
    if asking.namespace is not None:
        request["namespace"] = asking.namespace
    if (like := given.text("similar_to")) is not None:
        found = meant(service, like, given.text("session_id"), asking.namespace)
        request["like"] = {"session_id": found.session_id, "message_id": found.message_id or like}
    return request


def _filters(given: Arguments) -> SearchFilters:
    from pond.search.query.query import Key
    from pond.search.wire import filters_of

    options = {
        Key.ROLE: given.texts("role"),
        Key.CLIENT: given.texts("source_agent"),
        Key.PROJECT: list(map(_project, given.texts("project"))),
        Key.SESSION: given.texts("session_id"),
        Key.AFTER: given.texts("from_date"),
        Key.BEFORE: list(map(_end_of_day, given.texts("to_date"))),
        Key.TOOL: given.texts("tool"),
        Key.FILE: given.texts("file"),
        Key.FAILED: _switched(given.switch("failed")),
        Key.SUBAGENTS: ["true"] if given.switch("include_subagents") else [],
    }
    return filters_of(options, datetime.now(UTC))


def _project(text: str) -> str:
    """Return a pattern for projects whose path contains a text; a whole path means that directory and all below it."""
    return text if text.startswith(("/", "~")) or "*" in text or "?" in text else f"*{text}*"


def _end_of_day(text: str) -> str:
    if not _DAY.fullmatch(text):
        return text
    try:
        return (datetime.fromisoformat(text) + timedelta(days=1)).date().isoformat()
    except (ValueError, OverflowError):
        return text  # its reader says what is wrong


def _switched(on: bool | None) -> list[str]:
    return [] if on is None else [str(on).lower()]


def _stored(service: Service, asking: Asking) -> list[str]:
    """Return the asking sessions that the lake holds already."""
    find: Callable[[str], str] = lambda text: session_meant(service, text, asking.namespace)  # noqa: E731
    found: list[str] = []
    for text in asking.sessions:
        try:
            id = find(text)
        except UsageError:
            continue  # not stored yet
        if id not in found:
            found.append(id)
    return found
