"""What a lake needs while events keep coming: derived columns, few files, indexes that are nearly complete."""

from __future__ import annotations

from pond.intake.deriving import derive
from pond.sessions import rarity
from pond.sessions.tables import TABLES
from pond.substrate import upkeep
from pond.substrate.store import Store

_FRAGMENTS = 8  # of a table; with more, small ones are merged
_ROWS = 10_000  # larger fragments are left alone
_UNINDEXED = 5_000  # rows that search may scan one by one


def tidy(store: Store, *, thoroughly: bool = True) -> None:
    """Do what is due; if nothing is, nothing is written. What can wait is done only `thoroughly`."""
    derive(store)
    if thoroughly:
        rarity.renew(store)
    for table in TABLES:
        if thoroughly and any(
            index.unindexed > _UNINDEXED for index in upkeep.health(store, table, sizes=False).indexes
        ):
            upkeep.fold_indexes(store, table)
    put_together(store)


def put_together(store: Store) -> None:
    """Merge the small files that commits have left: cheap, and every read and commit pays for each of them."""
    for table in TABLES:
        if store.existing(table) is not None:
            upkeep.compact(store, table, beyond=_FRAGMENTS, rows=_ROWS)
