"""Rows -> canonical events: a session comes out of the lake as it went in."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby

from pond.model.json_text import Json, JsonObject, decode_stored
from pond.model.marks import WITH, continues_record
from pond.sessions.integrity import named_by
from pond.sessions.lineage import spawned
from pond.sessions.payloads import texts_at, unpack, unpack_known
from pond.sessions.rows import LAST, SLOT
from pond.sessions.stored_text import from_micros, from_stored
from pond.sessions.tables import MESSAGES, PARTS, SESSIONS
from pond.substrate import predicate, read
from pond.substrate.store import Store
from pond.substrate.table import Table

_FIRST_PAGE, _LEAST_PAGE, _PAGE = 128, 8, 4000  # messages in memory at a time, as many as
_PAGE_BYTES = 16 << 20  # allow
_NEIGHBOURS, _REMEMBERED = 32, 4  # records that are read again together, and how many such pages are kept
_AT_ONCE = 500  # ids in one query
_GOES_ON = f'"{WITH}":true'
_SESSION = (
    "id", "parent_session_id", "parent_message_id", "lineage_kind", "source_agent", "created_at", "created_at_text",
    "project", "options",
)  # fmt: skip
_MESSAGE = ("id", "position", "timestamp", "timestamp_text", "role", "content", "options", "payloads")
_PART = (
    "message_id", "id", "position", "ordinal", "type", "provenance", "variant_data", "options", "payloads",
    "data_hash", "data_size",
)  # fmt: skip


def session(store: Store, session_id: str) -> JsonObject | None:
    """Return the canonical session row, or None if it is not stored."""
    found = sessions(store, predicate.equals("id", stored_id(session_id)))
    return found[0] if found else None


def sessions(store: Store, where: str | None) -> list[JsonObject]:
    """Return the canonical rows of the matching sessions."""
    table = read.rows(store, SESSIONS, _SESSION, where)
    return [_session_event(row) for row in with_micros(table, "created_at")]


def stored_id(text: str) -> str:
    """Return an id as the columns hold it."""
    from pond.sessions.stored_text import to_stored

    return to_stored(text)


def descendants(store: Store, session_ids: Iterable[str]) -> list[JsonObject]:
    """Return the sessions that these spawned, then those that they spawned, and so on, without these themselves."""
    met = set(session_ids)
    found: list[JsonObject] = []
    parents = sorted(met)
    while parents:
        born = [row for row in _children(store, parents) if row["id"] not in met]
        parents = sorted({row["id"] for row in born})
        met.update(parents)
        found += sorted(born, key=lambda row: str(row["id"]))
    return found


def _children(store: Store, session_ids: list[str]) -> Iterator[JsonObject]:
    for start in range(0, len(session_ids), _AT_ONCE):
        parents = map(stored_id, session_ids[start : start + _AT_ONCE])
        yield from spawned(store, sessions(store, predicate.one_of("parent_session_id", parents)))


def groups(store: Store, session_id: str) -> Iterator[list[JsonObject]]:
    """Yield the events of each source record of a session, in the order of its log, one page in memory at a time."""
    here = predicate.equals("session_id", stored_id(session_id))
    positions = sorted(read.rows(store, MESSAGES, ["position"], here)["position"].to_pylist())
    start, count = 0, _FIRST_PAGE
    while start < len(positions):
        end = _page_end(positions, start, count)
        within = f"position >= {positions[start]} AND position < {positions[end - 1] + 1}"
        page = Page(store, session_id, predicate.all_of(here, within))
        yield from (make() for make in page.records.values())
        # Records of one session are similar: this page decides the size of the next.
        count = max(_LEAST_PAGE, min((end - start) * _PAGE_BYTES // (page.size + 1), count * 8, _PAGE))
        start = end


def _page_end(positions: list[int], start: int, count: int) -> int:
    """Return where a page of about `count` messages ends; the messages of one record stay together."""
    end = min(start + count, len(positions))
    while end < len(positions) and positions[end] // SLOT == positions[end - 1] // SLOT and positions[end] < LAST:
        end += 1
    while end < len(positions) and positions[end] == positions[end - 1]:
        end += 1
    return end


class Page:
    """The records that match a filter: how to make the events of each, by the stored id of its first message."""

    def __init__(self, store: Store, session_id: str, where: str | None) -> None:
        self._store, self._session_id = store, session_id
        self.size = 0  # bytes of text and payloads
        messages = with_micros(self._rows(MESSAGES, _MESSAGE, where), "timestamp")
        messages.sort(key=lambda row: (row["position"], row["id"]))
        parts: dict[str, list[JsonObject]] = {}
        for row in self._parts(where):
            parts.setdefault(row["message_id"], []).append(row)
        self.records: dict[str, Callable[[], list[JsonObject]]] = {
            rows[0]["id"]: partial(_events, session_id, rows, parts) for rows in _records(messages)
        }

    def _rows(self, table: Table, columns: tuple[str, ...], where: str | None, row_ids: bool = False) -> Json:
        found = read.rows(self._store, table, columns, where, row_ids=row_ids)
        self.size += found.nbytes
        return found

    def _parts(self, where: str | None) -> list[JsonObject]:
        rows: list[JsonObject] = self._rows(PARTS, _PART, where, row_ids=True).to_pylist()
        rows.sort(key=lambda row: (row["position"], row["ordinal"], row["id"]))
        packed = [row for row in rows if row["payloads"] is not None]
        for row, data in zip(packed, _payloads(self._store, self._session_id, packed), strict=True):
            row["data"] = data
            self.size += len(data)
        return rows


def _records(messages: list[JsonObject]) -> Iterator[list[JsonObject]]:
    """Yield the messages of each record: every message that does not continue another begins one."""
    for _, rows in groupby(messages, key=lambda row: _slot(row["position"])):
        records: list[list[JsonObject]] = []
        for row in rows:
            if records and _goes_on(row):
                _owner(row, records).append(row)
            else:
                records.append([row])
        yield from records


def _slot(position: int) -> int:
    return position if position >= LAST else position // SLOT


def _owner(row: JsonObject, records: list[list[JsonObject]]) -> list[JsonObject]:
    """Return the record that a message continues: two sources of a session may have filled the same place."""
    named = [record for record in records if row["id"].startswith(record[0]["id"])]
    return max(named or records[-1:], key=lambda record: len(record[0]["id"]))


def _goes_on(row: JsonObject) -> bool:
    # The text is searched first: few match, and decoding takes longer.
    return _GOES_ON in row["options"] and continues_record({"options": decode_stored(row["options"])})


def first_messages(store: Store, session_ids: Sequence[str]) -> dict[str, list[JsonObject]]:
    """Return the first message of each of these sessions, ids as stored: it tells a subagent's session from a fork."""
    here = predicate.all_of(predicate.one_of("session_id", session_ids), "position = 0")
    rows = with_micros(read.rows(store, MESSAGES, ("session_id", *_MESSAGE), here), "timestamp")
    found = {row["session_id"]: [_message_event(from_stored(row["session_id"]), row)] for row in rows}
    for id in session_ids:
        if id not in found and (events := opening(store, from_stored(id))) is not None:
            found[id] = events
    return found


