"""Whether one canonical event, from text that anybody may have written, has the fields its type has and no other.

The schema says the same, and a test holds the two together; this is the fast half, and it takes every JSON value that
pond does: half characters and numbers beyond a double included.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from pond.model.json_text import Json, JsonObject
from pond.model.validate import ALLOWED, PROVENANCES

_TIME = re.compile(
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}([0-9]{3})?Z"
)
_ANY = object
Fields: TypeAlias = tuple[dict[str, type], dict[str, type]]
_COMMON: dict[str, type] = {"kind": str, "id": str, "options": dict}
_IN_SESSION = {**_COMMON, "session_id": str}

# Field -> type, for the fields an event must have and for those it may have.
SESSION: Fields = (
    {**_COMMON, "source_agent": str, "project": str},
    {"parent_session_id": str, "parent_message_id": str, "created_at": str},
)
MESSAGE: Fields = ({**_IN_SESSION, "role": str}, {"timestamp": str})
SYSTEM: Fields = ({**MESSAGE[0], "content": str}, MESSAGE[1])
_PART = {**_IN_SESSION, "message_id": str, "provenance": str, "type": str}
PARTS: dict[str, Fields] = {
    "text": ({**_PART, "text": str}, {}),
    "reasoning": ({**_PART, "text": str}, {}),
    "file": ({**_PART, "media_type": str, "data": str}, {"file_name": str}),
    "tool_call": ({**_PART, "name": str, "params": _ANY, "provider_executed": bool}, {"call_id": str}),
    "tool_result": ({**_PART, "is_failure": bool}, {"call_id": str, "name": str, "result": _ANY}),
    "tool_approval_request": ({**_PART, "approval_id": str, "tool_call_id": str}, {}),
    "tool_approval_response": ({**_PART, "approval_id": str, "approved": bool}, {"reason": str}),
}
_IDS = ("id", "session_id", "message_id", "parent_session_id", "parent_message_id", "source_agent", "project")
_TIMES = ("created_at", "timestamp")


def misfit(event: JsonObject, role: Json = None) -> str | None:
    """Return what is wrong with an event, or None; `role` is that of the message a part belongs to."""
    match event.get("kind"):
        case "session":
            return _misfit(event, SESSION)
        case "message":
            own = event.get("role")
            if type(own) is not str or own not in ALLOWED:
                return f"`role`: expected one of {', '.join(ALLOWED)}, found {own!r}"
            return _misfit(event, SYSTEM if own == "system" else MESSAGE)
        case "part":
            return _part_misfit(event, role)
    return f"`kind`: expected session, message or part, found {event.get('kind')!r}"


def _part_misfit(part: JsonObject, role: Json) -> str | None:
    kind = part.get("type")
    if type(kind) is not str or kind not in PARTS:
        return f"`type`: expected one of {', '.join(PARTS)}, found {kind!r}"
    if type(role) is not str or kind not in ALLOWED.get(role, ()):
        return f"a {role} message holds no {kind} part"
    if part.get("provenance") not in PROVENANCES:
        return f"`provenance`: expected `conversational` or `injected`, found {part.get('provenance')!r}"
    return _misfit(part, PARTS[kind])


def _misfit(event: JsonObject, fields: Fields) -> str | None:
    must, may = fields
    for name, kind in must.items():
        if name not in event:
            return f"`{name}`: expected {_name(kind)}, found nothing"
    for name, value in event.items():
        known = must.get(name) or may.get(name)
        if known is None:
            return f"`{name}`: no such field"
        if known is not _ANY and type(value) is not known:
            return f"`{name}`: expected {_name(known)}, found {type(value).__name__}"
        if name in _IDS and not value:
            return f"`{name}`: expected a name, found nothing"
        if name in _TIMES and not _TIME.fullmatch(value):
            return f"`{name}`: expected a time like 2026-01-02T03:04:05.678Z, found {value!r}"
    return None


def _name(kind: type) -> str:
    return {str: "text", bool: "true or false", dict: "an object"}.get(kind, "a value")
