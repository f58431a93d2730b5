"""The events of a session as server-sent events: those that are stored, then each new one as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from pond.diagnostics.failures import Failure
from pond.model.json_text import JsonObject, encode
from pond.operations.events import EventReader
from pond.operations.failing import RequestError

_LOOK = 0.5  # seconds between two looks for new events
_SIGN_OF_LIFE = 15.0  # seconds of silence after which a comment says that the connection stands
_HEADERS = {"x-accel-buffering": "no"}  # what a gateway in front must not hold back

Page = list[tuple[str, JsonObject]]
InThread = Callable[[Callable[[], Page]], Awaitable[Page]]


class Readers:
    """The readers of one process: so many at most, and all of them let go when the server stops."""

    def __init__(self, most: int, in_thread: InThread) -> None:
        self._most, self._in_thread = most, in_thread
        self.count = 0
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Let everybody go."""
        self._stopping.set()

    async def response(self, reader: EventReader) -> StreamingResponse:
        """Return the stream of a session; raise before it begins where there is no such session, or no room."""
        if self.count >= self._most:
            what = f"{self._most} readers of events are connected, and there is no room for another"
            raise RequestError(Failure.STORAGE_UNAVAILABLE, "too-many-readers", what)
        self.count += 1
        try:
            first = await self._in_thread(reader.read)
        except BaseException:
            self.count -= 1
            raise
        return _Stream(self._stream(reader, first), self._gone)

    def _gone(self) -> None:
        self.count -= 1

    async def _stream(self, reader: EventReader, page: Page) -> AsyncIterator[bytes]:
        silent = 0.0
        while not self._stopping.is_set():
            for id, event in page:
                yield _event(id, event)
            if page:
                silent = 0.0
            elif silent >= _SIGN_OF_LIFE:
                yield b": waiting\n\n"
                silent = 0.0
            else:
                await self._pause()
                silent += _LOOK
            page = await self._in_thread(reader.read)

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._stopping.wait(), _LOOK)
        except TimeoutError:
            return


class _Stream(StreamingResponse):
    """A stream that says when it is over, however that came."""

    def __init__(self, content: AsyncIterator[bytes], over: Callable[[], None]) -> None:
        super().__init__(content, media_type="text/event-stream", headers=_HEADERS)
        self._over = over

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._over()


def _event(id: str, event: JsonObject) -> bytes:
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (id.encode(), event["kind"].encode(), encode(event))
