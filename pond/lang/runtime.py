"""What compiled mappings call: the few things worth a function of their own. Nothing here imports lark."""

from __future__ import annotations

from typing import NamedTuple

from pond.lang.context import Reading, Writing
from pond.lang.conversions import CONVERSIONS, NO_SPELLING
from pond.lang.spans import CONVERSATIONAL, INJECTED, Markers
from pond.model.instants import instant
from pond.model.json_text import Json, JsonObject
from pond.model.marks import AS, JOINED, POND, REPEAT_OF, SEQ

__all__ = [
    "CARRIED",
    "COMPILER",
    "CONVERSATIONAL",
    "CONVERSIONS",
    "EMPTY",
    "INJECTED",
    "LISTED",
    "MISSING",
    "NO_SPELLING",
    "OWN",
    "REPEAT",
    "Broken",
    "Json",
    "JsonObject",
    "Markers",
    "Origin",
    "Reading",
    "Writing",
    "at",
    "instant",
    "kind_of",
    "labels_of",
    "parts_of",
    "parts_with_roles",
    "repeat_event",
    "weave_of",
]  # fmt: skip

REPEAT = "repeat"  # the label of a row that repeats an earlier record
CARRIED = "carry"  # the label of records that are carried whole
LISTED = "listed"  # the label of a line about a session in its client's list of all sessions
COMPILER = 13  # increase it when generated source changes, so that shipped modules count as stale
OWN = "own"  # besides the session's fields: which records are its own
MISSING = object()
EMPTY: JsonObject = {}  # used for an object that does not exist; never written to


class Broken(Exception):
    """A canonical event the writer cannot turn back into a record."""


class Origin(NamedTuple):
    """One place a session field may come from: a path capture, a template, or the first record value at a path."""

    capture: str | None
    template: str | None
    first: tuple[str, ...] | None
    of: str | None
    conversion: str | None
    where: str | None
    own: bool = False  # only of records that are the session's own


def at(record: Json, *keys: str) -> Json:
    """Return the value at `keys`, or MISSING."""
    for key in keys:
        if type(record) is not dict or key not in record:
            return MISSING
        record = record[key]
    return record


def kind_of(value: Json) -> str:
    """Name a JSON type for a person."""
    names = {dict: "an object", list: "a list", str: "text", int: "a number", float: "a number", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")


def labels_of(labels: Json, items: list[Json]) -> list[Json]:
    """Return the label of each item from a list beside them; none for any if the lengths differ."""
    return labels if type(labels) is list and len(labels) == len(items) else [None] * len(items)


def repeat_event(own: str, context: Reading) -> JsonObject:
    """Return the small row that says that the record `own` was repeated here."""
    event: JsonObject = {
        "kind": "message", "role": "system", "id": f"{own}@{context.seq}", "session_id": context.session_id,
    }  # fmt: skip
    if context.anchor is not None:
        event["timestamp"] = context.anchor
    event["content"] = ""
    event["options"] = {POND: {SEQ: context.seq, AS: REPEAT, REPEAT_OF: context.repeated or own}}
    return event


def weave_of(items: list[Json], left: list[Json]) -> str:
    """Return which items of a list stayed in the record (`r`) and which became Parts of its one message (`0`)."""
    waiting = iter([*left, MISSING])
    following = next(waiting)
    weave = ""
    for item in items:
        if item is following:
            following = next(waiting)
            weave += "r"
        else:
            weave += "0"
    return weave


def parts_of(events: list[JsonObject]) -> list[JsonObject]:
    """Return the Parts of a message and its Parts, one for each source item."""
    return events[1:] if len(events) < 3 else _unjoin(events[1:])


def parts_with_roles(events: list[JsonObject]) -> list[tuple[str, JsonObject]]:
    """Return the Parts of several messages, one for each source item, each with its message's role."""
    if len(events) == 2 and (part := events[1])["kind"] == "part" and JOINED not in part["options"].get(POND, EMPTY):
        return [(events[0]["role"], part)]  # as usual
    out: list[tuple[str, JsonObject]] = []
    role, parts = events[0]["role"], []
    for event in [*events[1:], _END]:
        if event["kind"] == "part":
            parts.append(event)
        else:
            out += [(role, part) for part in _unjoin(parts)]
            role, parts = event["role"], []
    return out


_END: JsonObject = {"kind": "message", "role": ""}


def _unjoin(parts: list[JsonObject]) -> list[JsonObject]:
    """Join the runs that a span table separated."""
    out: list[JsonObject] = []
    for part in parts:
        if part["options"].get(POND, EMPTY).get(JOINED):
            out[-1]["text"] += part["text"]
        else:
            out.append(part)
    return out
