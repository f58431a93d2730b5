"""`pond_get`: a session a page at a time, or one message with its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.nearest import unknown
from pond.lake.find import not_found
from pond.lake.listing import children_of
from pond.model.json_text import JsonObject, encode
from pond.sessions import load, paging
from pond.sessions.summaries import CONVERSATION, TOLD, summaries
from pond.substrate import predicate
from pond.substrate.store import Store

MODES = CONVERSATIONAL, COMPLETE, VERBATIM = "conversational", "complete", "verbatim"
LIMIT, MOST = 20, 1000  # messages or parts on a page: the default, and the maximum
DEEPEST = 100  # neighbours on each side
BUDGET = 256 * 1024  # bytes of JSON on a page; a larger item comes alone
_AT_ONCE = 50  # messages read before it is known whether they fit


# Every row is kept, and `verbatim` has all of them; what another session shows is not shown in short again.
_SHOWN = {
    CONVERSATIONAL: f"({CONVERSATION} OR {TOLD})",
    COMPLETE: "(elsewhere IS NULL OR NOT elsewhere)",
    VERBATIM: None,
}


def get_session(
    store: Store,
    session_id: str,
    mode: str = CONVERSATIONAL,
    limit: int = LIMIT,
    after_id: str | None = None,
    from_end: bool = False,
) -> JsonObject:
    """Return a page of a session, its messages in the order of the log.

    `after_id` is the last message of the previous page. With `from_end` the pages run from the end to the beginning:
    the first one holds the newest messages, `after_id` is the *first* message of the previous page, and the rest is
    before the page.
    """
    if mode not in MODES:
        raise unknown("mode", mode, MODES)
    _check_limit(limit)
    session = _session(store, session_id)
    positions = paging.positions(store, session_id, _SHOWN[mode])
    if after_id is not None:
        positions = _beyond(positions, _position(store, session_id, after_id), from_end)
    messages = _fitting(_read(store, session_id, mode, positions, limit, from_end))
    remaining = positions.num_rows - len(messages)
    if from_end:
        messages.reverse()
    return {
        "response_mode": mode, "session": session, "messages": messages, "messages_remaining": remaining,
        "subagents": children_of(store, session_id),
    }  # fmt: skip


def get_message(
    store: Store,
    session_id: str,
    message_id: str,
    context_depth: int = 0,
    limit: int = LIMIT,
    after_id: str | None = None,
) -> JsonObject:
    """Return a message with a page of its parts, and its neighbours in short; `after_id` is the id of a part."""
    _check(0 <= context_depth <= DEEPEST, f"expected 0 to {DEEPEST} messages of context, found {context_depth}")
    _check_limit(limit)
    session = _session(store, session_id)
    here = _position(store, session_id, message_id)
    (message,) = paging.messages(store, session_id, here)
    parts = _after(message["content"] if type(message["content"]) is list else [], after_id)
    page = _fitting(parts[:limit])
    if type(message["content"]) is list:  # a system message has a text here
        message["content"] = page
    before, after = _neighbours(store, session_id, here, context_depth)
    return {
        "response_mode": "message", "session": session, "message": message,
        "parts_remaining": len(parts) - len(page), "before": before, "after": after,
    }  # fmt: skip


def _check(holds: bool, message: str, help: str = "") -> None:
    if not holds:
        raise UsageError(Diagnostic("usage", message, help=help))


def _check_limit(limit: int) -> None:
    _check(1 <= limit <= MOST, f"expected a limit of 1 to {MOST}, found {limit}", "a longer session comes in pages")


def _session(store: Store, session_id: str) -> JsonObject:
    found = load.session(store, session_id)
    if found is None:
        raise not_found("session", session_id)
    return found


def _position(store: Store, session_id: str, message_id: str) -> pa.Table:
    found = paging.positions(store, session_id, predicate.equals("id", load.stored_id(message_id)))
    if not found.num_rows:
        raise not_found(f"message of session `{session_id}`", message_id)
    return found


def _beyond(positions: pa.Table, here: pa.Table, from_end: bool) -> pa.Table:
    """Return the positions after one of the session's, or before it; it need not be among them."""
    before, after = _around(positions, here)
    return before if from_end else after


def _around(positions: pa.Table, here: pa.Table) -> tuple[pa.Table, pa.Table]:
    position, id = here["position"][0], here["id"][0]
    same = pc.equal(positions["position"], position)
    earlier = pc.or_(pc.less(positions["position"], position), pc.and_(same, pc.less(positions["id"], id)))
    itself = pc.and_(same, pc.equal(positions["id"], id))
    start, own = (pc.sum(mask).as_py() or 0 for mask in (earlier, itself))
    return positions.slice(0, start), positions.slice(start + own)


def _read(
    store: Store, session_id: str, mode: str, positions: pa.Table, limit: int, from_end: bool
) -> Iterator[JsonObject]:  # fmt: skip
    """Yield the first messages, or the last ones from the end, reading a few at a time."""
    read: Callable[[pa.Table], list[JsonObject]] = partial(paging.messages, store, session_id)
    if mode != VERBATIM:
        read = partial(summaries, store, session_id, injected=mode == COMPLETE)
    count = min(limit, positions.num_rows)
    for start in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - start)
        if from_end:
            yield from reversed(read(positions.slice(positions.num_rows - start - size, size)))
        else:
            yield from read(positions.slice(start, size))


def _fitting(found: Iterable[JsonObject]) -> list[JsonObject]:
    """Return as many as fit on a page, at least one: nothing is ever cut."""
    page: list[JsonObject] = []
    size = 0
    for each in found:
        size += len(encode(each))
        if page and size > BUDGET:
            break
        page.append(each)
    return page


def _after(parts: list[JsonObject], after_id: str | None) -> list[JsonObject]:
    if after_id is None:
        return parts
    at = next((at for at, part in enumerate(parts) if part["id"] == after_id), None)
    if at is None:
        raise not_found("part of the message", after_id)
    return parts[at + 1 :]


def _neighbours(
    store: Store, session_id: str, here: pa.Table, depth: int
) -> tuple[list[JsonObject], list[JsonObject]]:  # fmt: skip
    if not depth:
        return [], []
    before, after = _around(paging.positions(store, session_id), here)
    nearest = before.slice(max(0, before.num_rows - depth)), after.slice(0, depth)
    first, second = (summaries(store, session_id, some) for some in nearest)
    return first, second
