"""Where a server listens."""

import asyncio
import socket

from pond.transports.http.listening import on_address


def test_an_answer_does_not_wait_for_an_acknowledgement() -> None:
    """Headers and body leave at once: Nagle's algorithm is off on every connection."""
    seen: list[int] = []

    async def look(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async def connect() -> None:
        listening = on_address("127.0.0.1", 0)
        async with await asyncio.start_server(look, sock=listening):
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            await reader.read()
            writer.close()
            await writer.wait_closed()

    asyncio.run(connect())
    assert seen[0] != 0
