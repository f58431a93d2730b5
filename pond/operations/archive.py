"""Sessions of the lake in one file, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pond.codec.registry import client_named
from pond.diagnostics.progress import Progress, Watch, unwatched
from pond.operations.service import Service

if TYPE_CHECKING:  # Lance is loaded by whoever asks
    from pond.lake.export import Exported
    from pond.lake.import_ import Imported


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """Write sessions with their children to a new archive; without any condition, all of them.

    `since` is in microseconds from 1970: the session began then or later.
    """

    path: Path
    sessions: tuple[str, ...] = ()
    project: str | None = None
    client: str | None = None
    since: int | None = None
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """Take the sessions of an archive into the lake; `erased` brings back what was erased here, too."""

    path: Path
    erased: bool = False
    dry_run: bool = False
    namespace: str | None = None


def export(service: Service, request: ExportRequest, watch: Watch = unwatched) -> Exported:
    """Write an archive of one state of the lake, whatever is written meanwhile."""
    from pond.lake import export as lake
    from pond.sessions.archive.select import Selection

    selection = Selection(request.sessions, request.project, client_named(request.client), request.since)
    return lake.export(service.writing(request.namespace), request.path, selection, _shown("exporting", watch))


def import_(service: Service, request: ImportRequest, watch: Watch = unwatched) -> Imported:
    """Merge an archive into the lake; nothing is changed where it is not one to rely on."""
    from pond.lake import import_ as lake

    return lake.import_(
        service.writing(request.namespace), request.path, erased=request.erased, dry_run=request.dry_run,
        progress=_shown("importing", watch),
    )  # fmt: skip


def _shown(what: str, watch: Watch) -> Callable[[int, int], None]:
    return lambda done, total: watch(Progress(what, done, total))
