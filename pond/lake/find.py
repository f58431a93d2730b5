"""Ids as people type them: a whole id or a unique prefix.

The ids of subagents may begin with their parent's whole id: a prefix of such a family means its head.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.sessions.stored_text import from_stored, stored_beginnings, to_stored
from pond.sessions.tables import MESSAGES, SESSIONS
from pond.sessions.titles import titles
from pond.substrate import predicate, read
from pond.substrate.store import Store

_CANDIDATES = 10
_SHORTEST = 8  # characters of a short id


@dataclass(frozen=True)
class SessionMatch:
    """A session, or one message of it."""

    session_id: str
    message_id: str | None = None


def session(store: Store, text: str) -> str:
    """Return the id of the session meant; raise UsageError if there is none, or more than one."""
    return _only(text, "session", _sessions(store, text)).session_id


def session_or_message(store: Store, text: str) -> SessionMatch:
    """Return the session or message meant; sessions come first, then messages of all sessions."""
    found = _sessions(store, text)
    return _only(text, "session" if found else "session or message", found or _messages(store, text))


def message(store: Store, session_id: str, text: str) -> SessionMatch:
    """Return the message of a session that is meant; raise UsageError if there is none, or more than one."""
    return _only(text, "message", _messages(store, text, predicate.equals("session_id", to_stored(session_id))))


def sessions_of_message(store: Store, message_id: str) -> list[str]:
    """Return the sessions that hold a message with exactly this id; forks hold those of their origin."""
    where = predicate.equals("id", to_stored(message_id))
    rows = read.rows(store, MESSAGES, ["session_id"], where)
    return sorted(map(from_stored, rows["session_id"].to_pylist()))


def beginning_with(store: Store, text: str, most: int) -> list[tuple[str, str]]:
    """Return sessions whose ids begin with a text, the newest first, each with its title or nothing."""
    where = _begins(text) if text else None
    rows = read.rows(store, SESSIONS, ["id", "created_at"], where).sort_by([("created_at", "descending")])
    ids = rows["id"].to_pylist()[:most]
    named = titles(store, ids)
    return [(from_stored(id), named.get(id, "")) for id in ids]


def short_ids(ids: Iterable[str], wanted: Iterable[str]) -> dict[str, str]:
    """Return for each wanted id its shortest unique prefix, of eight characters or more, among all these ids."""
    heads = sorted(_heads(ids))
    known = set(heads)
    return {id: _short(id, heads) if id in known else id for id in wanted}


def _short(id: str, heads: list[str]) -> str:
    # The id that shares most with another is next to it in sorted order.
    at = bisect(heads, id)
    shared = max(_shared(id, other) for other in ("", *heads[max(at - 2, 0) : at - 1], *heads[at : at + 1]))
    return id[: max(shared + 1, _SHORTEST)]


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginnings."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _heads(ids: Iterable[str]) -> Iterator[str]:
    """Yield the ids that do not continue another one."""
    known = set(ids)
    for id in known:
        parent = id
        while "/" in parent:
            parent = parent.rpartition("/")[0]
            if parent in known:
                break
        else:
            yield id


def _sessions(store: Store, text: str) -> list[SessionMatch]:
    rows = read.rows(store, SESSIONS, ["id"], predicate.equals("id", to_stored(text)))
    if not rows.num_rows:
        rows = read.rows(store, SESSIONS, ["id"], _begins(text))
    return [SessionMatch(id) for id in sorted(_heads(map(from_stored, rows["id"].to_pylist())))]


def _messages(store: Store, text: str, here: str | None = None) -> list[SessionMatch]:
    for where in (predicate.equals("id", to_stored(text)), _begins(text)):
        rows = read.rows(
            store, MESSAGES, ["session_id", "id"], predicate.all_of(here, where), limit=_CANDIDATES + 1
        ).to_pylist()  # fmt: skip
        if rows:
            pairs = sorted((row["session_id"], row["id"]) for row in rows)
            return [SessionMatch(from_stored(session), from_stored(message)) for session, message in pairs]
    return []


def _begins(text: str) -> str:
    return " OR ".join(f"({predicate.begins_with('id', start)})" for start in stored_beginnings(text))


def not_found(what: str, text: str) -> UsageError:
    """Return the refusal of an unknown id."""
    return UsageError(Diagnostic("lake-not-found", f"no {what} `{text}`"))


def _only(text: str, what: str, found: list[SessionMatch]) -> SessionMatch:
    if not found:
        raise not_found(what, text)
    if len(found) > 1:
        shown = [
            each.session_id if each.message_id is None else f"{each.message_id} in {each.session_id}" for each in found
        ]
        more = len(shown) > _CANDIDATES
        help = "one of " + ", ".join(shown[:_CANDIDATES]) + (", …" if more else "")
        count = f"more than {_CANDIDATES}" if more else str(len(shown))
        raise UsageError(Diagnostic("lake-ambiguous", f"`{text}` matches {count}", help=help))
    return found[0]
