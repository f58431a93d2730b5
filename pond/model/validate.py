"""The one validator of canonical text: each event is what the schema says, and fits the events before it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pond.diagnostics.diagnostic import Diagnostic
from pond.model._tables import ALLOWED
from pond.model.event_shape import misfit
from pond.model.json_text import Json, JsonObject
from pond.model.lineage import KIND, KINDS, PARENT, SPAWN
from pond.model.marks import JOINED, POND, continues_part
from pond.model.session_row import is_session

_ORDER = "adapter-integrity-event-ordering"
_RULES = {"project": "model-project-non-empty", "provenance": "model-part-provenance"}


class Fault(NamedTuple):
    """What is wrong with one event, and in which of its fields."""

    field: str
    message: str
    rule: str = ""

    def __str__(self) -> str:
        return f"`{self.field}`: {self.message}"


def validate(events: Iterable[JsonObject]) -> list[Diagnostic]:
    """Return what is wrong with a stream of events, in stream order; an empty list means that it can be stored."""
    validator = Validator()
    return [
        Diagnostic("canonical-broken", fault.message, path=f"$[{index}].{fault.field}", rule=fault.rule)
        for index, event in enumerate(events)
        for fault in validator.faults(event)
    ]


class Validator:
    """Takes a stream event by event; it remembers the ids of the sessions and of the last session's messages.

    An id is remembered by its hash, so a session of any length costs one number per message.
    """

    def __init__(self) -> None:
        self._sessions: set[int] = set()
        self._session: Json = None
        self._message: Json = None
        self._role: Json = None
        self._allowed: frozenset[str] = frozenset()  # the parts that the message may hold
        self._messages: set[int] = set()
        self._parts: set[int] = set()

    def faults(self, event: JsonObject) -> list[Fault]:
        """Return what is wrong with the next event."""
        match event.get("kind"):
            case "part":
                return self._part(event)
            case "message":
                return self._next_message(event)
            case "session":
                return self._next_session(event)
        return [Fault("kind", f"expected session, message or part, found {event.get('kind')!r}")]

    def fits(self, event: JsonObject) -> bool:
        """Tell whether the next event, which is valid in itself, fits those before it; if not, ask for its faults."""
        if event["session_id"] != self._session:
            return False
        own = hash(event["id"])
        if event["kind"] == "part":
            parts = self._parts
            if event["message_id"] != self._message or own in parts or event["type"] not in self._allowed:
                return False
            if event["options"] and not parts and continues_part(event):
                return False
            parts.add(own)
            return True
        if own in self._messages:
            return False
        self._messages.add(own)
        self._message, self._role, self._parts = event["id"], event["role"], set()
        self._allowed = ALLOWED[event["role"]]
        return True

    def _next_session(self, session: JsonObject) -> list[Fault]:
        self._session, self._message = session.get("id"), None
        self._messages = set()
        found = _shape(session)
        if not found and not is_session(session):
            found = [Fault("options", "expected objects in `pond`, `source` and `source.beside`, and texts in `pond`")]
        return found + _lineage_faults(session) + _repeated(session, self._sessions)

    def _next_message(self, message: JsonObject) -> list[Fault]:
        outside = self._outside(message)  # a message of another session has no parts here
        self._message, self._role, self._parts = None if outside else message.get("id"), message.get("role"), set()
        self._allowed = ALLOWED.get(str(self._role), frozenset())
        return outside + _shape(message) + _repeated(message, self._messages)

    def _part(self, part: JsonObject) -> list[Fault]:
        found = self._outside(part)
        if self._message is None or part.get("message_id") != self._message:
            return [*found, Fault("message_id", "the part does not follow the message it names", _ORDER)]
        if not self._parts and continues_part(part):
            found.append(
                Fault(f"options.{POND}.{JOINED}", "the part continues one before it, and there is none", _ORDER)
            )
        return found + _shape(part, self._role) + _repeated(part, self._parts)

    def _outside(self, event: JsonObject) -> list[Fault]:
        if self._session is not None and event.get("session_id") == self._session:
            return []
        return [Fault("session_id", f"the {event['kind']} does not follow the session it names", _ORDER)]


def _lineage_faults(session: JsonObject) -> list[Fault]:
    found = []
    if PARENT not in session:
        for name, what in _OF_A_PARENT.items():
            if name in session:
                found.append(Fault(name, what, "model-parent-pointer-coherence"))
    if session.get(KIND, SPAWN) not in KINDS:
        found.append(Fault(KIND, f"expected one of {', '.join(KINDS)}, found {session[KIND]!r}"))
    return found


_OF_A_PARENT = {
    "parent_message_id": "a cut point is named, but not the session that it cuts",
    KIND: "it is said how the session comes from its parent, but not from which",
}


def _shape(event: JsonObject, role: Json = None) -> list[Fault]:
    found = misfit(event, role)
    return [] if found is None else [Fault(*found, _RULES.get(found[0], ""))]


def _repeated(event: JsonObject, taken: set[int]) -> list[Fault]:
    own = event.get("id")
    if type(own) is not str:
        return []  # its shape shows it
    if (known := hash(own)) in taken:
        return [Fault("id", f"the {event['kind']} id {own!r} is not unique", "adapter-integrity-dedup")]
    taken.add(known)
    return []
