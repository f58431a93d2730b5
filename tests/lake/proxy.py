"""A proxy on loopback before the S3 server that spoils a share of the answers, by a seeded plan."""

import http.client
import random
import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER_LIMIT = 30.0  # seconds that the server behind may take
_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"}
_SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


class Fault(StrEnum):
    """What may happen to a request."""

    SLOW_DOWN = "slow down"  # 503, not forwarded
    DROP = "drop"  # not forwarded, the connection is closed in good order
    RESET = "reset"  # not forwarded, the connection is reset
    LOSE = "lose"  # forwarded and done, but nobody is told: the ambiguous commit
    CUT = "cut"  # forwarded and done, half of the answer is told
    DELAY = "delay"  # forwarded and answered, late


@dataclass
class Plan:
    """Which requests are spoilt, and how: by `shares` of the requests whose `METHOD /path?query` matches `only`.

    The draws are the same for the same seed; which request meets which draw is up to the order of arrival.
    """

    shares: Mapping[Fault, float]
    seed: int = 0
    only: str = ""
    at_most: int | None = None
    delay: float = 0.5  # seconds
    _random: random.Random = field(init=False)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def draw(self, request: str) -> Fault | None:
        """Return what is to happen to the next request."""
        if not re.search(self.only, request):
            return None
        with self._lock:
            if self.at_most == 0:
                return None
            names = [*self.shares, None]
            weights = [*self.shares.values(), 1 - sum(self.shares.values())]
            fault = self._random.choices(names, weights)[0]
            if fault is not None and self.at_most is not None:
                self.at_most -= 1
            return fault


@dataclass(frozen=True)
class Exchange:
    """What became of one request: the server's status where it was forwarded, and the fault where there was one."""

    request: str
    status: int | None
    fault: Fault | None


class Proxy(ThreadingHTTPServer):
    """The proxy; `exchanges` is what went through it, in the order of ending. Without a plan it changes nothing."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, upstream: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = upstream
        self.plan: Plan | None = None
        self.exchanges: list[Exchange] = []

    @contextmanager
    def spoiling(self, plan: Plan) -> Iterator[None]:
        """Follow `plan` until the end of the block."""
        self.plan = plan
        try:
            yield
        finally:
            self.plan = None

    def faults(self) -> Counter[Fault]:
        """Count the faults done so far."""
        return Counter(each.fault for each in self.exchanges if each.fault is not None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about clients that hang up, and about a server that is ended before its proxy."""


@contextmanager
def proxying(upstream: int) -> Iterator[Proxy]:
    """Stand before the server at port `upstream`."""
    proxy = Proxy(upstream)
    threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield proxy
    finally:
        proxy.shutdown()
        proxy.server_close()


@dataclass(frozen=True)
class _Answer:
    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def log_message(self, *_: Any) -> None:
        """Keep quiet: the exchanges are kept, not logged."""

    def _handle(self) -> None:
        """Take one request through the proxy."""
        body = self._body()  # also where it is not forwarded: the next request of the connection follows it
        request = f"{self.command} {self.path}"
        plan = self.server.plan
        fault = plan.draw(request) if plan is not None else None
        answer = None if fault in (Fault.SLOW_DOWN, Fault.DROP, Fault.RESET) else self._forward(body)
        self.server.exchanges.append(Exchange(request, answer.status if answer else None, fault))
        match fault:
            case Fault.SLOW_DOWN:
                self._send(_Answer(503, "Slow Down", [("Content-Type", "application/xml")], _SLOW_DOWN))
            case Fault.DROP | Fault.LOSE:
                self.close_connection = True
            case Fault.RESET:
                self._reset()
            case Fault.CUT if answer is not None:
                self._cut(answer)
            case _ if answer is not None:
                time.sleep(plan.delay if plan is not None and fault is Fault.DELAY else 0)
                self._send(answer)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _handle  # noqa: N815

    def _body(self) -> bytes:
        if "chunked" in (self.headers.get("Transfer-Encoding") or "").lower():
            return b"".join(self._chunks())
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline() not in (b"\r\n", b"\n", b""):
            pass

    def _forward(self, body: bytes) -> _Answer:
        """Ask the server behind, with the headers as they came: the signature speaks of them."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.upstream, timeout=ANSWER_LIMIT)
        try:
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ("connection", "transfer-encoding", "content-length", "expect"):
                    connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in _HOP]
        length = answer.getheader("Content-Length") if self.command == "HEAD" else None
        return _Answer(
            answer.status, answer.reason, [*headers, *([("Content-Length", length)] if length else [])], content
        )

    def _head(self, answer: _Answer) -> bytes:
        lines = [f"HTTP/1.1 {answer.status} {answer.reason}", *(f"{name}: {value}" for name, value in answer.headers)]
        if self.command != "HEAD" and answer.status not in (204, 304):
            lines.append(f"Content-Length: {len(answer.body)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _send(self, answer: _Answer) -> None:
        self.wfile.write(self._head(answer) + (b"" if self.command == "HEAD" else answer.body))

    def _cut(self, answer: _Answer) -> None:
        """Send the first half of the body, or of the head where there is no body."""
        head = self._head(answer)
        self.wfile.write(head + answer.body[: len(answer.body) // 2] if answer.body else head[: len(head) // 2])
        self.close_connection = True

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
