"""Erasing: a session and all its descendants leave the lake for good, and no later sync brings them back.

The order makes every crash harmless; a second run finishes the first. Tombstones come first: from then on nothing is
stored again, and they identify whatever is left. Then the rows go, in the reverse of the order in which they came: a
listed session is complete, a stored message has its parts. At the end come the files that still hold them, and the
indexes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.intake.claims import CLAIM
from pond.intake.deriving import derive
from pond.intake.sources import SOURCE
from pond.lake import find
from pond.lake.tombstones import Stone, put, stones, take_back
from pond.sessions import ledger, load, rarity
from pond.sessions.stored_text import from_stored, to_stored
from pond.sessions.tables import EVERY_TABLE, LEDGER, MESSAGES, PARTS, SESSIONS, VECTORS
from pond.sessions.titles import titles
from pond.substrate import predicate, read, upkeep, write
from pond.substrate.store import Store
from pond.substrate.table import Table

_AT_ONCE = 500  # ids in one query
_OF_SESSIONS = (SESSIONS, MESSAGES, PARTS, VECTORS)


@dataclass(frozen=True)
class Family:
    """A requested session and all its descendants, itself first; ids as stored."""

    members: tuple[str, ...]

    @property
    def root(self) -> str:
        return self.members[0]


@dataclass(frozen=True)
class Preview:
    """What a person sees of a family before it is erased."""

    session_id: str
    title: str | None
    client: str | None  # None if only remains are left
    project: str | None
    messages: int
    children: int


@dataclass(frozen=True)
class Erased:
    """What was removed, and the files that may still hold some of it, by table."""

    sessions: int
    messages: int
    parts: int
    left: dict[str, list[str]]


# --- whom it is about ------------------------------------------------------------------------------------------------


def family(store: Store, text: str) -> Family:
    """Return the family that an id or a prefix means; also an erased session, even if only partly erased."""
    standing = stones(store)
    try:
        root = to_stored(find.session(store, text))
    except UsageError as error:
        if error.diagnostics[0].code != "lake-not-found":
            raise
        root = _erased(standing, text, error)
    known = [root, *(id for id, stone in standing.items() if stone.of == root)]
    return Family(tuple(_with_descendants(store, known)))


def _erased(standing: Mapping[str, Stone], text: str, not_found: UsageError) -> str:
    """Return the erased session that is meant: by its whole id, or by a prefix of a requested one."""
    if to_stored(text) in standing:
        return standing[to_stored(text)].of
    found = sorted(id for id, stone in standing.items() if stone.of == id and from_stored(id).startswith(text))
    if not found:
        raise not_found
    if len(found) > 1:
        help = "one of " + ", ".join(map(from_stored, found))
        raise UsageError(Diagnostic("lake-ambiguous", f"`{text}` matches {len(found)} that were erased", help=help))
    return found[0]


def _with_descendants(store: Store, ids: Iterable[str]) -> list[str]:
    known = list(dict.fromkeys(ids))
    below = load.descendants(store, map(from_stored, known))
    return known + [to_stored(row["id"]) for row in below]


def _slices(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _AT_ONCE):
        yield ids[start : start + _AT_ONCE]


def preview(store: Store, wanted: Family) -> Preview:
    """Return what is known about a family."""
    root = predicate.equals("id", wanted.root)
    rows = read.rows(store, SESSIONS, ["source_agent", "project"], root).to_pylist()
    row = rows[0] if rows else {"source_agent": None, "project": None}
    messages = sum(
        read.count(store, MESSAGES, predicate.one_of("session_id", some)) for some in _slices(wanted.members)
    )
    client, project = (None if value is None else from_stored(value) for value in row.values())
    title = titles(store, [wanted.root]).get(wanted.root)
    return Preview(from_stored(wanted.root), title, client, project, messages, len(wanted.members) - 1)


# --- what is done ----------------------------------------------------------------------------------------------------


def erase(
    store: Store, families: Sequence[Family], *, alone: bool = False, tell: Callable[[str], None] = lambda _: None
) -> Erased:
    """Remove the families for good; with `alone` also what unfinished writes left (see `upkeep.clean`)."""
    new = _stones(store, families)
    done = Erased(0, 0, 0, {}) if _is_done(store, list(new)) else _erase(store, new, alone, tell)
    if done.sessions:
        derive(store)  # what others copied of them is shown there now
    if not done.left:
        rarity.renew(store)
        upkeep.clean(store, LEDGER, timedelta(0), alone=alone)  # older versions of the tombstones
    return done


def _erase(store: Store, new: Mapping[str, Stone], alone: bool, tell: Callable[[str], None]) -> Erased:
    put(store, new)
    tell("removing rows")
    sessions, messages, parts, _ = (_remove(store, table, list(new)) for table in _OF_SESSIONS)
    _forget_sources(store, new)
    rarity.forget(store)
    left: dict[str, list[str]] = {}
    for table in (table for table in EVERY_TABLE if store.existing(table) is not None):
        tell(f"rewriting {table.name}")
        if files := upkeep.purge(store, table, alone=alone):
            left[table.name] = files
    if not left:
        put(store, {id: replace(stone, done=True) for id, stone in new.items()})
    return Erased(sessions, messages, parts, left)


def _is_done(store: Store, ids: Sequence[str]) -> bool:
    """Tell whether all of this was finished earlier, and no writer brought anything back."""
    standing = stones(store)
    if not all(id in standing and standing[id].done for id in ids):
        return False
    return not any(
        read.count(store, table, predicate.one_of(table.keys[0], some))
        for table in _OF_SESSIONS
        for some in _slices(ids)
    )


def _stones(store: Store, families: Sequence[Family]) -> dict[str, Stone]:
    """Return the tombstones; an existing one keeps its date."""
    standing = stones(store)
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    new: dict[str, Stone] = {}
    # The largest first: a family inside another one is erased with it.
    for each in sorted(families, key=lambda each: -len(each.members)):
        for id in each.members:
            at = standing[id].at if id in standing else now
            new.setdefault(id, Stone(at, each.root, len(each.members), done=False))
    return new


def _remove(store: Store, table: Table, ids: Sequence[str]) -> int:
    return sum(write.erase(store, table, predicate.one_of(table.keys[0], some)) for some in _slices(ids))


def _forget_sources(store: Store, ids: Iterable[str]) -> None:
    """Remove the notes about the sources of these sessions: they name them, and would make them count as known."""
    gone = set(map(from_stored, ids))
    notes = ledger.notes(store, SOURCE)
    ledger.forget(store, SOURCE, [id for id, note in notes.items() if not gone.isdisjoint(note["sessions"])])
    ledger.forget(store, CLAIM, gone)


def forget(store: Store, families: Sequence[Family]) -> int:
    """Remove tombstones, so that a later sync may store the sessions again; return how many there were."""
    ids = {id for each in families for id in each.members}
    standing = stones(store).keys() & ids
    _forget_sources(store, ids)
    take_back(store, sorted(standing))
    return len(standing)


def unfinished(store: Store) -> list[str]:
    """Return the sessions whose erasing was interrupted, or that a writer brought back."""
    standing = stones(store)
    found = {stone.of for stone in standing.values() if not stone.done}
    for some in _slices(sorted(standing)):
        rows = read.rows(store, MESSAGES, ["session_id"], predicate.one_of("session_id", some))
        found |= {standing[id].of for id in set(rows["session_id"].to_pylist())}
    return sorted(map(from_stored, found))
