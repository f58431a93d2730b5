"""The turns of a stored session: to which one its last messages belong."""

from __future__ import annotations

from pond.sessions.labels import UNKNOWN, Turn
from pond.sessions.rows import LAST, Before
from pond.sessions.tables import MESSAGES
from pond.sessions.terms import RULES
from pond.substrate import predicate, read
from pond.substrate.store import Store


def before(store: Store, session_id: str) -> Before:
    """Return what the stored rows of a session, its id as stored, say about rows that follow them."""
    store.renewed(MESSAGES)  # a label that another process has added since would be missing on all following rows
    searched = predicate.all_of(
        predicate.equals("session_id", session_id), "search_text IS NOT NULL", f"position < {LAST}"
    )
    places = read.rows(store, MESSAGES, ["position"], searched)["position"].to_pylist()
    if not places:
        agents = read.rows(store, MESSAGES, ["agent"], predicate.equals("session_id", session_id), limit=1)
        return Before(next(iter(agents["agent"].to_pylist()), None), Turn(known=UNKNOWN))
    here = predicate.all_of(searched, f"position = {max(places)}")
    last = read.rows(store, MESSAGES, ["agent", "labels", "rules"], here, limit=1).to_pylist()[0]
    turn = Turn(last["labels"] or ())
    turn.known = len(turn.labels) if last["rules"] == RULES else UNKNOWN
    return Before(last["agent"], turn)
