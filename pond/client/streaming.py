"""Server-sent events: bytes as they arrive -> the events of a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, cast

from pond.client.exchange import Sent, envelope
from pond.model.json_text import decode_stored

if TYPE_CHECKING:
    from pond.types import Event

_SILENCE = 60.0  # seconds; a server sends something more often


class StreamedEvent(NamedTuple):
    """An event of a session, and the id from which a later stream can continue."""

    id: str
    event: Event


class Stream:
    """The state of a stream: what has arrived of the next event, and the id of the last."""

    def __init__(self, session: str, after: str | None, payloads: str | None, namespace: str | None) -> None:
        self.last = after
        self._headers = envelope(namespace) | {"accept": "text/event-stream"}
        self._params = {"session": session} | ({"payloads": payloads} if payloads else {})
        self._pieces: list[bytes] = []
        self._fields: dict[bytes, bytes] = {}

    def request(self) -> Sent:
        """Return the request that starts the stream, or continues after the last event."""
        self._pieces, self._fields = [], {}
        after = {"last-event-id": self.last} if self.last is not None else {}
        return Sent("GET", "/v1/events", self._headers | after, self._params, timeout=_SILENCE)

    def feed(self, chunk: bytes) -> Iterator[StreamedEvent]:
        """Yield the events that these bytes complete."""
        # Split at line feeds only: a text may hold other characters that end lines elsewhere.
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            whole = b"".join([*self._pieces, line]).removesuffix(b"\r")
            self._pieces = []
            yield from self._line(whole)
        self._pieces.append(rest)

    def _line(self, line: bytes) -> Iterator[StreamedEvent]:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if line and name == b"data" and name in self._fields:
            self._fields[name] += b"\n" + value
        elif line:
            self._fields[name] = value
        elif b"data" in self._fields:
            self.last = self._fields.get(b"id", b"").decode()
            event = decode_stored(self._fields[b"data"].decode("utf-8", "surrogatepass"))
            self._fields = {}
            yield StreamedEvent(self.last, cast("Event", event))
