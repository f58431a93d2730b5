"""Canonical JSONL: one event a line. Reading it gives sessions with their messages, grouped by source record."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from pond.codec.lines import LineSource
from pond.codec.report import Report
from pond.codec.source import whole_line
from pond.model.event_shape import shaped
from pond.model.json_text import EVENT_DEPTH, JsonObject, NotJson, decode
from pond.model.validate import Validator

_KINDS = ("session", "message", "part")


class CanonicalReader:
    """The sessions of a canonical stream, one after the other.

    What does not pass the validator is reported and left out: of an event its record, of a session all of it.
    """

    def __init__(self, source: LineSource, report: Report) -> None:
        self.source, self.report = source, report
        self._events = self._read()
        self._validator = Validator()
        self._next: JsonObject | None = None  # the session row that ended the session before it
        self._number = self._offset = 0
        self._shaped = False  # the event read last was found to be sound in itself while it was decoded
        self._places: dict[tuple[str, str], int] | None = None

    def sessions(self) -> Iterator[tuple[JsonObject, Iterator[list[JsonObject]]]]:
        """Yield each session with an iterator over its records' events; what is left of one is skipped."""
        self._seek()
        while (session := self._sound_session()) is not None:
            groups = self._groups(session)
            yield session, groups
            for _ in groups:
                pass

    def _seek(self) -> None:
        """Read up to the first session; whatever stands before it belongs to nobody."""
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
                    continue  # it belongs to nobody here
                fits = not faults
            if kind == "part":
                group.append(event)
                sound = sound and fits
                continue
            message_id = event.get("id")
            if group and _continues(event):
                group.append(event)
                sound = sound and fits
                continue
            if group and sound:
                self.report.records += 1
                yield group
            group, sound = [event], fits
        if group and sound:
            self.report.records += 1
            yield group

    def _read(self) -> Iterator[JsonObject]:
        """Yield the events; `_shaped` tells of each whether it was found to be sound in itself while it was decoded."""
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
        """Return the event of any line, or None where it has none, which is told."""
        report, name, number = self.report, self.source.name, self._number

        def duplicate(key: str) -> None:
            report.error("source-duplicate-key", f"`{key}` stands twice in one object", name, number)

        try:
            event = decode(line, duplicate, EVENT_DEPTH)
        except NotJson as error:
            report.error(error.code, str(error), name, number)
            return None
        if type(event) is dict and event.get("kind") in _KINDS:
            return event
        self._broken("expected an event with `kind` session, message or part")
        return None

    def place(self) -> tuple[int, int]:
        """Return the offset and the line of the event being read."""
        return self._offset, self._number

    def recall(self, session_id: str, message_id: str) -> list[JsonObject]:
        """Return the events of an earlier message again; only a stream with repeated records is ever read twice."""
        if self._places is None:
            self._places = self._index(set())
        if (session_id, message_id) not in self._places:
            self._places |= self._index({message_id})
        events: list[JsonObject] = []
        for _, line in self.source.lines_from(self._places[session_id, message_id]):
            try:
                event = decode(line, _ignore, EVENT_DEPTH)
            except NotJson:
                continue  # reported when it was read in its turn
            if type(event) is not dict or event.get("kind") not in _KINDS:
                continue
            if events and (event["kind"] == "session" or (event["kind"] == "message" and not _continues(event))):
                break
            events.append(event)
        return events

    def _index(self, wanted: set[str]) -> dict[tuple[str, str], int]:
        """Return where each message stands that is wanted, or that some repeat row refers to."""
        places: dict[tuple[str, str], int] = {}
        for collect in (True, False):
            for offset, line in self.source.lines_from(0):
                if collect and b'"repeat_of"' not in line:
                    continue
                try:
                    event = decode(line, _ignore, EVENT_DEPTH)
                    repeat = event["options"].get("pond", {}).get("repeat_of")
                    if repeat is not None:
                        wanted.add(repeat)
                    elif event["kind"] == "message" and event["id"] in wanted:
                        places.setdefault((event["session_id"], event["id"]), offset)
                except (NotJson, KeyError, TypeError, AttributeError):
                    continue  # reported when it was read in its turn
        return places

    def _broken(self, reason: str) -> None:
        self.report.error("canonical-broken", reason, self.source.name, self._number)


def _ignore(_: str) -> None:
    """Duplicate keys are reported when the line is read in its turn."""


def _continues(event: JsonObject) -> bool:
    options = event.get("options")
    pond = options.get("pond") if type(options) is dict else None
    return type(pond) is dict and pond.get("with") is True
