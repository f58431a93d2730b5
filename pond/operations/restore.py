"""Stored sessions as files again: for their own client, for another one, or as canonical text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pond.codec.report import Report
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.operations.convert import check
from pond.operations.service import Service

if TYPE_CHECKING:  # the caller loads Lance
    from pond.codec.request import ConversionRequest
    from pond.model.json_text import JsonObject
    from pond.restore.restoring import Restored
    from pond.substrate.store import Store


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """Restore the named sessions, each by its id or a unique prefix; or all, or those of a project or a client."""

    order: ConversionRequest
    sessions: Sequence[str] = ()
    everything: bool = False
    project: str | None = None
    client: str | None = None
    namespace: str | None = None


@dataclass(slots=True)
class Restoring:
    """A restore: yields each session when its file is written; at the end `report` says what happened."""

    made: Iterator[Restored]
    report: Report = field(default_factory=Report)


def restore(service: Service, request: RestoreRequest, target: Path) -> Restoring:
    """Write the sessions and all their descendants into a directory, one after the other, as the caller iterates."""
    from pond.restore import restoring

    check(request.order, restoring.OWN)
    store, report = service.writing(request.namespace), Report()
    return Restoring(restoring.restore(store, _chosen(store, request), request.order, target, report), report)


def restore_stream(service: Service, request: RestoreRequest, out: BinaryIO) -> Report:
    """Write the sessions and all their descendants as canonical text."""
    from pond.restore import restoring

    check(request.order, restoring.OWN)
    store, report = service.writing(request.namespace), Report()
    restoring.stream(store, _chosen(store, request), request.order, out, report)
    return report


def _chosen(store: Store, request: RestoreRequest) -> list[JsonObject]:
    from pond.lake.chosen import every, named

    if request.everything == bool(request.sessions):
        raise _refusal("expected sessions, or all of them", "name some, or ask for everything")
    if not request.everything and (request.project or request.client):
        raise _refusal("a project or client filter needs all sessions", "ask for all of them, too")
    if request.everything:
        return every(store, request.project, request.client)
    return named(store, request.sessions)


def _refusal(message: str, help: str) -> UsageError:
    return UsageError(Diagnostic("usage", message, help=help))
