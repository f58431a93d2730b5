"""The stages of `pond sync`: import, embed, update-indexes. Each may run alone; each run again is a no-op."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pond.codec.registry import clients
from pond.config.settings import Settings
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.intake.ingest import ingest
from pond.intake.request import Request, Summary, Tick
from pond.intake.sources import stores

IMPORT, EMBED, UPDATE_INDEXES = "import", "embed", "update-indexes"
STAGES = (IMPORT, EMBED, UPDATE_INDEXES)
_AT_LEAST_EVERY = 3000  # milliseconds


def stages(only: str | None, skip: list[str]) -> list[str]:
    """Return the stages to run, in order; raise UsageError for a name that is none."""
    for name in [*([only] if only else []), *skip]:
        if name not in STAGES:
            raise UsageError(Diagnostic("usage", f"unknown stage `{name}`", help=f"one of {', '.join(STAGES)}"))
    return [name for name in STAGES if name not in skip and only in (None, name)]


def inputs(settings: Settings) -> list[tuple[str, str | None]]:
    """Return what is synced: the stores that the clients of this machine keep, and the paths configured beside them."""
    wanted = settings.sync.clients if settings.sync.clients is not None else clients()
    for name in wanted:
        if name not in clients():
            help = f"known: {', '.join(clients())}"
            raise UsageError(Diagnostic("usage", f"unknown client `{name}` in `sync.clients`", help=help))
    found: list[tuple[str, str | None]] = [(str(folder), None) for _, folder in stores(dict(os.environ), wanted)]
    return found + [(path, None) for path in settings.sync.paths]


def run_import(
    settings: Settings, tick: Tick, *, dry_run: bool = False, processes: int | None = None
) -> Summary:  # fmt: skip
    """Take in what is new in the stores."""
    return ingest(settings, Request(inputs(settings), None, dry_run, live=True, processes=processes), tick)


def run_update_indexes(settings: Settings) -> dict[str, list[str]]:
    """Bring the indexes of every table up to its rows; return which were behind (lance-index-maintenance).

    A table that has fallen apart into many files is put together too: every read and every commit pays for each file.
    """
    from pond.sessions.lake import opened
    from pond.sessions.tables import TABLES
    from pond.substrate import upkeep

    store = opened(settings)
    behind: dict[str, list[str]] = {}
    for table in TABLES:
        if store.existing(table) is not None:
            # In this order: what an index covers and what it does not is never put together.
            behind[table.name] = upkeep.fold_indexes(store, table)
            upkeep.compact(store, table, beyond=upkeep.FRAGMENTS)
    return behind


def changes(settings: Settings) -> Iterator[None]:
    """Yield whenever the stores may have changed, and now and then without a sign: not every file system gives one."""
    from watchfiles import watch

    places = [path for path, _ in inputs(settings) if Path(path).exists()]
    every = int(settings.sync.interval * 1000)
    for _ in watch(*places, debounce=every, rust_timeout=max(every, _AT_LEAST_EVERY), yield_on_timeout=True):
        yield
