"""Keeps the lake fast and small: indexes folded, fragments merged, old versions deleted."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from pond.config.settings import Search
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.intake.deriving import derive
from pond.sessions import rarity, vectors
from pond.sessions.tables import EVERY_TABLE, MESSAGES
from pond.substrate import upkeep
from pond.substrate.store import Store
from pond.substrate.table import Table
from pond.substrate.upkeep import TableHealth

INDEX_FROM = Search().index_from
KEEP = "1h"  # long enough for every command that reads an older version to finish
_TIME = re.compile(r"(?P<count>[0-9]{1,6})(?P<unit>[smhdw])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True)
class Optimized:
    """A table before and after; `indexes` are those that were behind.

    `bytes` are all of its files: `row_bytes` and `index_bytes` are in use, the others are of older versions.
    """

    name: str
    rows: int
    indexes: list[str]
    fragments: tuple[int, int]
    versions: tuple[int, int]
    bytes: tuple[int, int]
    row_bytes: tuple[int, int]
    index_bytes: tuple[int, int]
    freed: int  # bytes that were deleted
    waiting: int  # bytes of older versions that stay for now
    waiting_until: str  # when they can be deleted: no later reader started before they were replaced


def duration(text: str) -> timedelta:
    """Return the time that `90m`, `12h`, `7d` or `2w` means; raise UsageError for anything else."""
    found = _TIME.fullmatch(text)
    if found is None:
        help = "a number and a unit: 0s, 90m, 12h, 7d, 2w"
        raise UsageError(Diagnostic("usage", f"expected a time, found `{text}`", help=help))
    return timedelta(**{_UNITS[found["unit"]]: int(found["count"])})


def optimize(
    store: Store, keep: timedelta, tell: Callable[[str], None] = lambda _: None, *, index_from: int = INDEX_FROM
) -> list[Optimized]:
    """Tidy every existing table; versions younger than `keep` stay, and so does what others are writing.

    Columns with at least `index_from` vectors are indexed.
    """
    if store.existing(MESSAGES) is not None:
        derive(store, lambda done, of: tell(f"deriving terms: {done} of {of} messages"))
        rarity.renew(store)
    there = [table for table in EVERY_TABLE if store.existing(table) is not None]
    return [_optimized(store, table, keep, tell, index_from) for table in there]


def _optimized(store: Store, table: Table, keep: timedelta, tell: Callable[[str], None], index_from: int) -> Optimized:
    before = upkeep.health(store, table)
    tell(f"indexing {table.name}")
    # Indexes first: indexed and unindexed rows are never merged into one fragment.
    indexes = upkeep.fold_indexes(store, table)
    if table is MESSAGES:
        indexes += vectors.keep_indexes(store, index_from)
    tell(f"compacting {table.name}")
    upkeep.compact(store, table)
    tell(f"cleaning {table.name}")
    freed = upkeep.clean(store, table, keep)
    after = upkeep.health(store, table)
    return Optimized(
        table.name, after.rows, indexes, (before.fragments, after.fragments), (before.versions, after.versions),
        (before.bytes, after.bytes), (_rows(before), _rows(after)), (before.index_bytes, after.index_bytes),
        freed, after.old_bytes, (datetime.fromisoformat(after.since) + keep).isoformat(timespec="seconds"),
    )  # fmt: skip


def _rows(found: TableHealth) -> int:
    """Return the bytes of the newest version's rows."""
    return found.bytes - found.index_bytes - found.old_bytes
