"""Canonical JSONL: one event a line. Reading it gives sessions with their messages, grouped by source record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from pond.codec.report import Report
from pond.codec.source import LineSource
from pond.model.json_text import MAX_DEPTH, Json, JsonObject, NotJson, decode

T = TypeVar("T")
# A record of MAX_DEPTH levels lies a few levels deeper inside its event.
_DEPTH = MAX_DEPTH + 12


class CanonicalReader:
    """The sessions of a canonical stream, one after the other."""

    def __init__(self, source: LineSource, report: Report) -> None:
        self.source, self.report = source, report
        self.count = 0  # sessions in the stream
        self._repeated = self._look_ahead()
        self._offsets: dict[tuple[str, str], int] = {}

    def _look_ahead(self) -> set[str]:
        """Count the sessions; return the messages a later repeat row stands for: only their places need be remembered."""
        found: set[str] = set()
        for _, _, line in self.source.lines():
            if b'"kind":"session"' in line or b'"kind": "session"' in line:
                event = self._event(line, 0)
                self.count += event is not None and event["kind"] == "session"
            elif b'"repeat_of"' in line:
                event = self._event(line, 0)
                if event is not None:
                    found.add(str(event.get("options", {}).get("pond", {}).get("repeat_of")))
        return found

    def sessions(self) -> Iterator[tuple[JsonObject, Iterator[list[JsonObject]]]]:
        """Yield each session with an iterator over its records' events; use one up before taking the next."""
        events = _Pushback(self._events())
        while (head := next(events, None)) is not None:
            offset, number, event = head
            if event["kind"] != "session":
                self._broken(number, f"expected a session, found a {event['kind']}")
                continue
            if not _is_session(event):
                self._broken(number, "expected a session with id, project, source_agent and options")
                continue
            yield event, self._groups(event, events)

    def _groups(self, session: JsonObject, events: _Pushback[tuple[int, int, JsonObject]]) -> Iterator[list[JsonObject]]:
        group: list[JsonObject] = []
        message_id = ""
        for item in events:
            offset, number, event = item
            if event["kind"] == "session":
                events.push(item)
                break
            if event.get("session_id") != session["id"]:
                self._broken(number, f"expected session `{session['id']}`, found `{event.get('session_id')}`")
                continue
            if event["kind"] == "part":
                if not group or event.get("message_id") != message_id:
                    self._broken(number, f"the part's message `{event.get('message_id')}` is not the one before it")
                else:
                    group.append(event)
                continue
            message_id = event.get("id", "")
            if message_id in self._repeated:
                self._offsets.setdefault((session["id"], message_id), offset)
            if _continues(event) and group:
                group.append(event)
                continue
            if group:
                yield group
            group = [event]
        if group:
            yield group

    def recall(self, session_id: str, message_id: str) -> list[JsonObject]:
        """Return the events of a message that was read before, from the source again."""
        offset = self._offsets[session_id, message_id]
        events: list[JsonObject] = []
        for line in self.source.lines_from(offset):
            event = self._event(line, 0)
            if event is None or (events and (event["kind"] == "session" or (event["kind"] == "message" and not _continues(event)))):
                break
            events.append(event)
        return events

    def _events(self) -> Iterator[tuple[int, int, JsonObject]]:
        for offset, number, line in self.source.lines():
            event = self._event(line, number)
            if event is not None:
                yield offset, number, event

    def _event(self, line: bytes, number: int) -> JsonObject | None:
        def duplicate(key: str) -> None:
            if number:
                self.report.error("source-duplicate-key", f"`{key}` stands twice in one object", self.source.name, number)

        try:
            event: Json = decode(line, duplicate, _DEPTH)
        except NotJson as error:
            if number:
                self.report.error(error.code, str(error), self.source.name, number)
            return None
        if type(event) is dict and event.get("kind") in ("session", "message", "part") and type(event.get("options")) is dict:
            return event
        if number:
            self._broken(number, "expected an event with `kind` session, message or part and its `options`")
        return None

    def _broken(self, number: int, reason: str) -> None:
        self.report.error("canonical-broken", reason, self.source.name, number)


def _continues(event: JsonObject) -> bool:
    pond = event["options"].get("pond")
    return type(pond) is dict and pond.get("with") is True


def _is_session(event: JsonObject) -> bool:
    return all(type(event.get(name)) is str and event[name] for name in ("id", "project", "source_agent"))


class _Pushback(Iterator[T]):
    """An iterator that takes one item back."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._back: list[T] = []

    def __next__(self) -> T:
        return self._back.pop() if self._back else next(self._items)

    def push(self, item: T) -> None:
        self._back.append(item)

