"""The messages of a session a page at a time: showing a little of a huge session never reads all of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from pond.model.json_text import JsonObject
from pond.sessions.load import Page, stored_id
from pond.sessions.rows import LAST, SLOT
from pond.sessions.stored_text import from_stored
from pond.sessions.tables import MESSAGES
from pond.substrate import predicate, read
from pond.substrate.store import Store


def positions(store: Store, session_id: str, also: str | None = None) -> pa.Table:
    """Return `id` and `position` of the matching messages of a session, ids as stored, in the order of its log."""
    where = predicate.all_of(predicate.equals("session_id", stored_id(session_id)), also)
    found = read.rows(store, MESSAGES, ["id", "position"], where)
    return found.sort_by([("position", "ascending"), ("id", "ascending")])


def messages(store: Store, session_id: str, wanted: pa.Table) -> list[JsonObject]:
    """Return the messages at some of a session's `positions`, each with its parts as `content`, in order.

    Whole records are read, because the content of one message may be packed with a part of another.
    """
    ends = pc.min_max(wanted["position"]).as_py()
    first, last = _start_of_record(ends["min"]), _end_of_record(ends["max"])
    where = predicate.all_of(
        predicate.equals("session_id", stored_id(session_id)), f"position >= {first} AND position <= {last}"
    )
    ids = set(map(from_stored, wanted["id"].to_pylist()))
    records = (make() for make in Page(store, session_id, where).records.values())
    return [message for events in records for message in _nested(events) if message["id"] in ids]


def _start_of_record(position: int) -> int:
    return position if position >= LAST else position - position % SLOT


def _end_of_record(position: int) -> int:
    return position if position >= LAST else position - position % SLOT + SLOT - 1


def _nested(events: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Yield each message with its parts inside it; a system message has a text as content, and no parts."""
    message: JsonObject | None = None
    for event in events:
        if event["kind"] == "part":
            assert message is not None  # a message comes before its parts
            message["content"].append(event)
            continue
        if message is not None:
            yield message
        message = event
        message.setdefault("content", [])
    if message is not None:
        yield message
