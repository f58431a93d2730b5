"""Canonical events from a request into the lake: each session on its own, each event once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pond.diagnostics.failures import Failure
from pond.model.json_text import JsonObject, encode
from pond.operations.envelope import check_version
from pond.operations.failing import RequestError, diagnosed
from pond.operations.service import Service

if TYPE_CHECKING:
    from pond.intake.events import Sent
    from pond.types import IngestedSession, IngestResponse, RejectedEvent

MOST_EVENTS = 10_000  # in one request from outside
_FIELDS = {"protocol_version", "namespace", "events"}


@dataclass(frozen=True, slots=True)
class IngestEvents:
    """A batch of canonical events: each session, then each of its messages followed by that message's parts."""

    events: Sequence[JsonObject]
    namespace: str | None = None


def events_of(body: object) -> IngestEvents:
    """Return a decoded body as a batch; raise RequestError if it is not one. The events are checked later."""
    check_version(body)
    assert isinstance(body, dict)
    if unknown := sorted(body.keys() - _FIELDS):
        raise _refusal("unknown-field", f"`{unknown[0]}` is not a field of this request", f"$.{unknown[0]}")
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


def begin_ingest(service: Service, request: IngestEvents) -> Future[IngestResponse]:
    """Store what is new in a batch, together with others that come at the same time; the future has the answer."""
    from pond.intake.events import Sent

    done: Future[IngestResponse] = Future()
    done.set_running_or_notify_cancel()
    stored = service.gathering.put(_named(service, request.namespace), Sent(request.events))
    stored.add_done_callback(lambda found: _hand_on(found, done))
    return done


def ingest_events(service: Service, request: IngestEvents) -> IngestResponse:
    """Store what is new in a batch; repeated events are not new."""
    response = begin_ingest(service, replace(request, events=[_exact(event) for event in request.events])).result()
    service.gathering.tidy_now(_named(service, request.namespace))
    return response


def _named(service: Service, namespace: str | None) -> str | None:
    return None if namespace == service.settings.namespace else namespace


def _exact(event: JsonObject) -> JsonObject:
    """Return an event that a program made as it would be after a trip through JSON text."""
    from pond.model.json_text import EVENT_DEPTH, decode

    exact: JsonObject = decode(encode(event), lambda key: None, EVENT_DEPTH)
    return exact


def _hand_on(found: Future[Sent], done: Future[IngestResponse]) -> None:
    if (error := found.exception()) is not None:
        done.set_exception(error)
    else:
        done.set_result(_response(found.result()))


def _response(sent: Sent) -> IngestResponse:
    sessions: list[IngestedSession] = [
        {
            "session_id": id, "stored": sent.stored[id], "already_stored": sent.known[id],
            "rejected": count - sent.stored[id] - sent.known[id],
        }
        for id, count in sent.sent.items()
    ]  # fmt: skip
    rejected: list[RejectedEvent] = [
        {"index": index, "error": diagnosed(fault)} for index, fault in sorted(sent.refused.items())
    ]
    return {"sessions": sessions, "rejected": rejected}


def _refusal(reason: str, message: str, path: str) -> RequestError:
    return RequestError(Failure.VALIDATION_FAILED, reason, message, path=path)