def opening(store: Store, session_id: str) -> list[JsonObject] | None:
    """Return the events of a session's first record, or None if it has none."""
    here = predicate.equals("session_id", stored_id(session_id))
    first = read.rows(store, MESSAGES, ["position"], here, order=["position"], limit=1)["position"].to_pylist()
    if not first:
        return None
    return next(iter(Page(store, session_id, _records_at(here, first[0], 1)).records.values()))()


def last_record(store: Store, session_id: str) -> str:
    """Return the id of the last record of a session's own log; empty where it has none."""
    here = predicate.equals("session_id", stored_id(session_id))
    log = predicate.all_of(here, f"position < {LAST} AND position % {SLOT} = 0")
    rows = read.rows(store, MESSAGES, ["id", "position"], log)
    last = max(zip(rows["position"].to_pylist(), rows["id"].to_pylist(), strict=True), default=(0, ""))
    return from_stored(last[1])


class EarlierRecords:
    """Returns a session's records again, by the id of the first message; raises KeyError for an unknown one.

    A caller that asks for one asks for its neighbours next (a branch is walked, a copied beginning repeated), so they
    are read together.
    """

    def __init__(self, store: Store, session_id: str) -> None:
        self._store, self._session_id = store, session_id
        self._read: deque[Page] = deque(maxlen=_REMEMBERED)

    def __call__(self, message_id: str) -> list[JsonObject]:
        wanted = stored_id(message_id)
        page = next((page for page in self._read if wanted in page.records), None)
        if page is None:
            self._read.appendleft(page := self._near(wanted))
        return page.records[wanted]()  # made again: the caller may change events

    def _near(self, wanted: str) -> Page:
        here = predicate.equals("session_id", stored_id(self._session_id))
        where = predicate.all_of(here, predicate.equals("id", wanted))
        positions = read.rows(self._store, MESSAGES, ["position"], where)["position"].to_pylist()
        if not positions:
            raise KeyError(wanted)
        return Page(self._store, self._session_id, _records_at(here, positions[0], _NEIGHBOURS))


