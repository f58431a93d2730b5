"""Canonical events into the lake, as they come with a request: each session for itself, each event once."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pond.diagnostics.failures import Failure
from pond.model.json_text import JsonObject, encode_line
from pond.operations.envelope import check_version
from pond.operations.failing import RequestError, diagnosed
from pond.operations.service import Service

if TYPE_CHECKING:
    from pond.diagnostics.diagnostic import Diagnostic
    from pond.substrate.store import Store
    from pond.types import IngestedSession, IngestResponse, RejectedEvent

MOST_EVENTS = 10_000  # in one request from outside
_FIELDS = {"protocol_version", "namespace", "events"}


@dataclass(frozen=True, slots=True)
class IngestEvents:
    """A batch of canonical events: each session, then each of its messages followed by that message's parts."""

    events: Sequence[JsonObject]
    namespace: str | None = None


def events_of(body: object) -> IngestEvents:
    """Return a decoded body as a batch; raise RequestError where it is none. What the events are is judged later."""
    check_version(body)
    assert isinstance(body, dict)
    if unknown := sorted(body.keys() - _FIELDS):
        raise _refusal("unknown-field", f"`{unknown[0]}` is no field of this request", f"$.{unknown[0]}")
    namespace, events = body.get("namespace"), body.get("events")
    if "namespace" in body and (type(namespace) is not str or not namespace):
        raise _refusal("wrong-value", "`namespace` must be a text", "$.namespace")
    if events is None:
        raise _refusal("missing-field", "`events` is missing", "$.events")
    if type(events) is not list or not events:
        raise _refusal("wrong-type", "`events` must be a list of events", "$.events")
    if len(events) > MOST_EVENTS:
        what = f"a batch has {MOST_EVENTS} events at most, this one has {len(events)}"
        raise RequestError(Failure.VALIDATION_FAILED, "batch-too-large", what, most=MOST_EVENTS)
    return IngestEvents(events, namespace)


def ingest_events(service: Service, request: IngestEvents) -> IngestResponse:
    """Store what is new of a batch; the same events again are no new ones."""
    from pond.intake.ingest import ingest
    from pond.intake.request import Request

    store = service.writing(request.namespace)
    sent = Counter(_session_of(event) for event in request.events)
    before = {id: _held(store, id) for id in sent if id}
    with tempfile.TemporaryDirectory(prefix="pond-") as folder:
        text = Path(folder, "events")
        text.write_bytes(b"".join(map(encode_line, request.events)))
        settings = service.settings_for(request.namespace)
        summary = ingest(settings, Request([], texts=[text], processes=1))
    store.forget()
    sessions = [
        _outcome(id, sent[id], _known(before[id], request.events, id), before[id], _held(store, id))
        for id in sent
        if id
    ]
    return {"sessions": sessions, "rejected": [*_rejected(summary.report.faults), *_erased(store, request.events)]}


def _session_of(event: object) -> str:
    """Return the session that an event is part of; an empty text where it does not say."""
    if not isinstance(event, dict):
        return ""
    id = event.get("id" if event.get("kind") == "session" else "session_id")
    return id if type(id) is str else ""


# --- what became of it -----------------------------------------------------------------------------------------------

_Held = dict[str, set[tuple[str, str, str]]]  # stored id -> the events that are there: kind, message, own id


def _held(store: Store, session_id: str) -> _Held:
    """Return which events of a session are stored, under its own id or another."""
    from pond.lake.held import events_of_session

    return events_of_session(store, session_id)


def _known(before: _Held, events: Sequence[JsonObject], session_id: str) -> int:
    """Return how many events of the batch were stored before."""
    held = set().union(*before.values())
    mine = (event for event in events if _session_of(event) == session_id)
    return sum(_key(event) in held for event in mine)


def _key(event: JsonObject) -> tuple[str, str, str]:
    kind, own = str(event.get("kind")), str(event.get("id"))
    return kind, str(event.get("message_id")) if kind == "part" else "", "" if kind == "session" else own


def _outcome(id: str, sent: int, known: int, before: _Held, after: _Held) -> IngestedSession:
    grown = {name: len(held) - len(before.get(name, ())) for name, held in after.items()}
    stored = sum(grown.values())
    found: IngestedSession = {
        "session_id": id, "stored": stored, "already_stored": known, "rejected": max(0, sent - stored - known),
    }  # fmt: skip
    other = next((name for name, more in grown.items() if more and name != id), None)
    if other is not None:
        found["stored_as"] = other
    return found


def _rejected(faults: Sequence[Diagnostic]) -> Iterator[RejectedEvent]:
    for fault in faults:
        if fault.severity == "error" and fault.span is not None:
            yield {"index": max(0, fault.span.line - 1), "error": diagnosed(fault)}


def _erased(store: Store, events: Sequence[JsonObject]) -> Iterator[RejectedEvent]:
    """Yield the sessions that were erased, and stay so."""
    from pond.lake.tombstones import stones
    from pond.sessions.stored_text import to_stored

    standing = stones(store)
    for index, event in enumerate(events):
        if _is_session(event) and to_stored(_session_of(event)) in standing:
            what = f"session `{event['id']}` was erased, and stays so"
            details = {"reason": "erased"}
            yield {"index": index, "error": {"code": "validation_failed", "message": what, "details": details}}


def _is_session(event: object) -> bool:
    return isinstance(event, dict) and event.get("kind") == "session"


def _refusal(reason: str, message: str, path: str) -> RequestError:
    return RequestError(Failure.VALIDATION_FAILED, reason, message, path=path)
