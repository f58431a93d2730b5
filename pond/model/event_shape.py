"""Whether one canonical event, from text of any origin, has exactly the fields of its type.

The tables are generated from the schema. This is the fast half of the check, and it accepts every JSON value that pond
does, including half characters and numbers beyond a double.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict

import msgspec
import orjson

from pond.model._tables import ALLOWED, MESSAGES, NOT_EMPTY, PARTS, PROVENANCES, SESSION, TIMES, Fields
from pond.model.instants import is_canonical
from pond.model.json_text import LONG, Json, JsonObject

_ANY = object

# A field, and what is wrong with it.
Misfit: TypeAlias = tuple[str, str]


def misfit(event: JsonObject, role: Json = None) -> Misfit | None:
    """Return what is wrong with an event, or None; `role` is that of the message a part belongs to."""
    match event.get("kind"):
        case "session":
            return _misfit(event, SESSION)
        case "message":
            own = event.get("role")
            if type(own) is not str or own not in MESSAGES:
                return "role", f"expected one of {', '.join(MESSAGES)}, found {own!r}"
            return _misfit(event, MESSAGES[own])
        case "part":
            return _part_misfit(event, role)
    return "kind", f"expected session, message or part, found {event.get('kind')!r}"


def _part_misfit(part: JsonObject, role: Json) -> Misfit | None:
    kind = part.get("type")
    if type(kind) is not str or kind not in PARTS:
        return "type", f"expected one of {', '.join(PARTS)}, found {kind!r}"
    if type(role) is str and kind not in ALLOWED.get(role, PARTS):  # an unknown role is a fault of its message
        return "type", f"a {role} message holds no {kind} part"
    if part.get("provenance") not in PROVENANCES:
        return "provenance", f"expected `conversational` or `injected`, found {part.get('provenance')!r}"
    return _misfit(part, PARTS[kind])


def _misfit(event: JsonObject, fields: Fields) -> Misfit | None:
    must, may = fields
    for name, kind in must.items():
        if name not in event:
            return name, f"expected {_name(kind)}, found nothing"
    for name, value in event.items():
        known = must.get(name) or may.get(name)
        if known is None:
            return name, "no such field"
        if known is not _ANY and type(value) is not known:
            return name, f"expected {_name(known)}, found {_name(type(value))}"
        if name in NOT_EMPTY and not value:
            return name, "expected a name, found nothing"
        if name in TIMES and not is_canonical(value):
            return name, f"expected a time like 2026-01-02T03:04:05.678Z, found {value!r}"
    return None


def _name(kind: type) -> str:
    names = {str: "text", bool: "true or false", dict: "an object", list: "a list", type(None): "null"}
    return names.get(kind, "a value" if kind is _ANY else "a number")


# --- the same, while decoding ----------------------------------------------------------------------------------------


def shaped(line: bytes) -> JsonObject | None:
    """Return the message or part of a line that is spelled as pond spells it and has no misfit; None for any other.

    None does not mean that the line is bad: `decode` and `misfit` decide. Whether the part fits the message's role is
    not checked.
    """
    decoder = _of_message.get(line[:_HEAD])
    if decoder is None:
        start = line.find(_TYPE) + len(_TYPE)
        decoder = _of_part.get(line[start : line.find(b'"', start)])
    if decoder is None or len(line) > LONG:
        return None
    try:
        event: JsonObject = decoder.decode(line)
        if "timestamp" in event and not is_canonical(event["timestamp"]):
            return None
        # An unknown field is gone at this point, and shows as a difference.
        return event if _dumps(event, None, _NEWLINE) == line else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError):
        return None


def _constraint(name: str, kind: type) -> Any:
    if name in NOT_EMPTY:
        return Annotated[str, msgspec.Meta(min_length=1)]
    if name == "provenance":
        return Literal[PROVENANCES]
    return Any if kind is _ANY else dict[str, Any] if kind is dict else kind


def _typed(fields: Fields, **known: str) -> msgspec.json.Decoder[Any]:
    must, may = fields
    types = {name: _constraint(name, kind) for name, kind in must.items()}
    types |= {name: Literal[value] for name, value in known.items()}
    types |= {name: NotRequired[_constraint(name, kind)] for name, kind in may.items()}
    return msgspec.json.Decoder(TypedDict("Event", types))  # type: ignore[operator]


_HEAD = len(b'{"kind":"message","role":"user"')  # enough to distinguish the roles
_TYPE = b',"type":"'
_of_part = {kind.encode(): _typed(fields, kind="part", type=kind) for kind, fields in PARTS.items()}
_of_message = {
    f'{{"kind":"message","role":"{role}"'.encode()[:_HEAD]: _typed(fields, kind="message", role=role)
    for role, fields in MESSAGES.items()
}
_dumps, _NEWLINE = orjson.dumps, orjson.OPT_APPEND_NEWLINE
