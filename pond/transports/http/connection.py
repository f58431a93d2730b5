"""One connection: how long a client may take, how much it may send, and what it hears when it speaks no HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pond.diagnostics.failures import Failure
from pond.model.json_text import encode
from pond.operations.failing import RequestError
from pond.transports.http.errors import JSON, error_body

MOST_HEADERS = 64 << 10  # bytes of a request line and its headers
PATIENCE = 10.0  # seconds that a client may take to send them
IDLE = 30.0  # seconds that a connection may wait for its next request


class Connection(H11Protocol):
    """A connection of uvicorn's with limits of its own."""

    most = 512  # connections at a time; `limited` sets it
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a connection, or close it at once where there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.close()
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what a client sends; a request that began has to be complete soon."""
        super().data_received(data)
        begun = self.conn.their_state is h11.IDLE
        if begun and self._waiting is None:
            self._wait()
        elif not begun:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection that is gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP request, in the shape that all errors have."""
        what = "expected an HTTP request with headers of 64 KB at most"
        _, body = error_body(RequestError(Failure.VALIDATION_FAILED, "bad-http", what))
        headers = [(b"content-type", JSON.encode()), (b"connection", b"close")]
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # it is being answered already
            return
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=encode(body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(PATIENCE, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def limited(most: int) -> type[Connection]:
    """Return connections of which there may be so many at a time."""
    return type("Connection", (Connection,), {"most": most})
