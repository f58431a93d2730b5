"""The SDK on standard streams, from the first request that needs it."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from mcp.server.stdio import stdio_server

from pond.model.json_text import decode_stored
from pond.operations.service import Service
from pond.transports.mcp.asking import Asking, from_environment, from_meta
from pond.transports.mcp.calls import Calls
from pond.transports.mcp.server import Context, Desk
from pond.transports.mcp.stdio import REPLAYED, settings, write_line

_LONGEST_QUERY = 45.0  # seconds: a query ends by itself before the call has to
_FINISHING = 10.0  # seconds that calls may take after the client has closed its end
_MOST_LINES, _LONGEST = 5, 300  # of standard error: some clients never read it, and a full pipe blocks


def take_over(
    first: list[bytes], requests: BinaryIO, answers: BinaryIO, lake: str | None, environ: Mapping[str, str]
) -> None:
    """Answer the first requests and all that follow."""
    from pond.config.process import Role, become

    become(Role.SERVER)
    logging.getLogger().addHandler(logging.NullHandler())  # what libraries would say on standard error
    asyncio.run(_serve(first, requests, answers, lake, environ))


async def _serve(
    first: list[bytes], requests: BinaryIO, answers: BinaryIO, lake: str | None, environ: Mapping[str, str]
) -> None:
    pending = _Pending()
    sessions = from_environment(environ)

    def asking(context: Context) -> Asking:
        return Asking((*from_meta(context.meta), *sessions), local=True)

    log = _Log()
    service = _Once(lambda: _service(lake, environ))
    desk = Desk(service, Calls(log), asking, meaning=_is_embedded(service))
    server = desk.server()
    streams: Any = _Requests(first, requests, pending), _Answers(answers, pending)
    async with stdio_server(*streams) as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _service(lake: str | None, environ: Mapping[str, str]) -> Service:
    found = settings(lake)
    limited = replace(found.sql, seconds=min(found.sql.seconds, _LONGEST_QUERY))
    return Service(replace(found, sql=limited), environ)


def _is_embedded(service: Callable[[], Service]) -> bool:
    try:
        return service().settings.embed.model is not None
    except Exception:
        return False  # the call says what is wrong


class _Once:
    """Makes a service when it is first wanted; a failure is not kept, so that fixed settings are noticed."""

    def __init__(self, make: Callable[[], Service]) -> None:
        self._make, self._lock = make, threading.Lock()
        self._made: Service | None = None

    def __call__(self) -> Service:
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made


class _Pending:
    """The requests that have not been answered."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._none = asyncio.Event()

    def asked(self, line: str) -> None:
        if (id := _id_of(line, "method")) is not None:
            self._ids.add(id)

    def answered(self, line: str) -> None:
        self._ids.discard(_id_of(line, None) or "")
        if not self._ids:
            self._none.set()

    async def finished(self) -> None:
        """Wait until everything is answered, or for as long as is reasonable."""
        self._none.clear()
        if self._ids:
            try:
                await asyncio.wait_for(self._none.wait(), _FINISHING)
            except TimeoutError:
                return


def _id_of(line: str, member: str | None) -> str | None:
    """Return the id of a request or of an answer; None for what has none."""
    try:
        found = decode_stored(line)
    except Exception:
        return None
    is_meant = isinstance(found, dict) and "id" in found and (member in found if member else "method" not in found)
    return repr(found["id"]) if is_meant else None


class _Requests:
    """Lines for the SDK: those that were read before it had the word, then what comes."""

    def __init__(self, first: list[bytes], rest: BinaryIO, pending: _Pending) -> None:
        self._first, self._rest, self._pending = first, rest, pending

    async def __aiter__(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        coming: asyncio.Queue[bytes] = asyncio.Queue()

        def read() -> None:
            try:
                for line in self._rest:
                    loop.call_soon_threadsafe(coming.put_nowait, line)
                loop.call_soon_threadsafe(coming.put_nowait, b"")
            except (OSError, RuntimeError):
                os._exit(0)  # nobody is there any more

        threading.Thread(target=read, daemon=True).start()
        for line in self._first:
            yield self._noted(line)
        while line := await coming.get():
            if line.strip():
                yield self._noted(line)
        await self._pending.finished()

    def _noted(self, line: bytes) -> str:
        text = line.decode("utf-8", "replace")
        self._pending.asked(text)
        return text


class _Answers:
    """Lines of the SDK for the client, except the answer to a handshake that the client has had."""

    def __init__(self, out: BinaryIO, pending: _Pending) -> None:
        self._out, self._pending = out, pending

    async def write(self, text: str) -> None:
        if _id_of(text, None) != repr(REPLAYED):
            try:
                write_line(self._out, text.rstrip("\n"))
            except OSError:
                os._exit(0)  # the client is gone
        self._pending.answered(text)

    async def flush(self) -> None:
        return


class _Log:
    """A few short lines on standard error, and then no more."""

    def __init__(self) -> None:
        self._left = _MOST_LINES

    def __call__(self, line: str) -> None:
        from pond.diagnostics.visible import one_line_of

        if self._left > 0:
            self._left -= 1
            try:
                os.write(2, f"pond: {one_line_of(line)[:_LONGEST]}\n".encode("utf-8", "replace"))
            except OSError:
                self._left = 0
