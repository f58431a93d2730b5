"""Messages that pond itself wrote into a session: they are between the client's records, and are not records."""

from __future__ import annotations

from typing import Final

from pond.model.json_text import Json, JsonObject
from pond.model.marks import AFTER, AS, POND, marks_of

NOTICE: Final = "notice"  # the label of such a message, where a client's message has the kind of its record
MOST: Final = 1 << 24  # records that one may follow


def notice(session_id: str, message_id: str, text: str, time: str, after: int) -> JsonObject:
    """Return a message of pond's own that comes after this many records of the session's log."""
    return {
        "kind": "message", "role": "system", "id": message_id, "session_id": session_id, "timestamp": time,
        "content": text, "options": {POND: {AS: NOTICE, AFTER: after}},
    }  # fmt: skip


def is_notice(message: JsonObject) -> bool:
    """Tell whether a message is pond's own."""
    return follows(message["options"]) is not None


def follows(options: Json) -> int | None:
    """Return how many records come before a message of pond's own; None for any other message."""
    marks = marks_of(options)
    after = marks.get(AFTER)
    return after if marks.get(AS) == NOTICE and type(after) is int and 1 <= after <= MOST else None
