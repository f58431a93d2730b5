"""Sessions of an archive compared with those of a lake: which are the same, and how the others are named there."""

from __future__ import annotations

from dataclasses import dataclass, field

from pond.codec.facts import filled_in, own_id, project_of
from pond.intake.identity import candidates, client_of_rows, free_id, goes_on, records
from pond.intake.reading import ID_SEPARATOR
from pond.lang.context import NO_PROJECT
from pond.model.json_text import JsonObject
from pond.restore.stored import stored_session
from pond.sessions import load
from pond.sessions.stored_text import from_stored, to_stored
from pond.sessions.tables import MESSAGES, PARTS, SESSIONS
from pond.sessions.writing import session_ids_of_messages
from pond.substrate import predicate, read
from pond.substrate.store import Store
from pond.substrate.table import Table

_AT_ONCE = 100  # sessions whose rows are compared together
_MESSAGE = ("id", "position", "timestamp", "timestamp_text", "role", "content", "options", "payloads")
_PART = ("message_id", "id", "ordinal", "type", "provenance", "variant_data", "options", "payloads", "data_hash")


@dataclass
class Arrivals:
    """What happens to the sessions of an archive on their way into a lake; ids as stored."""

    names: dict[str, str] = field(default_factory=dict)  # their names in the lake, if different
    aside: list[str] = field(default_factory=list)  # those with an id that another session of the lake has
    corrected: list[tuple[str, JsonObject]] = field(default_factory=list)  # the row in the lake, and its new version


def arrivals(archive: Store, lake: Store, ids: list[str]) -> Arrivals:
    """Compare the sessions of an archive with those of a lake."""
    found = Arrivals()
    known = set(read.rows(lake, SESSIONS, ["id"])["id"].to_pylist())
    families = {id.partition(ID_SEPARATOR)[0] for id in known if ID_SEPARATOR in id}
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        half = session_ids_of_messages(lake, [id for id in some if id not in known])
        rows = load.sessions(archive, predicate.one_of("id", some))
        met = [row for row in rows if {to_stored(row["id"]), to_stored(own_id(row))} & (known | half | families)]
        same = _same_rows(archive, lake, [row["id"] for row in met])
        for row in met:
            _assign(archive, lake, row, row["id"] in same, found)
    return found


def _assign(archive: Store, lake: Store, row: JsonObject, same_rows: bool, found: Arrivals) -> None:
    names = dict.fromkeys([row["id"], *candidates(lake, own_id(row))])
    here = [(name, load.session(lake, name)) for name in names]
    here = [(name, stored) for name, stored in here if stored is not None or client_of_rows(lake, name) is not None]
    for name, stored in here:
        if _is_same(archive, lake, row, name, stored, same_rows and name == row["id"]):
            if name != row["id"]:
                found.names[to_stored(row["id"])] = to_stored(name)
            if stored is not None and (now := filled_in(stored, row)) != stored:
                found.corrected.append((stored["project"], now))
            return
    if row["id"] in dict(here):
        name = free_id(lake, row, records(stored_session(archive, row)))
        found.names[to_stored(row["id"])] = to_stored(name)
        found.aside.append(to_stored(row["id"]))


def _is_same(
    archive: Store, lake: Store, row: JsonObject, name: str, stored: JsonObject | None, same_rows: bool
) -> bool:
    """Tell whether a session of the archive and one of the lake are the same: the records of one begin the other's."""
    there = stored or {**row, "id": name}  # rows without a session: an import was interrupted
    client = there["source_agent"] if stored is not None else client_of_rows(lake, name)
    if client != row["source_agent"] or own_id(there) != own_id(row):
        return False
    projects = {project_of(there), project_of(row)} - {NO_PROJECT}
    if same_rows and len(projects) < 2:
        return True
    return goes_on(records(stored_session(archive, row)), records(stored_session(lake, there)))


# --- rows as they are: most often they are the same, and no record has to be made of them ----------------------------


def _same_rows(archive: Store, lake: Store, ids: list[str]) -> set[str]:
    """Return the sessions for which the rows of one begin the other's."""
    messages = [_rows(store, MESSAGES, _MESSAGE, ids) for store in (lake, archive)]
    parts = [_rows(store, PARTS, _PART, ids) for store in (lake, archive)]
    return {id for id in ids if _begins([rows.get(id, []) for rows in messages], [rows.get(id, []) for rows in parts])}


def _begins(messages: list[list[JsonObject]], parts: list[list[JsonObject]]) -> bool:
    shared = min(map(len, messages))
    if messages[0][:shared] != messages[1][:shared]:
        return False
    ids = {row["id"] for row in messages[0][:shared]}
    one, other = ([part for part in rows if part["message_id"] in ids] for rows in parts)
    return one == other


def _rows(store: Store, table: Table, columns: tuple[str, ...], ids: list[str]) -> dict[str, list[JsonObject]]:
    """Return the rows of sessions, in the order of their places."""
    if not ids:
        return {}
    where = predicate.one_of("session_id", map(to_stored, ids))
    order = ["position", *table.keys[1:]]
    found: dict[str, list[JsonObject]] = {}
    for row in read.rows(store, table, ["session_id", *columns], where, order=order).to_pylist():
        found.setdefault(from_stored(row.pop("session_id")), []).append(row)
    return found
