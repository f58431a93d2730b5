"""Where a page is in its session, and the outcome of the calls on it: for those who print a session as text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pond.operations.service import Service

if TYPE_CHECKING:  # callers load Lance
    from pond.model.json_text import JsonObject

_FOLLOWING = 200  # source records after a page in which the results of its calls are looked for


@dataclass(frozen=True, slots=True)
class Place:
    """How many messages of a session stand before a page, and how many after it."""

    before: int
    after: int


def place(
    service: Service, session_id: str, ids: Sequence[str], *, conversational: bool, namespace: str | None = None
) -> Place:  # fmt: skip
    """Return where messages that follow each other stand among those of their session."""
    import pyarrow.compute as pc

    from pond.sessions import paging
    from pond.sessions.load import stored_id
    from pond.sessions.summaries import CONVERSATION, TOLD

    only = f"({CONVERSATION} OR {TOLD})" if conversational else None
    found = paging.positions(service.reading(namespace), session_id, only)
    first, last = (pc.index(found["id"], stored_id(id)).as_py() for id in (ids[0], ids[-1]))
    return Place(max(first, 0), max(found.num_rows - last - 1, 0))


def outcomes(
    service: Service, session_id: str, ids: Sequence[str], calls: Collection[str], namespace: str | None = None
) -> dict[str, bool]:  # fmt: skip
    """Return of calls that messages make whether each failed; a call without a result is left out."""
    import pyarrow.compute as pc

    from pond.model.json_text import decode_stored
    from pond.sessions import paging
    from pond.sessions.load import stored_id
    from pond.sessions.rows import SLOT
    from pond.sessions.tables import PARTS
    from pond.substrate import predicate, read

    store = service.reading(namespace)
    here = paging.positions(store, session_id, predicate.one_of("id", sorted(map(stored_id, ids))))
    if not calls or not here.num_rows:
        return {}
    ends = pc.min_max(here["position"]).as_py()
    where = predicate.all_of(
        predicate.equals("session_id", stored_id(session_id)),
        predicate.equals("type", "tool_result"),
        f"position >= {ends['min']} AND position <= {ends['max'] + _FOLLOWING * SLOT}",
    )
    rows = read.rows(store, PARTS, ["variant_data"], where)["variant_data"].to_pylist()
    results: list[JsonObject] = [decode_stored(row) for row in rows]
    return {each["call_id"]: bool(each.get("is_failure")) for each in results if each.get("call_id") in calls}


def messages_in(service: Service, ids: Sequence[str], namespace: str | None = None) -> dict[str, int]:
    """Return how many messages of each session person or model said."""
    from pond.lake.listing import said_in
    from pond.sessions.stored_text import from_stored, to_stored

    found = said_in(service.reading(namespace), [to_stored(id) for id in ids])
    return {from_stored(id): count for id, count in found.items()}
