"""`pond list`: which sessions there are, the most recently active first.

People remember the last activity, not the beginning: a session of last month that was resumed today comes first. A
session represents those that it spawned, and they are not listed themselves. A fork or a continuation is a session of
its own, which names where it comes from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.lake.find import short_ids
from pond.lake.projects import lies_in
from pond.model.json_text import JsonObject
from pond.model.lineage import SPAWN
from pond.sessions import load
from pond.sessions.lineage import spawned
from pond.sessions.stored_text import from_micros, from_stored, to_stored
from pond.sessions.summaries import CONVERSATION
from pond.sessions.tables import MESSAGES, SESSIONS
from pond.sessions.titles import titles
from pond.substrate import predicate, read
from pond.substrate.store import Store

LIMIT, MOST = 20, 10_000
_FEW = 200  # sessions whose messages are looked up by id; for more, one scan of all is cheaper
_SESSION = ("id", "parent_session_id", "lineage_kind", "source_agent", "project", "created_at")

_UNTOLD = "parent_session_id IS NOT NULL AND lineage_kind IS NULL"

_Children = Mapping[str, list[str]]


@dataclass(frozen=True)
class ListingFilter:
    """Which sessions to list; all conditions apply. Times are microseconds since 1970, of the last activity."""

    client: str | None = None
    project: str | None = None  # this one, or a directory above it
    since: int | None = None
    until: int | None = None
    parent: str | None = None  # the session whose children are wanted
    everything: bool = False  # children too, as their own rows
    limit: int = LIMIT


def recent(store: Store, wanted: ListingFilter) -> JsonObject:
    """Return the wanted sessions, the most recently active first, and how many more there are.

    Each has `id`, `prefix` (its shortest unique prefix), `source_agent`, `project`, `messages` (those in which a person
    or model says something, each prompt once) and `children`, and if present `parent_session_id`, `lineage_kind`,
    `title`, `created_at` and `active_at`.
    """
    if not 1 <= wanted.limit <= MOST:
        raise UsageError(Diagnostic("usage", f"expected a limit of 1 to {MOST}, found {wanted.limit}"))
    known = {row["id"]: row for row in _rows(store)}
    children = _children(_spawned(store, known.values()))
    below = {child for family in children.values() for child in family}
    families = {id: _family(id, children, wanted) for id, row in known.items() if _is_wanted(row, known, below, wanted)}
    times = _times(store, {member for family in families.values() for member in family})
    active = {id: _newest(family, times, known) for id, family in families.items()}
    fitting = sorted((id for id in active if _in_time(active[id], wanted)), key=lambda id: _age(active[id], id))
    shown = fitting[: wanted.limit]
    said = said_in(store, shown)
    facts = [{"messages": said.get(id, 0), "children": len(children.get(id, ()))} for id in shown]
    short = short_ids(map(from_stored, known), map(from_stored, shown))
    listed = [row | more for row, more in zip(_described(store, shown, active), facts, strict=True)]
    listed = [{"id": row["id"], "prefix": short[row["id"]], **row} for row in listed]
    return {"sessions": listed, "sessions_remaining": len(fitting) - len(shown)}


def children_of(store: Store, session_id: str) -> list[JsonObject]:
    """Return the sessions that this one spawned, the oldest first, as `recent` describes sessions."""
    here = predicate.equals("parent_session_id", to_stored(session_id))
    known = {row["id"]: row for row in _spawned(store, _rows(store, here))}
    if not known:
        return []
    below = _spawned(store, _rows(store, predicate.one_of("parent_session_id", sorted(known))))
    counts = Counter(row["parent_session_id"] for row in below)
    times, said = _times(store, set(known)), said_in(store, list(known))
    active = {id: _newest({id}, times, known) for id in known}
    shown = sorted(known, key=lambda id: (known[id]["created_at"] is None, known[id]["created_at"] or 0, id))
    facts = [{"messages": said.get(id, 0), "children": counts[id]} for id in shown]
    return [row | more for row, more in zip(_described(store, shown, active), facts, strict=True)]


def sessions_of(store: Store) -> dict[str, int]:
    """Return how many sessions the lake holds of each client."""
    return dict(Counter(map(from_stored, read.rows(store, SESSIONS, ["source_agent"])["source_agent"].to_pylist())))


def _rows(store: Store, where: str | None = None) -> list[JsonObject]:
    return load.with_micros(read.rows(store, SESSIONS, _SESSION, where), "created_at")


def _spawned(store: Store, rows: Iterable[JsonObject]) -> list[JsonObject]:
    """Return the sessions that belong to their parents."""
    asked = [row for row in rows if row["parent_session_id"] is not None]
    untold = [row["id"] for row in asked if row["lineage_kind"] is None]
    events = load.sessions(store, _of_ids(untold)) if untold else []
    belong = {to_stored(event["id"]) for event in spawned(store, events)}
    return [row for row in asked if row["lineage_kind"] == SPAWN or row["id"] in belong]


def _of_ids(ids: list[str]) -> str:
    return predicate.one_of("id", ids) if len(ids) <= _FEW else _UNTOLD


def _children(rows: Iterable[JsonObject]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for row in rows:
        children.setdefault(row["parent_session_id"], []).append(row["id"])
    return children


def _is_wanted(
    row: JsonObject, known: Mapping[str, JsonObject], below: Collection[str], wanted: ListingFilter
) -> bool:  # fmt: skip
    parent = row["parent_session_id"]
    if wanted.parent is not None:
        of_family = parent == to_stored(wanted.parent) and row["id"] in below
    else:
        # A child without its parent here is listed itself.
        of_family = wanted.everything or row["id"] not in below or parent not in known
    return (
        of_family
        and wanted.client in (None, from_stored(row["source_agent"]))
        and (wanted.project is None or lies_in(from_stored(row["project"]), wanted.project))
    )


def _family(id: str, children: _Children, wanted: ListingFilter) -> set[str]:
    """Return a session and, if it represents them, all its descendants."""
    family = {id}
    waiting = [] if wanted.everything else [id]
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in family]
        family.update(new)
        waiting += new
    return family


def _of(ids: Collection[str]) -> str | None:
    """Return a filter for the messages of sessions; None if one scan of all is cheaper."""
    return predicate.one_of("session_id", sorted(ids)) if len(ids) <= _FEW else None


def _times(store: Store, ids: set[str]) -> dict[str, int | None]:
    """Return the time of the newest message of each session, in microseconds; some sessions have no times."""
    if not ids:
        return {}
    rows = read.rows(store, MESSAGES, ["session_id", "timestamp"], _of(ids))
    table = rows.group_by("session_id").aggregate([("timestamp", "max")])
    return dict(zip(table["session_id"].to_pylist(), table["timestamp_max"].cast("int64").to_pylist(), strict=True))


def said_in(store: Store, ids: list[str]) -> dict[str, int]:
    """Return how many messages of each session, ids as stored, person or model said; without any it is left out."""
    if not ids:
        return {}
    rows = read.rows(store, MESSAGES, ["session_id"], predicate.all_of(_of(ids), CONVERSATION))
    table = rows.group_by("session_id").aggregate([("session_id", "count")])
    return dict(zip(table["session_id"].to_pylist(), table["session_id_count"].to_pylist(), strict=True))


def _newest(family: set[str], times: Mapping[str, int | None], known: Mapping[str, JsonObject]) -> int | None:
    """Return when a family was last active; for a session without any message times, when it began."""
    found = (known[id]["created_at"] if times.get(id) is None else times[id] for id in family)
    return max((time for time in found if time is not None), default=None)


def _in_time(active: int | None, wanted: ListingFilter) -> bool:
    if active is None:
        return wanted.since is None and wanted.until is None
    return (wanted.since is None or wanted.since <= active) and (wanted.until is None or active < wanted.until)


def _age(active: int | None, id: str) -> tuple[bool, int, str]:
    """Return the sort key of sessions: the newest first, those without a time last."""
    return active is None, -(active or 0), id


def _described(store: Store, shown: list[str], active: Mapping[str, int | None]) -> list[JsonObject]:
    """Return the sessions shown, with everything except their numbers."""
    events = {event["id"]: event for event in load.sessions(store, predicate.one_of("id", shown))} if shown else {}
    names = titles(store, shown)
    described: list[JsonObject] = []
    for id in shown:
        event = events[from_stored(id)]
        row: JsonObject = {"id": event["id"]}
        row |= {
            name: event[name]
            for name in ("parent_session_id", "lineage_kind", "source_agent", "project", "created_at")
            if name in event
        }
        time = active[id]
        row |= {} if time is None else {"active_at": from_micros(time)}
        row |= {"title": names[id]} if id in names else {}
        described.append(row)
    return described
