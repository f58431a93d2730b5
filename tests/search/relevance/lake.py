"""A lake of the labelled sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pond
from pond.config.load import load
from pond.model.json_text import JsonObject
from pond.operations.service import Service
from pond.operations.sync import UPDATE_INDEXES, SyncRequest, sync
from pond.types import Event
from tests.search.relevance.sets import Message, Session, sessions


def build(place: Path) -> pond.Lake:
    """Store the sessions of all sets in a new lake, and index them."""
    lake = pond.Lake(place)
    stored = lake.ingest_events(cast("Iterator[Event]", (event for session in sessions() for event in events(session))))
    assert not stored["rejected"], stored["rejected"]
    sync(Service(load({"lake": str(place)})), SyncRequest(only=UPDATE_INDEXES))
    lake.close()
    return lake


def events(session: Session) -> Iterator[JsonObject]:
    """Yield a session as canonical events."""
    row: JsonObject = {"kind": "session", "id": session.id, "source_agent": session.client, "project": session.project}
    row |= {"created_at": session.messages[0].at, "options": {}}
    if session.parent is not None:
        row |= {"parent_session_id": session.parent, "parent_message_id": _last_shared(session)}
    yield row
    for message in session.messages:
        yield from _said(session.id, message)


def _said(session_id: str, message: Message) -> Iterator[JsonObject]:
    options: JsonObject = {"pond": {"again": True}} if message.again else {}
    named = {"session_id": session_id, "id": message.id, "timestamp": message.at}
    yield {"kind": "message", **named, "role": message.role, "options": options}
    inside = {"session_id": session_id, "message_id": message.id, "id": f"{message.id}:0"}
    text = {"type": "text", "text": message.said, "provenance": "conversational"}
    yield {"kind": "part", **inside, **text, "options": {}}


def _last_shared(fork: Session) -> str:
    """Return the last message that a fork shares with its parent."""
    (parent,) = (session for session in sessions() if session.id == fork.parent)
    shared = {message.id for message in parent.messages}
    return [message.id for message in fork.messages if message.id in shared][-1]
