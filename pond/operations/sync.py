"""The stages of a sync: import, embed, update-indexes. Each may run alone; repeating one changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pond.codec.registry import client_named, clients
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.nearest import unknown
from pond.diagnostics.progress import Progress, Watch, unwatched
from pond.embed.faults import EmbedError
from pond.intake.ingest import ingest
from pond.intake.request import Request, Summary
from pond.intake.sources import stores
from pond.operations.archive import ImportRequest, import_
from pond.operations.service import Service

if TYPE_CHECKING:  # Lance is loaded after the reading processes are forked
    from pond.lake.embedding import Embedded
    from pond.lake.import_ import Imported

IMPORT, EMBED, UPDATE_INDEXES = "import", "embed", "update-indexes"
STAGES = (IMPORT, EMBED, UPDATE_INDEXES)
_AT_LEAST_EVERY = 3000  # milliseconds


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """Run the stages: one of them, or all but some. `archive` is read instead of the clients' stores."""

    only: str | None = None
    skip: Sequence[str] = ()
    dry_run: bool = False
    archive: Path | None = None
    processes: int | None = None
    embed_anew: bool = False  # every message, whatever vector it has

    def stages(self) -> list[str]:
        """Return the stages to run, in order; raise UsageError for an unknown name."""
        for name in [*([self.only] if self.only else []), *self.skip]:
            if name not in STAGES:
                raise unknown("stage", name, STAGES)
        return [name for name in STAGES if name not in self.skip and self.only in (None, name)]


@dataclass(slots=True)
class Synced:
    """What a sync did; None means that a stage did not run."""

    taken_in: Summary | None = None
    archive: Imported | None = None
    embedded: Embedded | None = None  # also if embedding is off
    indexes: dict[str, list[str]] | None = None  # by table: those that were behind
    stages: list[str] = field(default_factory=list)


def ingest_files(service: Service, request: Request, watch: Watch = unwatched) -> Summary:
    """Store what is new in files and folders."""
    return ingest(service.settings, request, lambda done, of, so_far: watch(Progress("ingesting", done, of, so_far)))


def sync(service: Service, request: SyncRequest, watch: Watch = unwatched) -> Synced:
    """Store what is new in the stores of this machine's clients, embed it, then update the indexes."""
    done = Synced(stages=request.stages())
    if IMPORT in done.stages:
        if request.archive is not None:
            done.archive = import_(service, ImportRequest(request.archive, dry_run=request.dry_run), watch)
        else:
            wanted = Request(inputs(service), None, request.dry_run, live=True, processes=request.processes)
            done.taken_in = ingest_files(service, wanted, watch)
    if EMBED in done.stages and not request.dry_run:
        done.embedded = _embed(service, request, watch)
    if UPDATE_INDEXES in done.stages and not request.dry_run:
        done.indexes = _update_indexes(service, watch)
    return done


def inputs(service: Service) -> list[tuple[str, str | None]]:
    """Return what is synced: the stores of this machine's clients, and the configured paths."""
    settings = service.settings.sync
    wanted = tuple(map(client_named, settings.clients)) if settings.clients is not None else clients()
    for name in wanted:
        if name not in clients():
            raise unknown("client", name, clients(), " in `sync.clients`")
    found: list[tuple[str, str | None]] = [(str(folder), None) for _, folder in stores(dict(service.environ), wanted)]
    return found + [(path, None) for path in settings.paths]


def _embed(service: Service, request: SyncRequest, watch: Watch) -> Embedded | None:
    """Embed the messages that wait; None if embedding is off. A model that fails does not stop the other stages."""
    if service.settings.embed.model is None:
        if request.embed_anew:
            help = "`embed.model` names the model; `pond model list` shows those of this machine"
            raise UsageError(Diagnostic("usage", "embedding is off, so nothing can be embedded again", help=help))
        return None
    from pond.lake.embedding import Embedded, embed
    from pond.lake.models import configured, label

    try:
        model = configured(service.settings, service.environ)
        assert model is not None
        threads = service.settings.embed.threads or os.cpu_count() or 1
        return embed(
            service.writing(), model, threads=threads, anew=request.embed_anew,
            progress=lambda done, of: watch(Progress("embedding", done, of, unit="messages")),
        )  # fmt: skip
    except EmbedError as error:
        return Embedded(label(service.settings) or "", fault=error.diagnostics[0])


def _update_indexes(service: Service, watch: Watch) -> dict[str, list[str]]:
    """Update the indexes of every table; return which were behind (lance-index-maintenance).

    A table with many small files is merged too: every read and every commit pays for each file.
    """
    from pond.intake.deriving import derive
    from pond.sessions import rarity, vectors
    from pond.sessions.tables import EVERY_TABLE, MESSAGES
    from pond.substrate import upkeep

    store = service.writing()
    if store.existing(MESSAGES) is not None:
        derive(store, lambda done, of: watch(Progress("deriving", done, of, unit="messages")))
        rarity.renew(store)
    behind: dict[str, list[str]] = {}
    for table in EVERY_TABLE:
        if store.existing(table) is not None:
            # In this order: indexed and unindexed rows are never merged.
            behind[table.name] = upkeep.fold_indexes(store, table)
            if table is MESSAGES:
                behind[table.name] += vectors.keep_indexes(store, service.settings.search.index_from)
            upkeep.compact(store, table, beyond=upkeep.FRAGMENTS)
    return behind


def changes(service: Service) -> Iterator[None]:
    """Yield whenever the stores may have changed, and sometimes without a signal: not every file system gives one."""
    from watchfiles import watch

    sources = [path for path, _ in inputs(service) if Path(path).exists()]
    every = int(service.settings.sync.interval * 1000)
    for _ in watch(*sources, debounce=every, rust_timeout=max(every, _AT_LEAST_EVERY), yield_on_timeout=True):
        yield
