"""Copied history is shown once: where it comes from, or, where that is not in the lake, in one of the copies.

A session that pond wrote for another client holds rows of the session it continues, and of those before that. Each of
them names the session and the message it comes from first of all. Which of the rows with one origin is shown depends on
what is in the lake, so it is settled whenever something was written, and again when something was erased: the
original where it is there, else the copy in the session with the shortest chain behind it. All others are `elsewhere`.
Nothing is asked of it when somebody searches or reads.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import xxhash

from pond.model.json_text import JsonObject, encode
from pond.sessions import ledger
from pond.sessions.rows import STALE
from pond.sessions.tables import MESSAGES
from pond.substrate import predicate, read, write
from pond.substrate.store import Store

COPIES = "copies"  # the kind of the note that says what was settled
_STATE = "settled"
_AT_ONCE = 500  # ids in one question
_COPIED = predicate.is_not_null("copied_from")
_SCHEMA = pa.schema([MESSAGES.schema.field(name) for name in ("session_id", "id", "elsewhere", "rules")])

_Origins = Mapping[str, set[str]]  # session that holds copies -> the sessions they come from


def settle_copies(store: Store) -> int:
    """Settle which rows of copied history are shown, where anything has changed; return how many rows it is news of."""
    origins = _origins(store)
    known = ledger.notes(store, COPIES).get(_STATE, {})
    state: JsonObject = {}
    changed: list[JsonObject] = []
    for family in _families(origins):
        state[family[0]] = _digest(store, family)
        if known.get(family[0]) != state[family[0]]:
            changed += _news(store, family, origins)
    written = write.rederive(store, MESSAGES, pa.Table.from_pylist(changed, schema=_SCHEMA))
    if state != known:
        ledger.note(store, COPIES, {_STATE: state})
    return written


def _origins(store: Store) -> dict[str, set[str]]:
    """Return which sessions hold copies, and of which; ids as stored."""
    rows = read.rows(store, MESSAGES, ["session_id", "copied_from"], _COPIED)
    found: dict[str, set[str]] = defaultdict(set)
    pairs = rows.group_by(["session_id", "copied_from"]).aggregate([])
    for session, origin in zip(pairs["session_id"].to_pylist(), pairs["copied_from"].to_pylist(), strict=True):
        found[session].add(origin)
    return found


def _families(origins: _Origins) -> list[list[str]]:
    """Return the sessions that have copied from each other, in any way, together; each family in order of its ids."""
    family: dict[str, set[str]] = {}
    for session, others in origins.items():
        joined = {session, *others}
        for member in tuple(joined):
            joined |= family.get(member, set())
        family |= dict.fromkeys(joined, joined)
    return sorted(sorted(each) for each in {id(found): found for found in family.values()}.values())


def _digest(store: Store, family: list[str]) -> str:
    """Return what changes whenever a session of the family grows, comes or goes."""
    counts: Counter[str] = Counter()
    for here in _of(family):
        counts.update(read.rows(store, MESSAGES, ["session_id"], here)["session_id"].to_pylist())
    return xxhash.xxh3_64_hexdigest(encode([[id, counts[id]] for id in family]))


def _news(store: Store, family: list[str], origins: _Origins) -> Iterator[JsonObject]:
    """Yield the rows that are not shown where they should be, or are where they should not."""
    copies = [row for here in _of(family) for row in _rows(store, _columns(), predicate.all_of(here, _COPIED))]
    sources = {origin for id in family for origin in origins.get(id, ())}
    originals = {
        (row["session_id"], row["id"])
        for here in _of(sorted(sources))
        for row in _rows(store, ["session_id", "id"], predicate.all_of(here, "copied_from IS NULL"))
    }
    shown: dict[tuple[str, str], tuple[int, str]] = {}  # origin -> the session whose copy is shown
    for row in copies:
        rank = len(origins[row["session_id"]]), row["session_id"]
        key = row["copied_from"], row["copied_id"]
        shown[key] = min(shown.get(key, rank), rank)
    for row in copies:
        key = row["copied_from"], row["copied_id"]
        elsewhere = key in originals or shown[key][1] != row["session_id"]
        if elsewhere is not bool(row["elsewhere"]):
            yield {"session_id": row["session_id"], "id": row["id"], "elsewhere": elsewhere, "rules": STALE}


def _columns() -> list[str]:
    return ["session_id", "id", "copied_from", "copied_id", "elsewhere"]


def _rows(store: Store, columns: list[str], where: str | None) -> list[JsonObject]:
    found: list[JsonObject] = read.rows(store, MESSAGES, columns, where).to_pylist()
    return found


def _of(ids: Iterable[str]) -> Iterator[str]:
    every = list(ids)
    for start in range(0, len(every), _AT_ONCE):
        yield predicate.one_of("session_id", every[start : start + _AT_ONCE])
