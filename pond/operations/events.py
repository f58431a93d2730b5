"""The canonical events of a session in order, from any place on, then new ones as they come; and payloads by hash."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from pond.diagnostics.failures import Failure
from pond.model.json_text import JsonObject
from pond.operations.failing import RequestError
from pond.operations.service import Service

if TYPE_CHECKING:
    import pyarrow as pa

    from pond.substrate.store import Store

BLOB = "pond://blob/"
_AT_ONCE = 100  # messages
_ID = re.compile(r"(-1|[0-9]{1,19})\.([0-9]{1,9})\.(-1|[0-9]{1,19})\.([0-9]{1,9})")
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class EventsRequest:
    """The events of a session after one of them; payloads inline or by reference."""

    session_id: str
    after: str | None = None
    namespace: str | None = None
    by_reference: bool = False


class _Place(NamedTuple):
    """How far a session is read: the last position in its log and the events there; the same for files beside it."""

    log: int = -1
    seen: int = 0
    beside: int = -1
    beside_seen: int = 0

    def __str__(self) -> str:
        return ".".join(map(str, self))


class EventReader:
    """Reads a session event by event; at its end it waits for more."""

    def __init__(self, service: Service, request: EventsRequest) -> None:
        self._service, self._request = service, request
        self._place: _Place | None = None if request.after is None else _place(request.after)
        self._versions: tuple[int, ...] = ()

    def read(self) -> list[tuple[str, JsonObject]]:
        """Return the next events, each with its id; none if there are no more for now.

        Raise if the session does not exist.
        """
        from pond.lake.find import not_found
        from pond.sessions import load
        from pond.sessions.tables import MESSAGES, PARTS

        store = self._service.reading(self._request.namespace)
        versions = tuple(store.handle(table).version for table in (MESSAGES, PARTS))
        if versions == self._versions:
            return []
        found: list[tuple[str, JsonObject]] = []
        session = load.session(store, self._request.session_id)
        if session is None:
            raise not_found("session", self._request.session_id)
        if self._place is None:
            self._place = _Place()
            found.append((str(self._place), session))
        for event in self._next(store):
            found.append((str(self._place), self._shown(event)))
        if len(found) <= 1:  # everything is read: nothing to look for until something is written
            self._versions = versions
        return found

    def _next(self, store: Store) -> Iterator[JsonObject]:
        from pond.sessions import paging
        from pond.sessions.rows import LAST

        assert self._place is not None
        for beside in (False, True):
            at, seen = self._place[2:] if beside else self._place[:2]
            log = f"position >= {LAST}" if beside else f"position < {LAST}"
            waiting = paging.positions(store, self._request.session_id, f"{log} AND position >= {max(at, 0)}")
            some = waiting.slice(0, _end(waiting))
            messages = paging.messages(store, self._request.session_id, some) if some.num_rows else []
            for here, number, event in _numbered(messages, some):
                if here > at or number > seen:
                    at, seen = here, number
                    self._place = _Place(*self._place[:2], at, seen) if beside else _Place(at, seen, *self._place[2:])
                    yield event
            if waiting.num_rows > some.num_rows:
                return

    def _shown(self, event: JsonObject) -> JsonObject:
        return _referred(event) if self._request.by_reference else event


def _place(text: str) -> _Place:
    found = _ID.fullmatch(text)
    if found is None:
        raise RequestError(Failure.VALIDATION_FAILED, "wrong-value", "the event id is not one of pond's")
    return _Place(*map(int, found.groups()))


def _end(waiting: pa.Table) -> int:
    """Return where a page ends; messages at one position stay together."""
    positions = waiting["position"].to_pylist()
    end = min(_AT_ONCE, len(positions))
    while 0 < end < len(positions) and positions[end] == positions[end - 1]:
        end += 1
    return end


def _numbered(messages: list[JsonObject], some: pa.Table) -> Iterator[tuple[int, int, JsonObject]]:
    """Yield the events of messages, each with its position and its number among the events there."""
    from pond.sessions.stored_text import from_stored

    places = dict(zip(map(from_stored, some["id"].to_pylist()), some["position"].to_pylist(), strict=True))
    number, before = 0, -1
    for message in messages:
        here = places[message["id"]]
        for event in _flat(message):
            number, before = number + 1 if here == before else 1, here
            yield here, number, event


def _flat(message: JsonObject) -> Iterator[JsonObject]:
    """Yield a message, and then its parts."""
    parts = message["content"] if type(message["content"]) is list else None
    yield message if parts is None else {name: value for name, value in message.items() if name != "content"}
    yield from parts or ()


# --- payloads --------------------------------------------------------------------------------------------------------


def _referred(event: JsonObject) -> JsonObject:
    """Return an event with references in place of its payloads."""
    from pond.sessions.payloads import pack
    from pond.sessions.rows import without_own

    if event["kind"] != "part" or (packed := pack(without_own(event))) is None:
        return event
    name, start = f"{BLOB}{sha256(packed.data).hexdigest()}", 0
    event = {**event, **packed.value}
    for path, length, _ in packed.locations:
        part = "" if len(packed.locations) == 1 else f"?offset={start}&length={length}"
        _put(event, path, name + part)
        start += length
    return event


def _put(value: JsonObject, path: list[str | int], text: str) -> None:
    here: object = value
    for key in path[:-1]:
        here = here[key]  # type: ignore[index]
    here[path[-1]] = text  # type: ignore[index]


def blob(service: Service, digest: str, namespace: str | None = None) -> bytes:
    """Return the payload with this hash; raise if a namespace has none, and if its bytes have changed."""
    from pond.sessions.integrity import named_by
    from pond.sessions.tables import PARTS
    from pond.substrate import predicate, read

    if not _HASH.fullmatch(digest):
        what = "expected a SHA-256 in lower-case hexadecimal"
        raise RequestError(Failure.VALIDATION_FAILED, "wrong-value", what)
    store = service.reading(namespace)
    where = predicate.all_of(predicate.equals("data_hash", digest), "data_size IS NOT NULL")
    found = read.rows(store, PARTS, ["session_id", "id"], where, limit=1, row_ids=True).to_pylist()
    if not found:
        raise RequestError(Failure.NOT_FOUND, "no-such-id", f"no payload `{digest}`")
    (data,) = read.blobs(store, PARTS, "data", [found[0][read.ROW]])
    return named_by(digest, data, found[0]["session_id"], found[0]["id"])
