"""The client for programs that wait for their answers."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from pond.client._operations import Operation, SyncOperations
from pond.client.errors import ServerError, Unreachable
from pond.client.exchange import Reply, Sent, Server, call, conversation, envelope, refuse, value_of
from pond.client.retrying import DEFAULT, Retries
from pond.client.streaming import Stream, StreamedEvent

if TYPE_CHECKING:  # slow to import, so only the first client does it
    import httpx2


class Client(SyncOperations):
    """A pond server, at a URL or a socket file. Threads may share it.

    `http` sends the requests instead of our own connection, for proxies and certificates; it is not closed.
    """

    def __init__(
        self,
        url: str = "http://localhost",
        *,
        socket: str | None = None,
        namespace: str | None = None,
        token: str | None = None,
        timeout: float = 60.0,
        retries: Retries = DEFAULT,
        http: httpx2.Client | None = None,
    ) -> None:
        import httpx2

        transport = httpx2.HTTPTransport(uds=socket) if socket else None
        self._http = http or httpx2.Client(timeout=timeout, transport=transport)
        self._owned, self._broken = http is None, httpx2.TransportError
        self._server, self._timeout = Server(url.rstrip("/"), token), timeout
        self._namespace, self._retries = namespace, retries

    def close(self) -> None:
        """Close the connections."""
        if self._owned:
            self._http.close()

    def __enter__(self) -> Client:
        """Return the client; it is closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def blob(self, sha256: str) -> bytes:
        """Return the payload that an event refers to as `pond://blob/<sha256>`."""
        return self._talk(Sent("GET", f"/v1/blobs/{sha256}", envelope(self._namespace))).content

    def events(
        self, session: str, *, after: str | None = None, payloads: Literal["inline", "reference"] | None = None
    ) -> Generator[StreamedEvent, None, None]:
        """Yield the events of a session, then new ones as they come; a broken stream is resumed.

        after: The id of an event: those that follow it are yielded.

        payloads: `reference` gives the content of files as `pond://blob/<sha256>`, for `blob`.
        """
        stream, tried = Stream(session, after, payloads, self._namespace), 0
        while True:
            tried += 1
            try:
                with self._streaming(stream.request()) as chunks:
                    for chunk in chunks:
                        tried = 1
                        yield from stream.feed(chunk)
                raise Unreachable("the stream broke off", retry=True)
            except (ServerError, Unreachable) as error:
                pause = self._retries.pause(error, tried)
                if pause is None:
                    raise
            time.sleep(pause)

    def _call(self, operation: Operation, request: dict[str, Any]) -> Any:
        return value_of(self._talk(call(operation, request, self._namespace)))

    def _talk(self, sent: Sent) -> Reply:
        talk = conversation(sent, self._retries)
        step = next(talk)
        while True:
            try:
                step = talk.send(self._answered(step))
            except StopIteration as end:
                found: Reply = end.value
                return found
            except self._broken as error:
                step = talk.throw(self._server.unreachable(error))

    def _answered(self, step: Sent | float) -> Reply | None:
        if isinstance(step, float):
            time.sleep(step)
            return None
        found = self._http.send(self._request(step))
        return Reply(found.status_code, found.headers, found.content)

    @contextmanager
    def _streaming(self, sent: Sent) -> Iterator[Iterator[bytes]]:
        try:
            found = self._http.send(self._request(sent), stream=True)
            try:
                if found.status_code != 200:
                    refuse(Reply(found.status_code, found.headers, found.read()))
                yield found.iter_bytes()
            finally:
                found.close()
        except self._broken as error:
            raise self._server.unreachable(error) from None

    def _request(self, sent: Sent) -> httpx2.Request:
        url, headers, timeout = self._server.url + sent.path, self._server.headers(sent), sent.timeout or self._timeout
        return self._http.build_request(
            sent.method, url, params=sent.params, headers=headers, content=sent.content, timeout=timeout
        )
