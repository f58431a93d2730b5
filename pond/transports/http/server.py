"""One serving process: it answers until it is told to stop, and then finishes what it has begun."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from pond.operations.service import Service
from pond.transports.http.app import Application
from pond.transports.http.connection import IDLE, MOST_HEADERS, limited
from pond.transports.http.guard import Admission, Log

FINISHING = 60  # seconds that requests may take after the server was told to stop
_EVERY = 15.0  # seconds between two looks at what is idle


class _Server(uvicorn.Server):
    """Uvicorn's server, which is told to stop by either signal and does not raise it again."""

    def __init__(self, config: uvicorn.Config, application: Application, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._application, self._ready = application, ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal; a second one does not wait for requests."""
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    async def main_loop(self) -> None:
        """Answer until told to stop."""
        self._ready()
        tidying = asyncio.create_task(self._tidy())
        try:
            await super().main_loop()
        finally:
            tidying.cancel()
            self._application.stopping()

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(_EVERY)
            self._application.tidy()


def serve(
    service: Service, admission: Admission, sockets: list[socket.socket], log: Log, ready: Callable[[], None]
) -> None:  # fmt: skip
    """Answer requests until a signal tells to stop; what was accepted is finished first. Call `ready` at the start."""
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())  # what it would say, we say or need not know
    logging.getLogger("uvicorn").propagate = False
    application = Application(service, admission, log)
    limits = service.settings.serve
    config = uvicorn.Config(
        application.asgi,
        http=limited(limits.connections),
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=int(IDLE),
        timeout_graceful_shutdown=FINISHING,
        h11_max_incomplete_event_size=MOST_HEADERS,
    )
    try:
        _Server(config, application, ready).run(sockets)
    finally:
        application.close()
