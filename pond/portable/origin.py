"""The session's own canonical events inside another client's file: the way back is then native.

Clients skip rows of a kind they do not know. So such a row can hold each source record's events, before what they
became; converting back takes them as they are, and only what the other client added since is converted.
"""

from __future__ import annotations

from collections.abc import Iterator

from pond.model.json_text import MAX_DEPTH, Json, JsonObject, NotJson, decode_stored, encode, nests_deeper
from pond.model.marks import COPIED, MOVED, ORIGIN, POND, marks_of
from pond.model.session_row import is_session
from pond.portable.loss import Losses
from pond.portable.lowering import Group

KIND = ORIGIN  # the rows' type, in every client's file
_DEEPEST = MAX_DEPTH - 8  # levels of a value in such a row; around it are the row, its payload and its events


def of_move(row: JsonObject, cut: str, base: str | None = None) -> JsonObject:
    """Return what the first such row holds of a session: whose it is, its last record, and whose rows are in it.

    `base` is a session that holds its beginning.
    """
    moved = marks_of(row["options"]).get(MOVED)
    earlier = moved.get("sessions", []) if type(moved) is dict else []
    chain = dict.fromkeys(map(whole, [*earlier, *filter(None, [base]), row["id"]]))
    told = {"client": whole(row["source_agent"]), "session": whole(row["id"]), "cut": whole(cut)}
    return {"from": {**told, "sessions": list(chain)}}


def of_session(row: JsonObject) -> JsonObject:
    """Return what else that row holds if the file holds the session itself."""
    return {"session": _packed(row)}


def stamp(group: Group, session_id: str, message_id: str) -> Group:
    """Return a record that says which one it was copied from; one that says so already stays as it is."""
    options = group[0]["options"]
    source = options.setdefault("source", {})
    if type(source) is dict:
        told = source.get(POND)
        source[POND] = {**mark(whole(session_id), message_id), **(told if type(told) is dict else {})}
    return group


def mark(session_id: str, message_id: str) -> JsonObject:
    """Return the member of a record that was copied from a message."""
    return {COPIED: [session_id, message_id if message_id.isascii() else whole(message_id)]}


def whole(text: str) -> str:
    """Return a text without half characters: a client may drop the row that holds one."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def of_record(events: Group) -> JsonObject:
    """Return what the row of one source record holds; ids of the session are in the first."""
    return {"events": _packed([{k: v for k, v in event.items() if k != "session_id"} for event in events])}


END: JsonObject = {"end": True}


def _packed(value: Json) -> Json:
    """Return a value for such a row: as text if it is so deep that its row could not be read again."""
    return encode(value).decode() if nests_deeper(value, _DEEPEST) else value


def _unpacked(value: Json) -> Json:
    try:
        return decode_stored(value) if type(value) is str else value
    except NotJson:
        return None


def payload_of(group: Group) -> JsonObject | None:
    """Return what a record's events hold of another session, or None for any other record."""
    options = group[0]["options"]
    source = options.get("source")
    if type(source) is not dict or source.get("type") != KIND:
        return None
    payload = source.get("payload")
    return payload if type(payload) is dict else None


def session_in(groups: list[Group]) -> JsonObject | None:
    """Return the original session in the file, if one of the first records begins it."""
    for group in groups:
        row = _unpacked((payload_of(group) or {}).get("session"))
        if type(row) is dict and is_session(row):
            return row
    return None


def split(groups: Iterator[Group], session_id: str, losses: Losses) -> Iterator[tuple[bool, Group]]:
    """Yield the original events as (True, events), then what was added since as (False, events)."""
    ended, passed_by = False, 0
    for group in groups:
        payload = payload_of(group)
        events: Json = _unpacked(payload.get("events")) if payload is not None else None
        if payload is None:
            if ended:
                yield False, group
            else:
                passed_by += 1  # what the events became
        elif payload.get("end") is True:
            ended = True
        elif _are_events(events):
            yield True, [{**event, "session_id": session_id} for event in events]
        elif "session" not in payload and "from" not in payload:
            losses.add("broken", group[0]["id"], what=KIND)
    if not ended:  # cut off, or not ours: nobody can tell what was added since
        losses.add("broken", session_id, what=f"{KIND} without its end; records left out", count=passed_by)


def _are_events(value: Json) -> bool:
    """Tell whether a value is a message with its parts, as far as writing them back relies on it."""
    return (
        type(value) is list
        and bool(value)
        and all(type(e) is dict and type(e.get("options")) is dict and e.get("kind") in _KINDS for e in value)
        and value[0]["kind"] == "message"
        and type(value[0].get("id")) is str
    )


_KINDS = ("message", "part")
