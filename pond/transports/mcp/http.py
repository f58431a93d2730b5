"""`/mcp` of `pond serve`: streamable HTTP without sessions, so that a restart of the server costs no client a call."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from pond.operations.service import Service
from pond.transports.mcp.asking import Asking, from_meta

if TYPE_CHECKING:  # the SDK takes a while to import: those who never ask for it do not wait for it
    from collections.abc import Callable

    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from pond.transports.mcp.calls import Calls
    from pond.transports.mcp.server import Context

NAMESPACE = "x-pond-namespace"


class Mcp:
    """An ASGI application; it loads the SDK with its first request."""

    def __init__(self, service: Service, log: Callable[[str], None]) -> None:
        self._service, self._log = service, log
        self._begun: asyncio.Task[StreamableHTTPSessionManager] | None = None
        self._stop = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._calls: Calls | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["route"] = "/mcp"
        if self._begun is None:
            self._begun = asyncio.create_task(self._begin())
        manager = await asyncio.shield(self._begun)
        await manager.handle_request(scope, receive, send)

    def stop(self) -> None:
        """Let go of every client."""
        self._stop.set()

    def close(self) -> None:
        """Begin nothing more."""
        if self._calls is not None:
            self._calls.close()

    async def _begin(self) -> StreamableHTTPSessionManager:
        manager = await asyncio.to_thread(self._made)
        started = asyncio.Event()
        self._running = asyncio.create_task(self._run(manager, started))
        await started.wait()
        return manager

    def _made(self) -> StreamableHTTPSessionManager:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        from pond.transports.mcp.calls import Calls
        from pond.transports.mcp.server import Desk

        self._calls = Calls(self._log)
        meaning = self._service.settings.embed.model is not None
        server = Desk(lambda: self._service, self._calls, _asking, meaning=meaning).server()
        # Hosts and origins are looked at before a request comes here.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        return StreamableHTTPSessionManager(server, stateless=True, security_settings=security)

    async def _run(self, manager: StreamableHTTPSessionManager, started: asyncio.Event) -> None:
        # Its task group begins and ends in one task.
        async with manager.run():
            started.set()
            await self._stop.wait()


def _asking(context: Context) -> Asking:
    """Return who asks: the server's own environment says nothing about its clients."""
    request = context.request
    namespace = request.headers.get(NAMESPACE) if request is not None else None
    return Asking(from_meta(context.meta), namespace)
