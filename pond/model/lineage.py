"""How a session comes from its parent. Only a spawned one belongs to it; all others are sessions of their own."""

from __future__ import annotations

from typing import Final

from pond.model.json_text import JsonObject

SPAWN: Final = "spawn"
FORK: Final = "fork"
CONTINUATION: Final = "continuation"
KINDS: Final = (SPAWN, FORK, CONTINUATION)

PARENT: Final = "parent_session_id"
KIND: Final = "lineage_kind"


def is_told(session: JsonObject) -> bool:
    """Tell whether a session itself says all there is to know: it has no parent, or says how it comes from it."""
    return KIND in session or PARENT not in session


def may_belong(session: JsonObject) -> bool:
    """Tell whether a session goes where its parent goes; one that does not say how it comes from it does."""
    return PARENT in session and session.get(KIND, SPAWN) == SPAWN
