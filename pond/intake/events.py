"""Canonical events of many requests into the lake, together: each event once, in its place, or refused on its own.

Keys decide what is new, so repeating a request changes nothing. A session may arrive in any number of requests; within
it the order is fixed (adapter-integrity-event-ordering).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pond.codec.canonical import RecordMarks
from pond.diagnostics.diagnostic import Diagnostic
from pond.intake.appending import Additions, append
from pond.intake.present import EventKey, Present, PresentSession, key_of, stored_events
from pond.model.equal import same
from pond.model.instants import normalise
from pond.model.json_text import Json, JsonObject
from pond.model.lineage import may_belong
from pond.model.marks import continues_record
from pond.model.validate import Validator
from pond.sessions import load
from pond.sessions.stored_text import to_stored
from pond.substrate.store import Store

_KINDS = ("session", "message", "part")

Numbered = tuple[int, JsonObject]  # an event, and its place in its request


@dataclass(slots=True)
class Sent:
    """The events of one request and their results: how many of each session, and which are refused."""

    events: Sequence[Json]
    refused: dict[int, Diagnostic] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)

    def refuse(self, numbered: Sequence[Numbered], code: str, message: str) -> None:
        """Refuse events; an earlier refusal of the same event stays."""
        for index, _ in numbered:
            self.refused.setdefault(index, Diagnostic(code, message))


def store_events(store: Store, requests: Sequence[Sent], known: Present | None = None) -> None:
    """Store what is new in some requests with one commit to each table; then they say what happened to their events.

    `known` is what was known about the lake after the last time.
    """
    known = known or Present()
    streams = [(sent, _by_session(sent)) for sent in requests]
    wanted: dict[str, set[str]] = {}
    for _, sessions in streams:
        for id, stream in sessions.items():
            wanted.setdefault(id, set()).update(_owners(stream))
    found = known.of(store, wanted)
    plan = {id: _Session(store, session, Additions(session)) for id, session in found.items()}
    try:
        for sent, sessions in streams:
            for id, stream in sessions.items():
                if _is_erased(stream, id, known.erased):
                    sent.refuse(stream, "lake-erased", f"session `{id}` was erased, and stays erased")
                else:
                    plan[id].take(sent, stream)
        for session in plan.values():
            session.compare()
        lost, commits = append(store, [each.additions for each in plan.values() if each.additions])
    except BaseException:
        known.forget()
        raise
    for id in lost:
        plan[id].refuse_all("lake-immutable", f"session `{id}` was stored by another process with other facts")
    for session in plan.values():
        session.count()
    if lost:
        known.forget()
    else:
        known.wrote(store, commits)


def _owners(stream: Sequence[Numbered]) -> Iterator[str]:
    """Yield the messages that parts refer to."""
    names = (event.get("message_id") for _, event in stream if event["kind"] == "part")
    return (name for name in names if type(name) is str)


def _by_session(sent: Sent) -> dict[str, list[Numbered]]:
    """Return the events of each session; refuse what belongs to none."""
    found: dict[str, list[Numbered]] = {}
    for index, event in enumerate(sent.events):
        if type(event) is not dict or event.get("kind") not in _KINDS:
            sent.refuse([(index, {})], "canonical-broken", "expected an event with `kind` session, message or part")
            continue
        id = event.get("id" if event["kind"] == "session" else "session_id")
        if type(id) is not str or not id:
            sent.refuse([(index, event)], "canonical-broken", "the event does not say which session it belongs to")
            continue
        normalise(event)
        sent.sent[id] += 1
        found.setdefault(id, []).append((index, event))
    return found


def _is_erased(stream: Sequence[Numbered], id: str, erased: set[str]) -> bool:
    parents = (
        event.get("parent_session_id") for _, event in stream if event["kind"] == "session" and may_belong(event)
    )
    return any(type(each) is str and to_stored(each) in erased for each in (id, *parents))


class _Session:
    """One session and what some requests add to it."""

    def __init__(self, store: Store, stored: PresentSession, additions: Additions) -> None:
        self._store, self._stored, self.additions = store, stored, additions
        self._again: list[tuple[Sent, Numbered]] = []  # already stored, or earlier in these requests
        self._new: list[tuple[Sent, Numbered]] = []
        self._fresh: dict[EventKey, JsonObject] = {}
        self._marks: RecordMarks | None = None

    # --- what there is to add ---

    def take(self, sent: Sent, stream: list[Numbered]) -> None:
        """Take the events of one request, in order."""
        validator = self._ready(stream[0][1])
        if validator is None:
            what = "`session_id`: its session is not stored, and its event does not come first"
            sent.refuse(stream, "canonical-broken", what)
            return
        record: list[Numbered] = []
        sound = True
        for at, (index, event) in enumerate(stream):
            for fault in validator.faults(event):
                sent.refused.setdefault(index, Diagnostic("canonical-broken", str(fault), rule=fault.rule))
            fits = index not in sent.refused
            if event["kind"] == "session":
                self._record(sent, record, sound)
                record, sound = [], True
                if not fits or not self._take_session(sent, (index, event)):
                    sent.refuse(stream[at:], "canonical-broken", "its session was refused")
                    return
            elif event["kind"] == "message" and not (record and continues_record(event)):
                self._record(sent, record, sound)
                record, sound = [(index, event)], fits
            else:
                record.append((index, event))
                sound = sound and fits
        self._record(sent, record, sound)

    def _ready(self, first: JsonObject) -> Validator | None:
        """Return a validator for events that follow the stored ones; None if they cannot follow."""
        validator = Validator()
        if first["kind"] == "session":
            return validator
        if self._stored.row is None:
            return None
        validator.faults(self._stored.row)
        if first["kind"] == "part" and (owner := self._stored.stub(str(first.get("message_id")))) is not None:
            validator.faults(owner)
        return validator

    def _take_session(self, sent: Sent, numbered: Numbered) -> bool:
        """Take the event of the session itself; tell whether the following ones may be stored."""
        event, stored = numbered[1], self._stored.row
        if stored is None:
            self._stored.row = self.additions.row = event
            self._add(sent, numbered)
            return True
        for name in ("source_agent", "project"):
            if event[name] != stored[name]:
                what = f"session `{event['id']}` is stored with another `{name}`, and the stored one is kept"
                sent.refuse([numbered], "lake-immutable", what)
                return False
        self._again.append((sent, numbered))
        return True

    def _record(self, sent: Sent, record: list[Numbered], sound: bool) -> None:
        """Take the events of one source record, all of them or none."""
        if not record:
            return
        if sound and (why := self._misfit(record[0][1])) is not None:
            sent.refuse(record[:1], "canonical-broken", why)
            sound = False
        if not sound:
            sent.refuse(record, "canonical-broken", "another event of its record was refused")
            return
        new: list[Numbered] = []
        for numbered in record:
            event = numbered[1]
            owner = event["id"] if event["kind"] == "message" else event["message_id"]
            if owner not in self._stored.positions:
                new.append(numbered)
            elif event["kind"] == "message" or event["id"] in self._stored.parts.get(owner, ()):
                self._again.append((sent, numbered))
            elif self._stored.is_last(owner):
                self._late(sent, numbered)
            else:
                what = f"a message that follows `{owner}` is stored, so no more parts can be added to it"
                sent.refuse([numbered], "canonical-broken", what)
        if new:
            self._append(sent, new)

    def _misfit(self, head: JsonObject) -> str | None:
        """Return why a record that claims to be its client's cannot be written back as one."""
        if head["kind"] == "part" or head["id"] in self._stored.positions or continues_record(head):
            return None
        if self._marks is None:
            assert self._stored.row is not None
            self._marks = RecordMarks(self._stored.row, self._first())
        return self._marks.misfit(head)

    def _first(self) -> JsonObject | None:
        """Return the options of the session's first message, if it is stored."""
        if self._stored.first is None and self._stored.positions:
            opening = load.opening(self._store, self._stored.id)
            self._stored.first = opening[0]["options"] if opening else None
        return self._stored.first

    def _append(self, sent: Sent, new: list[Numbered]) -> None:
        """Add the new messages of a record with their parts."""
        head = new[0][1]
        place = self._stored.place(head, continues_record(head))
        self.additions.records.append((place, [event for _, event in new]))
        for numbered in new:
            event = numbered[1]
            if event["kind"] == "message":
                self._stored.positions[event["id"]], self._stored.roles[event["id"]] = place, event["role"]
                self._stored.parts[event["id"]] = set()
                place += 1
            else:
                self._stored.parts[event["message_id"]].add(event["id"])
            self._add(sent, numbered)

    def _late(self, sent: Sent, numbered: Numbered) -> None:
        """Add a part to an earlier message."""
        part = numbered[1]
        owner = part["message_id"]
        before = self._stored.parts.setdefault(owner, set())
        if (message := self._fresh.get(("message", "", owner))) is not None:
            (record,) = (events for _, events in self.additions.records if any(each is message for each in events))
            record.append(part)  # its message is the last of its record
        else:
            self.additions.parts.append((self._stored.positions[owner], len(before), part))
        before.add(part["id"])
        self._add(sent, numbered)

    def _add(self, sent: Sent, numbered: Numbered) -> None:
        self._new.append((sent, numbered))
        self._fresh[key_of(numbered[1])] = numbered[1]

    # --- what becomes of it ---

    def compare(self) -> None:
        """Refuse events that have the id of another one but are not equal to it."""
        here: dict[EventKey, JsonObject] = {}
        waiting = [event for _, (_, event) in self._again if key_of(event) not in self._fresh]
        if waiting:
            owners = {event["id"] if event["kind"] == "message" else event["message_id"] for event in _inner(waiting)}
            here = stored_events(
                self._store, self._stored, owners - {key[2] for key in self._fresh if key[0] == "message"}
            )
        for sent, (index, event) in self._again:
            key = key_of(event)
            other = self._fresh.get(key) or (self._stored.row if key[0] == "session" else here.get(key))
            if other is None or not same(event, other):
                what = f"the {event['kind']} `{event['id']}` is stored with other content, and the stored one is kept"
                sent.refuse([(index, event)], "lake-differs", what)

    def refuse_all(self, code: str, message: str) -> None:
        """Refuse everything that was to be added."""
        for sent, numbered in self._new:
            sent.refuse([numbered], code, message)

    def count(self) -> None:
        """Count what was stored and what was already known."""
        for counted, name in ((self._new, "stored"), (self._again, "known")):
            for sent, (index, _) in counted:
                if index not in sent.refused:
                    getattr(sent, name)[self._stored.id] += 1


def _inner(events: Sequence[JsonObject]) -> Iterator[JsonObject]:
    return (event for event in events if event["kind"] != "session")
