"""Small invented sessions, stored as a writer stores them."""

import base64
import time
from typing import Any
from unittest.mock import patch

from pond.lake.import_ import import_
from pond.model.json_text import JsonObject
from pond.sessions.archive import merge
from pond.sessions.rows import Rows
from pond.sessions.writing import prepare, write_rows
from pond.substrate import write
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from tests.lake.build import store_session, tables

AGENT = "claude-code"
_WHEN = "2026-01-01T00:00:00.000Z"


def talk(store: Store, id: str, messages: int, pictures: list[bytes] | None = None, **about: str) -> None:
    """Store a session of so many messages with a part each: a text, or a picture."""
    groups = [_said(id, number, pictures[number] if pictures else None) for number in range(messages)]
    store_session(store, _session(id, **about), groups)


def say(store: Store, id: str, number: int) -> None:
    """Store one more message of a session."""
    rows = Rows(_session(id))
    rows.take(_said(id, number))
    write_rows(store, *tables(rows))


def _session(id: str, **about: str) -> JsonObject:
    session = {"kind": "session", "id": id, "source_agent": AGENT, "created_at": _WHEN, "project": "/srv/one"}
    return {**session, **about, "options": {}}


def _said(session: str, number: int, picture: bytes | None = None) -> list[JsonObject]:
    id = f"m{number}"
    options: JsonObject = {"pond": {"seq": number}}
    message = {"kind": "message", "role": "user", "id": id, "session_id": session, "timestamp": _WHEN}
    part: JsonObject = {"kind": "part", "id": "p", "session_id": session, "message_id": id}
    if picture is None:
        part |= {"type": "text", "text": f"{session} says {number}"}
    else:
        part |= {"type": "file", "media_type": "image/png", "data": base64.b64encode(picture).decode()}
    return [{**message, "options": options}, {**part, "provenance": "conversational", "options": {}}]


def chatter(place: str, count: int) -> None:
    """Store session after session, each of five messages."""
    store = Store(Catalog(place))
    prepare(store)
    for number in range(count):
        talk(store, f"s{number}", 5)


def slow_import(place: str, archive: str) -> None:
    """Import in many commits, saying each, with time to be killed in between."""
    from pathlib import Path

    insert = write.insert

    def told(*arguments: Any) -> int:
        done = insert(*arguments)
        print(done, flush=True)
        time.sleep(0.2)
        return done

    merge._ROWS = 300
    with patch.object(write, "insert", told):
        import_(Store(Catalog(place)), Path(archive))
