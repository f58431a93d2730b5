"""What the schema cannot say of one event alone: that the events of a stream fit together."""

from __future__ import annotations

from collections.abc import Iterable

from pond.diagnostics.diagnostic import Diagnostic
from pond.model.json_text import Json, JsonObject

# Which Parts a role's slot may hold; the schema says the same of a message that travels whole.
ALLOWED: dict[str, frozenset[str]] = {
    "system": frozenset(),
    "user": frozenset(("text", "file")),
    "assistant": frozenset(("text", "file", "reasoning", "tool_call", "tool_result", "tool_approval_request")),
    "tool": frozenset(("tool_result", "tool_approval_response")),
}
PROVENANCES = ("conversational", "injected")
_ORDER = "adapter-integrity-event-ordering"


def validate(events: Iterable[JsonObject]) -> list[Diagnostic]:
    """Return what is incoherent in a stream of events, in stream order; an empty list means: fit to be stored."""
    stream = _Stream()
    for event in events:
        stream.take(event)
    return stream.found


class _Stream:
    """The session and message that the next event has to belong to."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []
        self._index = -1
        self._sessions: set[Json] = set()
        self._session: JsonObject | None = None
        self._message: JsonObject | None = None
        self._messages: set[Json] = set()
        self._parts: set[Json] = set()

    def take(self, event: JsonObject) -> None:
        self._index += 1
        match event.get("kind"):
            case "session":
                self._take_session(event)
            case "message":
                self._take_message(event)
            case "part":
                self._take_part(event)
            case other:
                self._broken("kind", f"expected `session`, `message` or `part`, found {other!r}")

    def _take_session(self, session: JsonObject) -> None:
        self._session, self._message = session, None
        self._messages = set()
        self._named(session, "id", self._sessions)
        if not _text(session.get("project")):
            self._broken("project", "expected a project, found none", "model-project-non-empty")
        if not _text(session.get("source_agent")):
            self._broken("source_agent", "expected the client's name, found none")
        if "parent_message_id" in session and not _text(session.get("parent_session_id")):
            what = "a cut-point is named, but no session that it cuts"
            self._broken("parent_message_id", what, "model-parent-pointer-coherence")

    def _take_message(self, message: JsonObject) -> None:
        self._message, self._parts = message, set()
        self._in_session(message)
        self._named(message, "id", self._messages)
        if message.get("role") not in ALLOWED:
            self._broken("role", f"expected one of {', '.join(ALLOWED)}, found {message.get('role')!r}")

    def _take_part(self, part: JsonObject) -> None:
        self._in_session(part)
        if part.get("provenance") not in PROVENANCES:
            what = f"expected `conversational` or `injected`, found {part.get('provenance')!r}"
            self._broken("provenance", what, "model-part-provenance")
        message = self._message
        if message is None or part.get("message_id") != message.get("id"):
            self._broken("message_id", "the part does not follow the message it names", _ORDER)
            return
        if _joined(part) and not self._parts:
            self._broken("options.pond.joined", "the part continues one before it, and there is none", _ORDER)
        self._named(part, "id", self._parts)
        role, kind = message.get("role"), part.get("type")
        if role in ALLOWED and kind not in ALLOWED[role]:
            self._broken("type", f"a {role} message holds no {kind!r} part")

    def _in_session(self, event: JsonObject) -> None:
        if self._session is None or event.get("session_id") != self._session.get("id"):
            self._broken("session_id", f"the {event['kind']} does not follow the session it names", _ORDER)

    def _named(self, event: JsonObject, field: str, taken: set[Json]) -> None:
        name = event.get(field)
        if not _text(name):
            self._broken(field, f"expected the {event['kind']}'s id, found none")
        elif name in taken:
            self._broken(field, f"the {event['kind']} id {name!r} stands twice", "adapter-integrity-dedup")
        else:
            taken.add(name)

    def _broken(self, field: str, message: str, rule: str = "") -> None:
        self.found.append(Diagnostic("canonical-broken", message, path=f"$[{self._index}].{field}", rule=rule))


def _text(value: Json) -> bool:
    return type(value) is str and value != ""


def _joined(part: JsonObject) -> bool:
    options = part.get("options")
    pond = options.get("pond") if type(options) is dict else None
    return type(pond) is dict and pond.get("joined") is True
