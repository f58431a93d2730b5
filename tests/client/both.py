"""One way to ask both clients: a test is written once, and each client has to pass it."""

import asyncio
from collections.abc import Callable
from typing import Any

from pond.client import AsyncClient, Client, Retries

# Asks something of a client that it is given, of the kind that it was told to use.
Ask = Callable[..., Any]
HERE = "http://localhost"
QUICK = Retries(attempts=4, first=0.001, most=0.002)


def ask_sync(
    operation: str, url: str = "http://localhost", *, client: dict[str, Any] | None = None, **given: Any
) -> Any:
    """Ask the client that waits."""
    with Client(url, **{"retries": QUICK, **(client or {})}) as pond:
        return getattr(pond, operation)(**given)


def ask_async(
    operation: str, url: str = "http://localhost", *, client: dict[str, Any] | None = None, **given: Any
) -> Any:
    """Ask the client of an event loop."""

    async def asking() -> Any:
        async with AsyncClient(url, **{"retries": QUICK, **(client or {})}) as pond:
            return await getattr(pond, operation)(**given)

    return asyncio.run(asking())


def events_sync(url: str, count: int, *, client: dict[str, Any] | None = None, **given: Any) -> list[Any]:
    """Take so many events."""
    with Client(url, **{"retries": QUICK, **(client or {})}) as pond:
        stream = pond.events(**given)
        return [next(stream) for _ in range(count)]


def events_async(url: str, count: int, *, client: dict[str, Any] | None = None, **given: Any) -> list[Any]:
    """Take so many events in an event loop."""

    async def taking() -> list[Any]:
        async with AsyncClient(url, **{"retries": QUICK, **(client or {})}) as pond:
            stream = pond.events(**given)
            found = [await anext(stream) for _ in range(count)]
            await stream.aclose()
            return found

    return asyncio.run(taking())


BOTH = {"sync": ask_sync, "async": ask_async}
BOTH_EVENTS = {"sync": events_sync, "async": events_async}
