"""Canonical JSONL: one event per line. Reading it gives sessions with their messages, grouped by source record."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import count

from pond.codec.lines import LineSource
from pond.codec.reader import BESIDE
from pond.codec.registry import adapter, clients
from pond.codec.report import Report
from pond.codec.source import whole_line
from pond.codec.writer import SPECIAL
from pond.lang.runtime import LISTED
from pond.model.event_shape import shaped
from pond.model.instants import normalise
from pond.model.json_text import EVENT_DEPTH, JsonObject, NotJson, decode
from pond.model.marks import AS, MAP, POND, REPEAT_OF, SEQ, WITH, continues_record, marks_of
from pond.model.notices import NOTICE, is_notice
from pond.model.validate import Validator

_KINDS = ("session", "message", "part")
_NO_MARKS: JsonObject = {}
_MOST_RECORDS = 1 << 53  # of one session; no log is that long
_REPEATS = f'"{REPEAT_OF}"'.encode()


class CanonicalReader:
    """The sessions of a canonical stream, one after the other.

    What does not pass the validator is reported and left out: for a bad event its record, for a bad session all of it.
    """

    def __init__(self, source: LineSource, report: Report) -> None:
        self.source, self.report = source, report
        self._events = self._read()
        self._validator = Validator()
        self._next: JsonObject | None = None  # the session row that ended the session before it
        self._number = self._offset = 0
        self._shaped = False  # whether decoding already found the last event valid in itself
        self._offsets: dict[tuple[str, str], int] | None = None
        self._ends: dict[str, tuple[JsonObject, str]] | None = None

    def sessions(self) -> Iterator[tuple[JsonObject, Iterator[list[JsonObject]]]]:
        """Yield each session with an iterator over its records' events; the rest of an unfinished one is skipped."""
        self._seek()
        while (session := self._sound_session()) is not None:
            groups = self._groups(session)
            yield session, groups
            for _ in groups:
                pass

    def _seek(self) -> None:
        """Read up to the first session; anything before it belongs to no session."""
        for event in self._events:
            if event["kind"] == "session":
                self._next = event
                return
            self._broken(f"expected a session, found a {event['kind']}")

    def _sound_session(self) -> JsonObject | None:
        while (session := self._next) is not None and (faults := self._validator.faults(session)):
            for fault in faults:
                self._broken(f"{fault}; the session and what belongs to it are left out")
            self._next = next((event for event in self._events if event["kind"] == "session"), None)
        return session

    def _groups(self, session: JsonObject) -> Iterator[list[JsonObject]]:
        self._next = None
        group: list[JsonObject] = []
        message_id: object = None
        sound = True
        session_id, validator = session["id"], self._validator
        records = RecordMarks(session)
        for event in self._events:
            kind = event["kind"]
            if kind == "session":
                self._next = event
                break
            fits = self._shaped and validator.fits(event)
            if not fits:
                for fault in (faults := validator.faults(event)):
                    self._broken(str(fault))
                if event.get("session_id") != session_id or (kind == "part" and event.get("message_id") != message_id):
                    continue  # it belongs to no session here
                fits = not faults
            if kind == "part":
                group.append(event)
                sound = sound and fits
                continue
            message_id = event.get("id")
            if group and continues_record(event):
                group.append(event)
                sound = sound and fits
                continue
            if group and sound:
                self.report.records += 1
                yield group
            if fits and (why := records.misfit(event)) is not None:
                self._broken(why)
                fits = False
            group, sound = [event], fits
        if group and sound:
            self.report.records += 1
            yield group

    def _read(self) -> Iterator[JsonObject]:
        """Yield the events; `_shaped` tells for each whether decoding already found it valid in itself."""
        for first, offsets, block in self.source.blocks():
            for self._number, self._offset, raw in zip(count(first), offsets, block, strict=False):
                line = raw if raw[-2:] == b"}\n" else whole_line(raw)
                if line is None:
                    continue
                if (event := shaped(line)) is not None:
                    self._shaped = True
                    yield event
                elif (event := self._decoded(line)) is not None:
                    self._shaped = False
                    yield event

    def _decoded(self, line: bytes) -> JsonObject | None:
        """Return the event of a line; report and return None if it has none."""
        report, name, number = self.report, self.source.name, self._number

        def duplicate(key: str) -> None:
            report.error("source-duplicate-key", f"`{key}` is a duplicate key", name, number)

        try:
            event = decode(line, duplicate, EVENT_DEPTH)
        except NotJson as error:
            report.error(error.code, str(error), name, number)
            return None
        if type(event) is dict and event.get("kind") in _KINDS:
            normalise(event)
            return event
        self._broken("expected an event with `kind` session, message or part")
        return None

    def reached(self) -> tuple[int, int]:
        """Return the offset and the line of the event being read."""
        return self._offset, self._number

    def recall(self, session_id: str, message_id: str) -> list[JsonObject]:
        """Return the events of an earlier message again; only a stream with repeated records is ever read twice."""
        if self._offsets is None:
            self._offsets = self._index(set())
        if (session_id, message_id) not in self._offsets:
            self._offsets |= self._index({message_id})
        events: list[JsonObject] = []
        for _, line in self.source.lines_from(self._offsets[session_id, message_id]):
            try:
                event = decode(line, _ignore, EVENT_DEPTH)
            except NotJson:
                continue  # reported when it was read in its turn
            if type(event) is not dict or event.get("kind") not in _KINDS:
                continue
            if events and (event["kind"] == "session" or (event["kind"] == "message" and not continues_record(event))):
                break
            normalise(event)
            events.append(event)
        return events

    def ends(self) -> dict[str, tuple[JsonObject, str]]:
        """Return each session of the stream with its last record, in the order of its log; read once, when asked."""
        if self._ends is None:
            self._ends = _ends(self.source)
        return self._ends

    def _index(self, wanted: set[str]) -> dict[tuple[str, str], int]:
        """Return the places of messages that are wanted or that some repeat row refers to."""
        offsets: dict[tuple[str, str], int] = {}
        for collect in (True, False):
            for offset, line in self.source.lines_from(0):
                if collect and _REPEATS not in line:
                    continue
                try:
                    event = decode(line, _ignore, EVENT_DEPTH)
                    repeat = event["options"].get(POND, {}).get(REPEAT_OF)
                    if repeat is not None:
                        wanted.add(repeat)
                    elif event["kind"] == "message" and event["id"] in wanted:
                        offsets.setdefault((event["session_id"], event["id"]), offset)
                except (NotJson, KeyError, TypeError, AttributeError):
                    continue  # reported when it was read in its turn
        return offsets

    def _broken(self, reason: str) -> None:
        self.report.error("canonical-broken", reason, self.source.name, self._number)