def _records_at(here: str, position: int, count: int) -> str | None:
    """Return a filter for the record at a position and the others of its `count` places; a file is on its own."""
    if position >= LAST:
        return predicate.all_of(here, f"position = {position}")
    span = count * SLOT
    first = position // span * span
    return predicate.all_of(here, f"position >= {first} AND position < {first + span}")


def _payloads(store: Store, session_id: str, rows: list[JsonObject]) -> list[bytes]:
    """Return the payload of each row; one that occurs more than once in the session is stored with the first.

    Raise SourceFault if one does not match its hash.
    """
    holders = {row["data_hash"]: row[read.ROW] for row in rows if row["data_size"] is not None}
    elsewhere = sorted({row["data_hash"] for row in rows} - holders.keys())
    if elsewhere:
        here = predicate.equals("session_id", stored_id(session_id))
        where = predicate.all_of(here, predicate.one_of("data_hash", elsewhere), "data_size IS NOT NULL")
        found = read.rows(store, PARTS, ["data_hash"], where, row_ids=True)
        holders |= dict(zip(found["data_hash"].to_pylist(), found[read.ROW].to_pylist(), strict=True))
    hashes = sorted(holders.keys() & {row["data_hash"] for row in rows})
    data = dict(zip(hashes, read.blobs(store, PARTS, "data", [holders[h] for h in hashes]), strict=True))
    first = {row["data_hash"]: row["id"] for row in reversed(rows)}
    whole = {digest: named_by(digest, data.get(digest), stored_id(session_id), id) for digest, id in first.items()}
    return [whole[row["data_hash"]] for row in rows]


def _events(session_id: str, rows: list[JsonObject], parts: dict[str, list[JsonObject]]) -> list[JsonObject]:
    """Return the events of one record: each message followed by its parts, with payloads in place."""
    events: list[JsonObject] = []
    texts: dict[tuple[int, int], str] = {}
    waiting: list[tuple[JsonObject, list[Json]]] = []
    number = 0
    for row in rows:
        message = _message_event(session_id, row)
        events.append(message)
        if row["payloads"] is not None:
            waiting.append((message, decode_stored(row["payloads"])))
        for part in parts.get(row["id"], ()):
            event, locations = _part_event(session_id, message["id"], part)
            texts |= {(number, index): text for index, text in enumerate(texts_at(event, locations))}
            events.append(event)
            number += 1
    for message, locations in waiting:
        message["options"] = unpack_known(message["options"], locations, texts)
    return events


def _session_event(row: JsonObject) -> JsonObject:
    event: JsonObject = {"kind": "session", "id": from_stored(row["id"])}
    for name in ("parent_session_id", "parent_message_id", "lineage_kind"):
        if row[name] is not None:
            event[name] = from_stored(row[name])
    event["source_agent"] = from_stored(row["source_agent"])
    fill_time(event, "created_at", row)
    event["project"] = from_stored(row["project"])
    event["options"] = decode_stored(row["options"])
    return event


def _message_event(session_id: str, row: JsonObject) -> JsonObject:
    event: JsonObject = {"kind": "message", "role": row["role"], "id": from_stored(row["id"]), "session_id": session_id}
    fill_time(event, "timestamp", row)
    if row["content"] is not None:
        event["content"] = from_stored(row["content"])
    event["options"] = decode_stored(row["options"])
    return event


def _part_event(session_id: str, message_id: str, row: JsonObject) -> tuple[JsonObject, list[Json]]:
    variant: JsonObject = decode_stored(row["variant_data"])
    locations: list[Json] = []
    if row["payloads"] is not None:
        locations = decode_stored(row["payloads"])
        variant = unpack(variant, row["data"], locations)
    event: JsonObject = {
        "kind": "part", "id": from_stored(row["id"]), "session_id": session_id, "message_id": message_id,
        "type": row["type"], **variant, "provenance": row["provenance"], "options": decode_stored(row["options"]),
    }  # fmt: skip
    return event, locations


def fill_time(event: JsonObject, name: str, row: JsonObject) -> None:
    """Fill in a time in its own spelling; an absent one stays absent."""
    if row[f"{name}_text"] is not None:
        event[name] = from_stored(row[f"{name}_text"])
    elif row[name] is not None:
        event[name] = from_micros(row[name])


def with_micros(table: Json, column: str) -> list[JsonObject]:
    """Return the rows with a time in microseconds: Python's own type for it is slow to make."""
    index = table.schema.get_field_index(column)
    rows: list[JsonObject] = table.set_column(index, column, table[column].cast("int64")).to_pylist()
    return rows
