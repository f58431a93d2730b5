"""Sessions of the lake in one file, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pond.codec.registry import client_named
from pond.diagnostics.progress import Progress, Watch, unwatched
from pond.operations.service import Service

if TYPE_CHECKING:  # the caller loads Lance
    from pond.lake.export import Exported
    from pond.lake.import_ import Imported


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """Write sessions with their children to a new archive; without any condition, all of them.

    `since` and `until` are in microseconds from 1970: the session began at that time or later, and before it.
    """

    path: Path
    sessions: tuple[str, ...] = ()
    project: str | None = None
    client: str | None = None
    since: int | None = None
    until: int | None = None
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """Read the sessions of an archive into the lake; `erased` also brings back what was erased here."""

    path: Path
    erased: bool = False
    dry_run: bool = False
    namespace: str | None = None


def export(service: Service, request: ExportRequest, watch: Watch = unwatched) -> Exported:
    """Write an archive of one consistent state of the lake."""
    from pond.lake import export as lake
    from pond.sessions.archive.select import Selection

    selection = Selection(request.sessions, request.project, client_named(request.client), request.since, request.until)
    return lake.export(service.writing(request.namespace), request.path, selection, _shown("exporting", watch))


def import_(service: Service, request: ImportRequest, watch: Watch = unwatched) -> Imported:
    """Merge an archive into the lake; nothing changes if it cannot be trusted."""
    from pond.lake import import_ as lake

    return lake.import_(
        service.writing(request.namespace), request.path, erased=request.erased, dry_run=request.dry_run,
        progress=_shown("importing", watch),
    )  # fmt: skip


def _shown(what: str, watch: Watch) -> Callable[[int, int], None]:
    return lambda done, total: watch(Progress(what, done, total))
