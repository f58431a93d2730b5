"""Canonical events -> rows. Nothing here knows where rows are stored: it runs in the reading processes."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

import pyarrow as pa

from pond.model.json_text import Json, JsonObject, encode
from pond.model.marks import AS, SEQ, copied, marks_of
from pond.model.notices import NOTICE, follows
from pond.sessions.labels import UNKNOWN, Turn, held
from pond.sessions.payloads import Packed, pack, pack_known, texts_at
from pond.sessions.search_text import indexable, search_text
from pond.sessions.stored_text import from_micros, to_micros, to_stored
from pond.sessions.terms import RULES, terms

SLOT = 1 << 24  # places of one source record: its messages use the first half of them,
OWN = SLOT // 2  # and pond's own additions the other
LAST = 1 << 62  # the place of content in other files than the session's: after every possible record

_TIME = pa.timestamp("us", "UTC")
# The columns as readers send them: those of the tables, without what is filled in later.
MESSAGE = pa.schema(
    [
        ("session_id", pa.string()), ("id", pa.string()), ("position", pa.int64()), ("timestamp", _TIME),
        ("timestamp_text", pa.string()), ("role", pa.string()), ("source_agent", pa.string()),
        ("project", pa.string()), ("content", pa.string()), ("search_text", pa.string()), ("title", pa.string()),
        ("options", pa.string()), ("payloads", pa.string()), ("terms", pa.string()),
        ("copied_from", pa.string()), ("copied_id", pa.string()), ("elsewhere", pa.bool_()),
        ("labels", pa.list_(pa.string())), ("agent", pa.string()), ("rules", pa.int32()),
        ("searched", pa.bool_()),
    ]
)  # fmt: skip
PART = pa.schema(
    [
        ("session_id", pa.string()), ("message_id", pa.string()), ("id", pa.string()), ("position", pa.int64()),
        ("ordinal", pa.int32()), ("type", pa.string()), ("provenance", pa.string()), ("variant_data", pa.string()),
        ("options", pa.string()), ("payloads", pa.string()), ("data_hash", pa.string()), ("data_size", pa.int64()),
        ("data", pa.large_binary()),
    ]
)  # fmt: skip
_OWN = frozenset(("kind", "id", "session_id", "message_id", "type", "provenance", "options"))
_MAY_HOLD_PAYLOADS = ("file", "tool_result")
_PLAIN = len("2026-01-02T03:04:05.678Z")
_NOTHING = encode({})
_BESIDE = ("beside", "listed")  # labels of content in other files than the session's own
_WAITING = 8  # times the size of a chunk: the rows of a turn wait this long for its end
_LONGEST_KIND = 200
_SESSION_TEXTS = ("id", "parent_session_id", "parent_message_id", "lineage_kind")
STALE = 0  # instead of the rules: what is derived for a message, or others of its turn, must be derived again

Titler = Callable[[JsonObject], str | None]
AgentReader = Callable[[list[JsonObject]], str | None]


class Before(NamedTuple):
    """What the stored rows of a session say about those to come."""

    agent: str | None
    turn: Turn


def agent_text(kind: str | None) -> str | None:
    """Return the kind of an agent as it is stored."""
    return None if kind is None else indexable(kind)[:_LONGEST_KIND]


def session_row(event: JsonObject, ingested_at: int) -> JsonObject:
    """Return the row of a session."""
    micros, spelled = _time(event.get("created_at"))
    row: JsonObject = {name: _stored(event.get(name)) for name in _SESSION_TEXTS}
    row |= {"source_agent": to_stored(event["source_agent"]), "created_at": micros, "created_at_text": spelled}
    row |= {"project": to_stored(event["project"]), "options": encode(event["options"]), "ingested_at": ingested_at}
    return row


def without_own(part: JsonObject) -> JsonObject:
    """Return the fields of a part that only its type has: they may hold payloads."""
    return {name: value for name, value in part.items() if name not in _OWN}


def _stored(text: str | None) -> str | None:
    return None if text is None else to_stored(text)


def _time(text: str | None) -> tuple[int | None, str | None]:
    """Return the time, and the text if the time alone would be printed differently."""
    if text is None:
        return None, None
    micros = to_micros(text)
    if micros is None:
        return None, to_stored(text)
    # Times with milliseconds in UTC are printed as they came; that is nearly all of them.
    plain = len(text) == _PLAIN and text[10] == "T" and text[19] == "." and text[-1] == "Z"
    return micros, None if plain or from_micros(micros) == text else to_stored(text)


class Positions:
    """Where the records of a session belong: at their place in the log, or one after the other.

    `records` and `beside` say how many there already are: in its own log, and in files beside it.
    """

    def __init__(self, records: int = 0, beside: int = 0) -> None:
        self._next, self._beside = records, beside

    def of(self, head: JsonObject) -> int:
        """Return the position of a record, given its first event."""
        marks = marks_of(head["options"])
        seq, label = marks.get(SEQ), marks.get(AS)
        if label in _BESIDE:
            self._beside += 1
            return LAST + self._beside
        if label == NOTICE and (after := follows(head["options"])) is not None:
            return after * SLOT - OWN
        number = seq if type(seq) is int and 0 <= seq < SLOT else self._next
        self._next = max(self._next, number + 1)
        return number * SLOT


class Rows:
    """Collects the rows of one session's messages and parts.

    The rows of a turn are sent when it has ended, or is too long to wait for: then its labels are known. `agent_of` is
    called with the first record; `before` replaces it if a session continues after a stored record.
    """

    def __init__(
        self,
        session: JsonObject,
        title_of: Titler | None = None,
        after: int = 0,
        taken: frozenset[str] = frozenset(),
        agent_of: AgentReader | None = None,
        before: Before | None = None,
    ) -> None:
        self._session_id, self._agent = to_stored(session["id"]), to_stored(session["source_agent"])
        self._project = to_stored(session["project"])
        self._positions, self._title_of = Positions(), title_of
        self._first = after * SLOT  # this many records are already stored, whatever ids they have there
        self._taken = taken  # the ids that they have there
        self._hashes: set[str] = set()  # payloads of this session that have a row
        self._agent_of = agent_of if before is None else None
        before = before or Before(None, Turn())
        self.agent: str | None = before.agent  # the kind, where it is a subagent's
        self._turn = before.turn
        self._last, self._astray = 0, False  # the highest position so far; whether a record was out of order
        self._messages: list[tuple[Json, ...]] = []
        self._parts: list[tuple[Json, ...]] = []
        self._turns: list[tuple[Turn, list[str] | None]] = []  # turn, and own labels if searched
        self.size = 0  # bytes of text and payloads, roughly
        self._ended = (0, 0, 0)  # messages, parts and bytes of the turns before the current one

    def know_payloads(self, hashes: set[str]) -> None:
        """Note which payloads of the session are already stored: they are not stored a second time."""
        self._hashes |= hashes

    def __len__(self) -> int:
        return len(self._messages) + len(self._parts)

    def take(self, group: list[JsonObject], at: int | None = None) -> None:
        """Take the events of one source record: its messages, each followed by its parts; `at` is its place."""
        position = self._positions.of(group[0]) if at is None else at
        if position < LAST and position % SLOT >= OWN:  # pond's own: its id alone says whether it is already stored
            self._message(group[0], [], position, {}, 0)
            return
        if self._agent_of is not None:
            self.agent, self._agent_of = agent_text(self._agent_of(group)), None
        if position < self._first:
            self._hear_stored(group)
            return
        if position < self._last:
            self._astray, self._turn.known = True, UNKNOWN
        elif position < LAST:
            self._last = position
        if self._taken and position < LAST:  # the ids of files beside a session depend on their content
            group = _apart(group, self._taken)
        known: dict[str, tuple[int, int]] = {}
        parts: list[JsonObject] = []
        head = None
        number = 0
        for event in [*group, None]:
            if event is not None and event["kind"] == "part":
                parts.append(event)
                continue
            if head is not None:
                number = self._message(head, parts, position, known, number)
                position += 1
                parts = []
            head = event

    def take_part(self, part: JsonObject, position: int, ordinal: int) -> None:
        """Take a part of a message that is already stored, at its position; this many parts come before it."""
        self._part(part, to_stored(part["message_id"]), ordinal, position, {}, 0)

    def _hear_stored(self, group: list[JsonObject]) -> None:
        """Note a record whose rows are already stored: its turn may continue."""
        for event in group:
            if event["kind"] == "message":
                parts = [part for part in group if part["kind"] == "part" and part["message_id"] == event["id"]]
                if event["role"] == "user" and parts and search_text(event, parts) is not None:
                    self._turn = Turn()
                for part in parts:
                    self._turn.hear(part)
        self._turn.known = len(self._turn.labels)

    def _turn_of(self, role: str, searched: str | None, position: int) -> Turn:
        """Return the turn of a message: content of another file is in none, and a typed prompt begins one."""
        if position >= LAST:
            return Turn()
        if role == "user" and searched is not None:
            self._turn = Turn(known=UNKNOWN if self._astray else None)
            self._ended = (len(self._messages), len(self._parts), self.size)
        return self._turn

    def _message(
        self, event: JsonObject, parts: list[JsonObject], position: int, known: dict[str, tuple[int, int]], number: int
    ) -> int:
        message_id = to_stored(event["id"])
        role, content = event["role"], event.get("content")
        searched = search_text(event, parts) if parts else None
        turn = self._turn_of(role, searched, position)
        for ordinal, part in enumerate(parts):
            turn.hear(part)
            self._part(part, message_id, ordinal, position, known, number + ordinal)
        options = event["options"]
        locations = None
        if known and (found := pack_known(options, known)) is not None:
            options, locations = found[0], encode(found[1])
        text = encode(options)
        micros, spelled = _time(event.get("timestamp"))
        whose = copied(options) or (None, None)
        title = self._title_of(options) if self._title_of is not None and role == "system" else None
        self._messages.append(
            (
                self._session_id, message_id, position, micros, spelled, role, self._agent, self._project,
                None if content is None else to_stored(content), searched,
                None if title is None else to_stored(title), text, locations,
                None if searched is None else terms(searched), *map(_stored, whose),
                None if whose[0] is None else False,
            )
        )  # fmt: skip
        self._turns.append((turn, None if searched is None else held(parts)))
        self.size += len(text) + 200
        return number + len(parts)

    def _part(
        self, part: JsonObject, message_id: str, ordinal: int, position: int, known: dict[str, tuple[int, int]],
        number: int,
    ) -> None:  # fmt: skip
        kind, options = part["type"], part["options"]
        variant = without_own(part)
        locations = digest = size = data = None
        if kind in _MAY_HOLD_PAYLOADS and (packed := pack(variant)) is not None:
            for index, text in enumerate(texts_at(variant, packed.locations)):
                known.setdefault(text, (number, index))
            variant, locations = packed.value, encode(packed.locations)
            digest, size, data = self._payload(packed)
        fields = encode(variant)
        self._parts.append(
            (
                self._session_id, message_id, to_stored(part["id"]), position, ordinal, kind, part["provenance"],
                fields, encode(options) if options else _NOTHING, locations, digest, size, data,
            )
        )  # fmt: skip
        self.size += len(fields) + (size or 0) + 200

    def _payload(self, packed: Packed) -> tuple[str, int | None, bytes | None]:
        """Return the payload's hash, and its bytes if no row of the session has them yet."""
        digest = sha256(packed.data).hexdigest()
        if digest in self._hashes:
            return digest, None, None
        self._hashes.add(digest)
        return digest, len(packed.data), packed.data

    def due(self, rows: int, size: int) -> bool:
        """Tell whether enough rows or bytes of ended turns have collected, or far more of the current turn."""
        messages, parts, ended = self._ended
        if messages + parts >= rows or ended >= size:
            return True
        return len(self) >= _WAITING * rows or self.size >= _WAITING * size

    def cut(self) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """Return the rows of ended turns; if there are none, those of the current one."""
        messages, parts, size = self._ended
        if messages:
            made = self._out(messages, parts)
            self.size, self._ended = self.size - size, (0, 0, 0)
            return made
        self._turn.known = UNKNOWN  # later records may label these too
        return self.flush()

    def flush(self) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """Return the messages and parts since the last time: there are no more for now."""
        made = self._out(len(self._messages), len(self._parts))
        self.size, self._ended = 0, (0, 0, 0)
        return made

    def _out(self, messages: int, parts: int) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        turns, self._turns = self._turns[:messages], self._turns[messages:]
        rows, self._messages = self._messages[:messages], self._messages[messages:]
        derived = [
            (None if own is None else [*turn.labels, *own], self.agent, _rules(turn), own is not None)
            for turn, own in turns
        ]
        for turn, _ in turns:
            turn.known = len(turn.labels)
        given, self._parts = self._parts[:parts], self._parts[parts:]
        return _batch([(*row, *more) for row, more in zip(rows, derived, strict=True)], MESSAGE), _batch(given, PART)


def _rules(turn: Turn) -> int:
    """Return the rules by which a row is derived; STALE if earlier sent rows lack a label of its turn."""
    return STALE if turn.known is not None and len(turn.labels) != turn.known else RULES


def _apart(group: list[JsonObject], taken: frozenset[str]) -> list[JsonObject]:
    """Return the events of a record with ids that no stored message has.

    An id made from a record's text counts its occurrences. A copy that spells an equal record differently counts
    differently, and would give a new record the id of a stored one.
    """
    names: dict[str, str] = {}
    for event in group:
        if event["kind"] == "message" and event["id"] in taken:
            number = 2
            while (name := f"{event['id']}~{number}") in taken:
                number += 1
            names[event["id"]] = name
    return [_named(event, names) for event in group] if names else group


def _named(event: JsonObject, names: dict[str, str]) -> JsonObject:
    if event["kind"] == "message":
        return {**event, "id": names.get(event["id"], event["id"])}
    own = event["message_id"]
    return (
        {**event, "message_id": names[own], "id": names[own] + event["id"].removeprefix(own)} if own in names else event
    )


def _batch(rows: list[tuple[Json, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    return pa.record_batch([pa.array(c, type=f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)
