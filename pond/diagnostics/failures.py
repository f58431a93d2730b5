"""The closed set of failures that can answer a request, and the open list of reasons that say more."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class _Failure:
    status: int  # of HTTP
    retry: bool
    once: bool = False  # whether more than one retry is useless


class Failure(Enum):
    """What kind of failure it is. It alone decides whether to try again."""

    VALIDATION_FAILED = "validation_failed", _Failure(400, retry=False)
    VERSION_UNSUPPORTED = "version_unsupported", _Failure(400, retry=False)
    NOT_FOUND = "not_found", _Failure(404, retry=False)
    NAMESPACE_UNKNOWN = "namespace_unknown", _Failure(403, retry=False)
    STORAGE_UNAVAILABLE = "storage_unavailable", _Failure(503, retry=True)
    CONFLICT = "conflict", _Failure(409, retry=True)
    INTERNAL = "internal", _Failure(500, retry=True, once=True)

    def __init__(self, code: str, facts: _Failure) -> None:
        self.code, self.status, self.retry, self.once = code, facts.status, facts.retry, facts.once


# `details.reason` -> its meaning. The list grows; a reader who does not know a reason uses the code.
REASONS: dict[str, str] = {
    "missing-field": "A required field is missing; `path` names it.",
    "unknown-field": "The request has a field that does not exist; `path` names it.",
    "wrong-type": "A value has the wrong JSON type; `path` names the field.",
    "wrong-value": "A value is not allowed; `path` names the field.",
    "not-json": "The body is not JSON, or its content type does not say so.",
    "body-too-large": "The body is larger than one request may be; `most` says how many bytes.",
    "no-such-path": "The server has nothing at this address.",
    "wrong-method": "The address takes another HTTP method; `allowed` lists those it takes.",
    "bad-http": "The data is not an HTTP request, or too large.",
    "too-many-readers": "Too many event readers are connected; try again later.",
    "nothing-named": "The request names neither a session nor a message.",
    "ambiguous": "Several sessions match the request; `candidates` lists them.",
    "batch-too-large": "The batch holds more events than one request may; `most` says how many.",
    "broken-event": "An event does not match its schema, or does not fit the events before it.",
    "immutable": "The session is stored with a different client or project, which is kept.",
    "differs": "An event with this id is stored with different content, which is kept.",
    "erased": "The session was erased, and stays erased.",
    "protocol-version": "The request uses another protocol version; `supported` lists the ones this server knows.",
    "no-such-id": "No session, message or part has the id that the request names.",
    "not-embedded": "Searching by meaning needs vectors that are not there.",
    "no-such-pod": "There is no pod with this name.",
    "name-taken": "Another pod has the same name in different upper and lower case.",
    "inactive": "The pod points to no session.",
    "pending": "The pod's session has no segment yet.",
    "no-session": "The session that the pod points to is not in the lake.",
    "empty-session": "The session that the pod points to has no records.",
    "no-lake": "Nothing has been stored yet.",
    "no-namespace": "The namespace is not provisioned here.",
    "lost-races": "Other writers won every attempt.",
    "unreachable": "The storage did not answer, or refused.",
    "exhausted": "The system has no threads, memory or open files left.",
    "damaged": "Stored data is damaged.",
    "other-version": "An earlier or later pond wrote the lake.",
    "unexpected": "A bug in pond: please report it.",
    "missing-token": "The request has no bearer token, and the server wants one.",
    "wrong-token": "The bearer token is not the server's.",
    "forbidden-host": "The request names a host or an origin that the server does not serve.",
    "wrong-query": "The SQL query cannot run; `diagnostic`, `line` and `help` say why.",
    "query-limit": "The SQL query took more time or memory than allowed.",
    "time-limit": "The request took longer than allowed.",
    "file-exists": "A different file already exists, and nothing was overwritten.",
}
