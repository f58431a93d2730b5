"""What every request passes, whatever it asks for: a request id, the host and origin it names, the token it brings."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pond.diagnostics.failures import Failure
from pond.operations.failing import RequestError
from pond.transports.http.errors import error_response
from pond.transports.http.metrics import Metrics

REQUEST_ID = "x-pond-request-id"
_OPEN = ("/healthz",)  # what probes ask for, without a token
_HERE = frozenset(("localhost", "127.0.0.1", "::1"))
_SAFE = {"x-content-type-options": "nosniff", "cache-control": "no-store", "referrer-policy": "no-referrer"}

PATIENCE = 60.0  # seconds that a client may take to receive what it is sent

_MOST_REFUSALS = 100  # that one process logs

Log = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Admission:
    """Whom the server answers: the names it goes by beside its own address, and the token it wants, if any.

    `private` is a socket file that only its owner can reach: no token is wanted there.
    """

    hosts: frozenset[str] = frozenset()
    token: bytes | None = None
    private: str | None = None

    def is_private(self, scope: Scope) -> bool:
        """Tell whether a request came over the private socket."""
        return self.private is not None and tuple(scope.get("server") or ()) == (self.private, None)

    def refusal(self, scope: Scope) -> RequestError | None:
        """Return why a request is not answered, or None where it is."""
        headers = Headers(scope=scope)
        if not self._is_ours(headers, _address(scope)):
            what = "the server does not answer to the host or the origin that the request names"
            return RequestError(Failure.VALIDATION_FAILED, "forbidden-host", what)
        if self.token is None or scope["path"] in _OPEN or self.is_private(scope):
            return None
        scheme, _, found = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return RequestError(Failure.VALIDATION_FAILED, "missing-token", "a bearer token is needed")
        if not hmac.compare_digest(found.strip().encode("utf-8", "surrogatepass"), self.token):
            return RequestError(Failure.VALIDATION_FAILED, "wrong-token", "the bearer token is not the server's")
        return None

    def _is_ours(self, headers: Headers, address: str | None) -> bool:
        """Tell whether host and origin are this server: a name that somebody else made lead here is not.

        A socket file has no address, and is asked for by one of the names alone: a browser may come to it, too,
        through a forwarded port.
        """
        host = headers.get("host", "")
        name = _name(f"//{host}")
        if name is None or not (name in _HERE or name in self.hosts or _is_address(name, address)):
            return False
        origin = headers.get("origin")
        if origin is None:
            return True
        found = urlsplit(origin)
        return found.scheme in ("http", "https") and found.netloc.lower() == host.lower()


def _name(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _address(scope: Scope) -> str | None:
    """Return the address that a connection came in at; None for a socket file."""
    host, port = scope.get("server") or (None, None)
    return str(host) if port is not None else None


def _is_address(name: str, address: str | None) -> bool:
    """Tell whether a host is the address that the connection came in at."""
    if address is None:
        return False
    try:
        return ipaddress.ip_address(name) == ipaddress.ip_address(address)
    except ValueError:
        return name == address


class Guard:
    """Stands before the application: admits or refuses, names each request, counts it, and lets no exception out."""

    def __init__(self, app: ASGIApp, admission: Admission, metrics: Metrics, log: Log) -> None:
        self._app, self._admission, self._metrics, self._log = app, admission, metrics, log
        self._refusals = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        name, begun, status = uuid.uuid4().hex, time.perf_counter(), 0

        async def named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for key, value in _SAFE.items():
                    headers.setdefault(key, value)
                headers[REQUEST_ID] = name
            async with asyncio.timeout(PATIENCE):
                await send(message)

        scope["state"] |= {"request_id": name, "private": self._admission.is_private(scope)}
        with self._metrics.under_way():
            await self._answered(scope, receive, named, lambda: status)
        self._metrics.answered(scope, status, time.perf_counter() - begun)
        if status >= 500:
            self._log(f"request {name}: {scope['method']} {scope['path']} was answered with {status}")

    async def _answered(self, scope: Scope, receive: Receive, send: Send, status: Callable[[], int]) -> None:
        if (refusal := self._admission.refusal(scope)) is not None:
            if scope["path"] == "/mcp" and self._refusals < _MOST_REFUSALS:
                self._refusals += 1  # coding clients that are refused continue without pond and report nothing
                self._log(f"request {scope['state']['request_id']}: /mcp was refused: {refusal}")
            bearer = {"www-authenticate": "Bearer"} if "token" in str(refusal.details["reason"]) else {}
            await error_response(refusal, bearer)(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        except TimeoutError:
            return  # the client does not read; the connection is closed
        except Exception as error:
            self._log(f"request {scope['state']['request_id']}: {type(error).__name__}: {error}")
            if not status():
                await error_response(error)(scope, receive, send)
