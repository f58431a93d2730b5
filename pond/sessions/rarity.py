"""How common a term is: the share of sessions that hold it, estimated from a sample. Ranking uses it as a weight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import islice
from weakref import WeakKeyDictionary

from pond.model.json_text import JsonObject
from pond.sessions import ledger
from pond.sessions.tables import MESSAGES, SESSIONS
from pond.sessions.terms import RULES
from pond.substrate import predicate, read
from pond.substrate.store import Store

RARITY = "rarity"  # the kind of the note, and its name: there is only one
_SAMPLE = 1500  # sessions
_BYTES = 4 << 20  # bytes of terms, after which no more sessions are read: more would cost an ingest more than it gains
_AT_ONCE = 100  # sessions in one query
_COMMON = 0.02  # share of the sessions: rarer terms are not noted
_MOST = 50_000  # terms that are noted: in a lake of few sessions every term is common
# What the ledger says, with its version, for each store: reading it takes as long as a search for one word.
_READ: WeakKeyDictionary[Store, tuple[int, Mapping[str, float]]] = WeakKeyDictionary()
_DRIFT = 0.2  # share of the sessions that may come or go before a new sample


def of(store: Store, pinned: read.Pinned) -> Mapping[str, float]:
    """Return the share of sessions that hold a term, for each common one, from this version of the ledger.

    Empty if nothing was counted yet.
    """
    known = _READ.get(store)
    if known is None or known[0] != pinned.version:
        _READ[store] = known = pinned.version, _shares(ledger.notes_at(pinned, RARITY).get(RARITY))
    return known[1]


def _shares(note: JsonObject | None) -> Mapping[str, float]:
    if note is None or note["rules"] != RULES:
        return {}
    return {term: count / (note["sample"] + 2) for term, count in note["counts"].items()}


def renew(store: Store) -> bool:
    """Count again if it was never done, or by other rules, or for a very different number of sessions; tell whether."""
    sessions = read.count(store, SESSIONS)
    note = ledger.notes(store, RARITY).get(RARITY)
    if not sessions:
        forget(store)
        return False
    if note is not None and note["rules"] == RULES and abs(sessions - note["sessions"]) <= _DRIFT * note["sessions"]:
        return False
    ledger.note(store, RARITY, {RARITY: _counted(store, sessions)})
    return True


def forget(store: Store) -> None:
    """Remove the note: it may hold words of erased sessions."""
    if ledger.notes(store, RARITY):
        ledger.forget(store, RARITY, [RARITY])


def _counted(store: Store, sessions: int) -> JsonObject:
    counts: Counter[str] = Counter()
    sample = size = 0
    drawn = iter(_drawn(store))
    while size < _BYTES and (some := list(islice(drawn, _AT_ONCE))):
        held: dict[str, set[str]] = {id: set() for id in some}
        here = predicate.all_of(predicate.one_of("session_id", some), "searched")
        for batch in read.batches(store, MESSAGES, ["session_id", "terms"], here):
            for id, terms in zip(batch["session_id"].to_pylist(), batch["terms"].to_pylist(), strict=True):
                held[id].update(terms.split())
                size += len(terms)
        for found in held.values():
            counts.update(found)
        sample += len(some)
    return {"rules": RULES, "sessions": sessions, "sample": sample, "counts": dict(_common(counts, sample))}


def _drawn(store: Store) -> list[str]:
    """Return the sessions of the sample: the same ones for the same lake, in whatever order they came."""
    ids = read.rows(store, SESSIONS, ["id"])["id"].to_pylist()
    return sorted(ids, key=lambda id: sha256(id.encode()).digest())[:_SAMPLE]


def _common(counts: Counter[str], sample: int) -> Iterator[tuple[str, int]]:
    common = [(term, count) for term, count in counts.items() if count >= _COMMON * sample]
    return iter(sorted(common, key=lambda each: (-each[1], each[0]))[:_MOST])
