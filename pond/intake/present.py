"""What the lake holds of the sessions that events are about, as far as it matters for those events."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from pond.model.json_text import JsonObject, decode_stored
from pond.sessions import ledger, load, paging
from pond.sessions.rows import LAST, Positions
from pond.sessions.stored_text import from_stored, to_stored
from pond.sessions.tables import MESSAGES, PARTS, TABLES
from pond.sessions.writing import record_count
from pond.substrate import predicate, read
from pond.substrate.store import Store
from pond.substrate.table import Table

_AT_ONCE = 500  # ids in one query
_MOST_KNOWN = 1000  # sessions that are remembered

EventKey = tuple[str, str, str]  # kind, message of a part, own id


@dataclass(slots=True)
class PresentSession:
    """A session as it is stored, and as it grows while events are planned."""

    id: str
    row: JsonObject | None = None
    agent: str | None = None
    positions: dict[str, int] = field(default_factory=dict)  # of its messages
    roles: dict[str, str] = field(default_factory=dict)
    rules: dict[str, int | None] = field(default_factory=dict)  # the rules by which the stored ones were derived
    parts: dict[str, set[str]] = field(default_factory=dict)  # by message, for those that were asked about
    first: JsonObject | None = None  # the options of its first message
    _places: Positions | None = None

    def is_last(self, message_id: str) -> bool:
        """Tell whether no message follows this one, in the log or in the files beside it."""
        here = self.positions[message_id]
        others = (at for at in self.positions.values() if (at >= LAST) == (here >= LAST))
        return here == max(others)

    def place(self, head: JsonObject, goes_on: bool) -> int:
        """Return the place of a new record; one that continues the record before it comes directly after that."""
        within = [at for at in self.positions.values() if at < LAST]
        if goes_on and within:
            return max(within) + 1
        if self._places is None:
            self._places = Positions(record_count(within), len(self.positions) - len(within))
        return self._places.of(head)

    def stub(self, message_id: str) -> JsonObject | None:
        """Return what is needed of a stored message to check the parts after it; None if there is none."""
        role = self.roles.get(message_id)
        if role is None:
            return None
        event = {"kind": "message", "role": role, "id": message_id, "session_id": self.id, "options": {}}
        return event | ({"content": ""} if role == "system" else {})


class Present:
    """What is known about a lake's sessions, as long as nobody else writes to it."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, PresentSession] = OrderedDict()
        self._versions: tuple[int, ...] = ()
        self.erased: set[str] = set()  # ids as stored

    def of(self, store: Store, wanted: Mapping[str, set[str]]) -> dict[str, PresentSession]:
        """Return what is stored of sessions, with the parts of the messages named for each."""
        if (versions := _versions(store)) != self._versions:
            self.forget()
            self._versions = versions
            self.erased = set(ledger.notes(store, ledger.ERASED))
        missing = {id: owners for id, owners in wanted.items() if not self._knows(id, owners)}
        self._sessions |= _read(store, missing)
        for id in wanted:
            self._sessions.move_to_end(id)
        return {id: self._sessions[id] for id in wanted}

    def wrote(self, store: Store, commits: Sequence[int]) -> None:
        """Note that what was planned is written, with this many commits to each table.

        What is known stays valid, unless there are more commits: then somebody else has written meanwhile.
        """
        before, self._versions = self._versions, _versions(store)
        if self._versions != tuple(map(sum, zip(before, commits, strict=True))):
            self.forget()
        while len(self._sessions) > _MOST_KNOWN:
            self._sessions.popitem(last=False)

    def forget(self) -> None:
        """Forget everything."""
        self._sessions.clear()
        self._versions = ()

    def _knows(self, id: str, owners: set[str]) -> bool:
        known = self._sessions.get(id)
        return known is not None and all(each in known.parts for each in owners if each in known.positions)


def _versions(store: Store) -> tuple[int, ...]:
    return tuple(store.handle(table).version for table in TABLES)


def _read(store: Store, wanted: Mapping[str, set[str]]) -> dict[str, PresentSession]:
    found = {id: PresentSession(id) for id in wanted}
    owners = sorted({owner for each in wanted.values() for owner in each})
    for some in _portions(list(wanted)):
        for row in load.sessions(store, predicate.one_of("id", map(to_stored, some))):
            found[row["id"]].row = row
        here = predicate.one_of("session_id", map(to_stored, some))
        for message in _rows(store, MESSAGES, ("session_id", "id", "position", "role", "agent", "rules"), here):
            session, id = found[from_stored(message["session_id"])], from_stored(message["id"])
            session.positions[id], session.roles[id] = message["position"], message["role"]
            session.rules[id], session.agent = message["rules"], message["agent"]
        for message in _rows(store, MESSAGES, ("session_id", "options"), predicate.all_of(here, "position = 0")):
            found[from_stored(message["session_id"])].first = decode_stored(message["options"])
        for messages in _portions(owners):
            where = predicate.all_of(here, predicate.one_of("message_id", map(to_stored, messages)))
            for part in _rows(store, PARTS, ("session_id", "message_id", "id"), where):
                session, owner = found[from_stored(part["session_id"])], from_stored(part["message_id"])
                session.parts.setdefault(owner, set()).add(from_stored(part["id"]))
    for id, asked in wanted.items():
        for owner in asked:
            found[id].parts.setdefault(owner, set())
    return found


def _rows(store: Store, table: Table, columns: Sequence[str], where: str | None) -> list[JsonObject]:
    found: list[JsonObject] = read.rows(store, table, columns, where).to_pylist()
    return found


def _portions(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _AT_ONCE):
        yield ids[start : start + _AT_ONCE]


def stored_events(store: Store, session: PresentSession, messages: Iterable[str]) -> dict[EventKey, JsonObject]:
    """Return stored messages of a session and their parts, by their keys."""
    wanted = {id: session.positions[id] for id in messages}
    if not wanted:
        return {}
    places = pa.table({"id": [to_stored(id) for id in wanted], "position": list(wanted.values())})
    found: dict[EventKey, JsonObject] = {}
    for message in paging.messages(store, session.id, places):
        parts = message["content"] if type(message["content"]) is list else []
        for part in parts:
            found["part", message["id"], part["id"]] = part
        if message["role"] != "system":
            del message["content"]
        found["message", "", message["id"]] = message
    return found


def key_of(event: JsonObject) -> EventKey:
    """Return what distinguishes an event from all others of its session."""
    if event["kind"] == "session":
        return "session", "", ""
    return event["kind"], event["message_id"] if event["kind"] == "part" else "", event["id"]
