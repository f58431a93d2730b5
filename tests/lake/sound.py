"""What must hold for a lake at every moment, and whether two lakes hold the same."""

from collections import Counter, defaultdict
from collections.abc import Collection
from hashlib import sha256
from typing import Any, TypeAlias

from pond.intake.sources import SOURCE
from pond.sessions import ledger
from pond.sessions.stored_text import to_stored
from pond.sessions.tables import MESSAGES, PARTS, SESSIONS, TABLES
from pond.substrate import read
from pond.substrate.store import Store
from pond.substrate.table import Table

Key: TypeAlias = tuple[Any, ...]
Content: TypeAlias = dict[str, dict[Key, dict[str, Any]]]  # table -> key -> row
_NOT_COMPARED = ("ingested_at", "data")
# Made right at the end of a run, from rows that must be right before.
_DERIVED = ("terms", "labels", "agent", "rules", "searched")


def content(store: Store) -> Content:
    """Return every row of the canonical tables by its key, payloads included as hashes; an absent lake has none."""
    return {table.name: _rows(store, table) for table in (SESSIONS, MESSAGES, PARTS)}


def _rows(store: Store, table: Table) -> dict[Key, dict[str, Any]]:
    columns = [name for name in table.schema.names if name not in _NOT_COMPARED]
    rows = read.rows(store, table, columns, row_ids=True).to_pylist()
    if table is PARTS:
        _add_payloads(store, rows)
    for row in rows:
        del row[read.ROW]
    return {tuple(row[name] for name in table.keys): row for row in rows}


def _add_payloads(store: Store, rows: list[dict[str, Any]]) -> None:
    holders = [row for row in rows if row["data_size"] is not None]
    for row, data in zip(holders, read.blobs(store, PARTS, "data", [row[read.ROW] for row in holders]), strict=True):
        row["data"] = sha256(data).hexdigest()


def duplicates(store: Store) -> list[str]:
    """Name the duplicate keys of a table."""
    found = []
    for table in TABLES:
        rows = read.rows(store, table, table.keys)
        keys = Counter(zip(*(rows[name].to_pylist() for name in table.keys), strict=True))
        found += [f"{table.name}: {key} is stored {count} times" for key, count in keys.items() if count > 1]
    return found


def unsound(
    store: Store, whole: Content, before: Content | None = None, going: Collection[str] = ()
) -> list[str]:  # fmt: skip
    """Say what is wrong with a lake that may be between `before` and `whole`: nothing may be, at any moment.

    What is visible is right, except for what is derived at the end; a message has all its parts, a session all its
    messages, a source that is noted as read all its sessions; and nothing that was there is gone. Sessions that are
    `going` are being erased.
    """
    now = content(store)
    wrong = duplicates(store) + _foreign(now, whole)
    wrong += [f"{name}: {key} is lost" for name, rows in (before or {}).items() for key in rows if key not in now[name]]
    wrong += _incomplete(now, whole, "parts", [row for key, row in now["messages"].items()])
    begun = set((before or {}).get("sessions", ()))
    wrong += _incomplete(now, whole, "messages", [row for key, row in now["sessions"].items() if key not in begun])
    for source, state in ledger.notes(store, SOURCE).items():
        wrong += [
            f"ledger: {source} is read, its session {id} is not there"
            for id in state["sessions"]
            if (to_stored(id),) not in now["sessions"] and to_stored(id) not in going
        ]
    return wrong


def _foreign(now: Content, whole: Content) -> list[str]:
    return [
        f"{name}: {key} is not as it should be"
        for name, rows in now.items()
        for key, row in rows.items()
        if _told(whole[name].get(key, {})) != _told(row)
    ]


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """Return what a source told of a row."""
    return {name: value for name, value in row.items() if name not in _DERIVED}


def _incomplete(now: Content, whole: Content, name: str, owners: list[dict[str, Any]]) -> list[str]:
    """Name the rows of table `name` that belong to a visible owner and are not there."""
    belonging: dict[Key, list[Key]] = defaultdict(list)
    for key in whole[name]:
        belonging[key[:-1]].append(key)
    own = [(row["session_id"], row["id"]) if name == "parts" else (row["id"],) for row in owners]
    return [f"{name}: {key} is missing" for owner in own for key in belonging[owner] if key not in now[name]]


def differences(one: Content, other: Content) -> list[str]:
    """Name the rows in which two lakes differ."""
    return [
        f"{name}: {key} {'is missing' if key not in rows else 'is too many' if key not in other[name] else 'differs'}"
        for name, rows in one.items()
        for key in rows.keys() | other[name].keys()
        if rows.get(key) != other[name].get(key)
    ]
