"""A client of a pond server: its operations as typed methods, with retries by error code.

    from pond.client import Client

    with Client("http://127.0.0.1:8765") as pond:
        for hits in pond.search("flaky test", limit=5)["sessions"]: ...

`AsyncClient` is the same for programs that run an event loop.
"""

from pond.client.asynchronous import AsyncClient
from pond.client.errors import ServerError, Unreachable
from pond.client.retrying import Retries
from pond.client.streaming import StreamedEvent
from pond.client.synchronous import Client

__all__ = ["AsyncClient", "Client", "Retries", "ServerError", "StreamedEvent", "Unreachable"]
