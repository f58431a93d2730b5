"""Which events of a session the lake holds."""

from __future__ import annotations

from pond.intake.identity import candidates
from pond.sessions import load
from pond.sessions.stored_text import from_stored, to_stored
from pond.sessions.tables import MESSAGES, PARTS, SESSIONS
from pond.substrate import predicate, read
from pond.substrate.store import Store


def events_of_session(store: Store, session_id: str) -> dict[str, set[tuple[str, str, str]]]:
    """Return the events (kind, message of a part, own id) by the id that a session is stored under.

    A second session with the same id is stored under another one. The session itself has no id here: it has two.
    """
    if store.existing(SESSIONS) is None:
        return {}
    return {id: _events(store, id) for id in candidates(store, session_id)}


def _events(store: Store, session_id: str) -> set[tuple[str, str, str]]:
    here = predicate.equals("session_id", to_stored(session_id))
    messages = read.rows(store, MESSAGES, ["id"], here)["id"].to_pylist()
    parts = read.rows(store, PARTS, ["message_id", "id"], here).to_pylist()
    found = {("session", "", "")} if load.session(store, session_id) is not None else set()
    found |= {("message", "", from_stored(id)) for id in messages}
    return found | {("part", from_stored(part["message_id"]), from_stored(part["id"])) for part in parts}