def _ends(source: LineSource) -> dict[str, tuple[JsonObject, str]]:
    found: dict[str, tuple[JsonObject, str]] = {}
    last: dict[str, int] = {}
    for _, line in source.lines_from(0):
        try:
            event = decode(line, _ignore, EVENT_DEPTH)
        except NotJson:
            continue  # reported when it is read in its turn
        kind = event.get("kind") if type(event) is dict else None
        id, session_id = (event.get("id"), event.get("session_id")) if kind else (None, None)
        if kind == "session" and type(id) is str:
            found.setdefault(id, (event, ""))
        elif kind == "message" and type(id) is str and type(session_id) is str and session_id in found:
            place = _place(event, last.get(session_id, -1))
            if place is not None and place >= last.get(session_id, 0):
                last[session_id], found[session_id] = place, (found[session_id][0], id)
    return found


def _place(message: JsonObject, last: int) -> int | None:
    """Return the position in its log of the record that a message begins; None if it begins none there."""
    marks = marks_of(message.get("options"))
    if marks.get(WITH) is True or marks.get(AS) in (BESIDE, LISTED, NOTICE):
        return None
    seq = marks.get(SEQ)
    return seq if type(seq) is int else last + 1


class RecordMarks:
    """Tells whether a session's events can become its client's records again: either all of them are marked, or none.

    What would fail when it is written is refused when it is read. `first` are the options of the session's first
    message, if that was read before.
    """

    def __init__(self, session: JsonObject, first: JsonObject | None = None) -> None:
        self._client: str = session["source_agent"]
        self._marked: bool | None = True if MAP in marks_of(session["options"]) else None
        if self._marked is None and first is not None:
            self._marked = type(marks_of(first).get(AS)) is str
        self._labels = _labels(self._client)

    def misfit(self, message: JsonObject) -> str | None:
        """Return why the message that begins a record does not fit the session; None if it does."""
        marks = message["options"].get(POND, _NO_MARKS)
        if type(marks) is not dict:
            return "`options.pond`: expected an object"
        label = marks.get(AS)
        if self._marked is None:
            self._marked = type(label) is str
        if not self._marked:
            return None
        if type(label) is not str or (self._labels and label not in self._labels):
            return f"`options.pond.as`: expected a kind of record that {self._client} has, found {label!r}"
        if label == NOTICE and not is_notice(message):
            return "`options.pond.after`: expected how many records stand before a message of pond's own"
        position = marks.get(SEQ, 0)
        if type(position) is not int or not 0 <= position < _MOST_RECORDS:
            return "`options.pond.seq`: expected the place of the record in its log"
        return None


def _labels(client: str) -> Collection[str]:
    """Return the kinds of records that a client's mapping writes; none if the client is unknown here."""
    return {*adapter(client).module.WRITE, *SPECIAL} if client in clients() else ()


def _ignore(_: str) -> None:
    """Duplicate keys are reported when the line is read in its turn."""
