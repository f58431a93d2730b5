"""The table of operations that HTTP offers: a line for each says where it is, what it takes and what answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pond.model.json_text import JsonObject
from pond.operations.envelope import (
    check_version,
    get_request,
    list_request,
    pod_change_request,
    pod_get_request,
    pod_list_request,
    pod_remove_request,
    pod_restore_request,
    search_request,
    sql_request,
    stats_request,
)
from pond.operations.finding import meant, session_meant
from pond.operations.get import get
from pond.operations.ingest import begin_ingest, events_of
from pond.operations.listing import list_sessions
from pond.operations.pod_restore import restore_pod
from pond.operations.pods import change_pod, get_pod, list_pods, remove_pod
from pond.operations.search import search
from pond.operations.service import Service
from pond.operations.sql import sql
from pond.operations.stats import stats


@dataclass(frozen=True, slots=True)
class Route:
    """One operation: `decode` makes a request of a JSON body, `run` answers it, at once or with a Future."""

    method: str
    path: str
    decode: Callable[[object], Any]
    run: Callable[[Service, Any], Any]
    request: str  # types of schema/wire.schema.json
    response: str
    summary: str


# What commands of the same user ask for beside them; only the private socket has it.
def _found(service: Service, request: JsonObject) -> JsonObject:
    if request.get("only") == "session":
        return {"session_id": session_meant(service, request["text"], request.get("namespace")), "message_id": None}
    found = meant(service, request["text"], request.get("session"), request.get("namespace"))
    return {"session_id": found.session_id, "message_id": found.message_id}


def _find_request(body: object) -> JsonObject:
    check_version(body)
    assert isinstance(body, dict)
    return body


PRIVATE = (Route("POST", "/local/find", _find_request, _found, "", "", "Find the session or message that is meant."),)

OPERATIONS = (
    Route(
        "POST", "/v1/search", search_request, search, "SearchRequest", "SearchResponse",
        "Find messages by what was said in them.",
    ),
    Route(
        "POST", "/v1/get", get_request, get, "GetRequest", "GetResponse",
        "Fetch a session a page at a time, or one message with its neighbours.",
    ),
    Route(
        "POST", "/v1/list", list_request, list_sessions, "ListRequest", "ListResponse",
        "List sessions, the most recently active first.",
    ),
    Route(
        "POST", "/v1/ingest", events_of, begin_ingest, "IngestRequest", "IngestResponse",
        "Store canonical events. The answer comes when they are committed.",
    ),
    Route(
        "POST", "/v1/sql", sql_request, sql, "SqlRequest", "SqlResponse",
        "Run a read-only query over the tables of the lake.",
    ),
    Route(
        "GET", "/v1/stats", stats_request, stats, "StatsRequest", "StatsResponse",
        "Count what the lake holds, and report the state of its tables.",
    ),
    Route(
        "POST", "/v1/pods/list", pod_list_request, list_pods, "PodListRequest", "PodListResponse",
        "List the pods: what each named agent is now.",
    ),
    Route(
        "POST", "/v1/pods/get", pod_get_request, get_pod, "PodGetRequest", "PodResponse",
        "Fetch a pod.",
    ),
    Route(
        "POST", "/v1/pods/change", pod_change_request, change_pod, "PodChangeRequest", "PodResponse",
        "Change one aspect of a pod, and leave all others alone.",
    ),
    Route(
        "POST", "/v1/pods/remove", pod_remove_request, remove_pod, "PodRemoveRequest", "PodRemoveResponse",
        "Remove a pod's record.",
    ),
    Route(
        "POST", "/v1/pods/restore", pod_restore_request, restore_pod, "PodRestoreRequest", "PodRestoreResponse",
        "Reclaim the children of a pod that are gone, tell its session so, and return what it continues with.",
    ),
)  # fmt: skip
