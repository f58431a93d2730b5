"""The state of the lake, and what keeps it fast, small and free of erased data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from pond.diagnostics.progress import Progress, Watch, unwatched
from pond.operations.service import Service

if TYPE_CHECKING:  # the caller loads Lance
    from pond.lake.erase import Erased, Family, Preview
    from pond.lake.optimize import Optimized
    from pond.lake.status import Checks, Overview


@dataclass(frozen=True, slots=True)
class OptimizeRequest:
    """Tidy every table; versions younger than `keep` stay."""

    keep: timedelta
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class EraseRequest:
    """Erase sessions, each by its id or a unique prefix, and their children.

    `alone` says that nothing else writes to the lake: then the leftovers of unfinished writes are deleted too.
    """

    sessions: Sequence[str]
    alone: bool = False
    namespace: str | None = None


def overview(service: Service, namespace: str | None = None) -> Overview:
    """Return what the lake holds: what is known at once."""
    from pond.lake import status

    return status.overview(service.reading(namespace))


def checks(service: Service, namespace: str | None = None) -> Checks:
    """Return the state of tables, indexes and sources, and what clients are about to delete: what takes longer."""
    from pond.lake import status
    from pond.lake.models import label

    return status.checks(service.reading(namespace), service.environ, label(service.settings))


def optimize(service: Service, request: OptimizeRequest, watch: Watch = unwatched) -> list[Optimized]:
    """Update indexes, merge small files, delete old versions; return each table before and after."""
    from pond.lake import optimize as lake

    return lake.optimize(
        service.reading(request.namespace), request.keep, lambda what: watch(Progress(what)),
        index_from=service.settings.search.index_from,
    )  # fmt: skip


def families(service: Service, request: EraseRequest) -> list[Family]:
    """Return the sessions that the request means, including erased ones."""
    from pond.lake import erase as lake

    store = service.reading(request.namespace)
    return [lake.family(store, text) for text in request.sessions]


def previews(service: Service, request: EraseRequest) -> list[Preview]:
    """Return what a person should see before anything is erased."""
    from pond.lake import erase as lake

    store = service.reading(request.namespace)
    return [lake.preview(store, family) for family in families(service, request)]


def erase(service: Service, request: EraseRequest, watch: Watch = unwatched) -> Erased:
    """Remove sessions for good, and keep later syncs from bringing them back."""
    from pond.lake import erase as lake
    from pond.operations import exports

    store, meant = service.reading(request.namespace), families(service, request)
    try:
        return lake.erase(store, meant, alone=request.alone, tell=lambda what: watch(Progress(what)))
    finally:
        exports.forget(service, request.namespace)  # they may hold what was erased


def forget_erased(service: Service, request: EraseRequest) -> int:
    """Let erased sessions be stored again by a later sync; return how many there were."""
    from pond.lake import erase as lake

    return lake.forget(service.reading(request.namespace), families(service, request))
