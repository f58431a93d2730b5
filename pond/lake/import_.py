"""Sessions of an archive into a lake: first everything is checked, then only what is new is stored."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pond.codec.relatives import agent_of
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.span import Span
from pond.intake.arrivals import Arrivals, arrivals
from pond.intake.deriving import derive
from pond.intake.identity import same_id
from pond.sessions import ledger, rarity
from pond.sessions.archive import container
from pond.sessions.archive.check import check
from pond.sessions.archive.manifest import Manifest
from pond.sessions.archive.merge import MergePlan, merge, plan
from pond.sessions.archive.refusal import ArchiveError
from pond.sessions.rows import agent_text, session_row
from pond.sessions.stored_text import from_stored
from pond.sessions.writing import Corrected, correct_sessions, prepare
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store

Progress = Callable[[int, int], None]  # bytes done, and the total


@dataclass(frozen=True)
class Imported:
    """What an archive held, and how much of it was new; or would be, in a dry run."""

    held: dict[str, int]
    new: dict[str, int]
    erased: list[str]  # sessions left out because they were erased here
    faults: list[Diagnostic]


def import_(
    store: Store,
    path: Path,
    *,
    erased: bool = False,
    dry_run: bool = False,
    progress: Progress = lambda done, of: None,
) -> Imported:
    """Merge an archive into a lake; raise, before anything changes, if it cannot be trusted.

    `erased` brings back sessions that were erased from the lake, `dry_run` only says what would be new.
    """
    with tempfile.TemporaryDirectory(prefix="pond-import-") as folder:
        held = _checked(path, Path(folder))
        archive = Store(Catalog(folder))
        made = plan(archive, store, erased)
        arrived = arrivals(archive, store, made.taken)
        made.names = arrived.names
        size = path.stat().st_size
        new = _merged(archive, store, held, made, dry_run, lambda share: progress(int(size * share), size))
        if not dry_run:
            now = time.time_ns() // 1000
            correct_sessions(
                store,
                [
                    Corrected(project, session_row(row, now), agent_text(agent_of(row, None)))
                    for project, row in arrived.corrected
                ],
            )
            derive(store)
            rarity.renew(store)
    rows = {name: extent.rows for name, extent in held.tables.items()}
    return Imported(rows, new, list(map(from_stored, made.erased)), _faults(path, made, arrived))


def _checked(path: Path, folder: Path) -> Manifest:
    """Unpack an archive and check every byte and row."""
    try:
        with open(path, "rb") as file:
            held = container.unpack(file, folder)
        check(folder, held)
    except ArchiveError as error:
        raise ArchiveError(error.code, error.message, Span(str(path), 0)) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(Diagnostic("source-unreadable", reason, Span(str(path), 0))) from None
    return held


def _merged(
    archive: Store, store: Store, held: Manifest, made: MergePlan, dry_run: bool, progress: Callable[[float], None]
) -> dict[str, int]:
    total, done = sum(extent.rows for extent in held.tables.values()), 0

    def step(rows: int) -> None:
        nonlocal done
        done += rows
        progress(done / total)

    if not dry_run:
        prepare(store)
    new = merge(archive, store, made, step, dry_run)
    if not dry_run:
        ledger.forget(store, ledger.ERASED, made.returned)
    return new


def _faults(path: Path, made: MergePlan, arrived: Arrivals) -> list[Diagnostic]:
    where = Span(str(path), 0)
    faults = [same_id(from_stored(id), from_stored(arrived.names[id]), str(path)) for id in arrived.aside]
    if made.erased:
        message = "sessions that were erased from this lake were left out"
        faults.append(Diagnostic("archive-erased", message, where, count=len(made.erased)))
    return faults
