"""Which sessions of a lake belong to their parents: those that were spawned, also where nothing says so yet.

A session that came without a kind is told by its rows: a subagent's have an `agent`. One that no client of pond's
recorded has nothing else to tell by, and counts as spawned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pond.model.json_text import JsonObject
from pond.model.lineage import KIND, PARENT, SPAWN, is_told
from pond.model.marks import MAP, marks_of
from pond.sessions.stored_text import from_stored, to_stored
from pond.sessions.tables import MESSAGES
from pond.substrate import predicate, read
from pond.substrate.store import Store

_AT_ONCE = 500  # ids in one question


def spawned(store: Store, sessions: Iterable[JsonObject]) -> list[JsonObject]:
    """Return those of some canonical sessions that belong to their parents."""
    asked = [row for row in sessions if PARENT in row]
    agents = _with_agent(store, [row["id"] for row in asked if not is_told(row) and _is_a_clients(row)])
    return [row for row in asked if _is_spawned(row, agents)]


def _is_spawned(row: JsonObject, agents: set[str]) -> bool:
    if is_told(row):
        return bool(row[KIND] == SPAWN)
    return not _is_a_clients(row) or row["id"] in agents


def _is_a_clients(row: JsonObject) -> bool:
    """Tell whether pond itself read the session from a client's records."""
    return MAP in marks_of(row["options"])


def _with_agent(store: Store, ids: Sequence[str]) -> set[str]:
    """Return which of these sessions hold the rows of a subagent."""
    found: set[str] = set()
    for start in range(0, len(ids), _AT_ONCE):
        here = predicate.one_of("session_id", map(to_stored, ids[start : start + _AT_ONCE]))
        rows = read.rows(store, MESSAGES, ["session_id"], predicate.all_of(here, predicate.is_not_null("agent")))
        found |= set(map(from_stored, rows["session_id"].to_pylist()))
    return found
