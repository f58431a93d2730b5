"""What pond notes about its own work: the sources it has read, the sessions it was told to erase."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from pond.model.json_text import JsonObject, decode_stored, encode
from pond.sessions.stored_text import from_stored, to_stored
from pond.sessions.tables import LEDGER
from pond.substrate import predicate, read, write
from pond.substrate.store import Store

ERASED = "erased"
_NOTE = ("id", "value")


def notes(store: Store, kind: str) -> dict[str, JsonObject]:
    """Return all notes of a kind, by subject."""
    return _by_id(read.rows(store, LEDGER, _NOTE, predicate.equals("kind", kind)))


def notes_at(ledger: read.Pinned, kind: str) -> dict[str, JsonObject]:
    """Return all notes of a kind at one version."""
    return _by_id(ledger.rows(_NOTE, predicate.equals("kind", kind)))


def _by_id(rows: pa.Table) -> dict[str, JsonObject]:
    pairs = zip(rows["id"].to_pylist(), rows["value"].to_pylist(), strict=True)
    return {from_stored(id): decode_stored(value) for id, value in pairs}


def note(store: Store, kind: str, values: Mapping[str, JsonObject]) -> None:
    """Write notes, each replacing the previous one."""
    rows = [{"kind": kind, "id": to_stored(id), "value": encode(value)} for id, value in values.items()]
    write.replace(store, LEDGER, pa.Table.from_pylist(rows, schema=LEDGER.schema))


def forget(store: Store, kind: str, ids: Iterable[str]) -> None:
    """Remove notes."""
    wanted = [to_stored(id) for id in ids]
    if wanted:
        write.erase(store, LEDGER, f"{predicate.equals('kind', kind)} AND {predicate.one_of('id', wanted)}")
