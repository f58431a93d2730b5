"""Canonical JSONL: one event a line. Reading it gives sessions with their messages, grouped by source record."""

from __future__ import annotations

from collections.abc import Iterator

from pond.codec.report import Report
from pond.codec.source import LineSource
from pond.model.json_text import MAX_DEPTH, JsonObject, NotJson, decode
from pond.model.session_row import is_session

# A record of MAX_DEPTH levels lies a few levels deeper inside its event.
_DEPTH = MAX_DEPTH + 12
_KINDS = ("session", "message", "part")


class CanonicalReader:
    """The sessions of a canonical stream, one after the other."""

    def __init__(self, source: LineSource, report: Report) -> None:
        self.source, self.report = source, report
        self._lines = source.lines()
        self._next: JsonObject | None = None  # the session row that ended the session before it
        self._number = self._offset = 0
        self._places: dict[tuple[str, str], int] | None = None

    def sessions(self) -> Iterator[tuple[JsonObject, Iterator[list[JsonObject]]]]:
        """Yield each session with an iterator over its records' events; what is left of one is skipped."""
        for _ in self._stray():
            pass
        while (session := self._next) is not None:
            groups = self._groups(session)
            yield session, groups
            for _ in groups:
                pass

    def _stray(self) -> Iterator[None]:
        """Read up to the first session; whatever stands before it belongs to nobody."""
        for event in self._events():
            if event["kind"] == "session":
                self._next = event
                return
            self._broken(f"expected a session, found a {event['kind']}")
            yield

    def _groups(self, session: JsonObject) -> Iterator[list[JsonObject]]:
        self._next = None
        session_id = session["id"]
        group: list[JsonObject] = []
        message_id: object = None
        for event in self._events():
            if event["kind"] == "session":
                self._next = event
                break
            if event.get("session_id") != session_id:
                self._broken(f"expected session `{session_id}`, found `{event.get('session_id')}`")
            elif event["kind"] == "part":
                if message_id is None or event.get("message_id") != message_id:
                    self._broken(f"the part's message `{event.get('message_id')}` is not the one before it")
                else:
                    group.append(event)
            else:
                message_id = event.get("id")
                if group and _continues(event):
                    group.append(event)
                    continue
                if group:
                    yield group
                group = [event]
        if group:
            yield group

    def _events(self) -> Iterator[JsonObject]:
        report, name = self.report, self.source.name

        def duplicate(key: str) -> None:
            report.error("source-duplicate-key", f"`{key}` stands twice in one object", name, number)

        for offset, number, line in self._lines:
            self._offset, self._number = offset, number
            try:
                event = decode(line, duplicate, _DEPTH)
            except NotJson as error:
                report.error(error.code, str(error), name, number)
                continue
            if type(event) is not dict or event.get("kind") not in _KINDS or type(event.get("options")) is not dict:
                self._broken("expected an event with `kind` session, message or part and its `options`")
            elif event["kind"] == "session" and not is_session(event):
                self._broken("expected a session with id, project, source_agent and options")
            else:
                yield event

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
            event = decode(line, _ignore, _DEPTH)
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
                    event = decode(line, _ignore, _DEPTH)
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
    pond = event["options"].get("pond")
    return type(pond) is dict and pond.get("with") is True
