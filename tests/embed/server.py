"""A real server on loopback that speaks the embeddings protocol, honestly or not."""

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

POISON = "the text that no model takes"


def vector_of(text: str, dimensions: int) -> list[float]:
    """Return a vector that only depends on the text: words that two texts share bring them together."""
    total = np.zeros(dimensions)
    for word in text.lower().split() or [""]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        total += np.random.default_rng(seed).normal(size=dimensions)
    return [float(number) for number in total]


class Endpoint(ThreadingHTTPServer):
    """Answers as `mode` says; counts what it is asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.mode, self.dimensions, self.delay = "honest", 16, 0.0
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.failures = 0  # requests that are refused before one is answered
        self.texts: list[str] = []
        self.busy = 0  # requests that are being answered, also of clients that have gone
        self.stopping = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.server.busy += 1
        try:
            self._asked()
        finally:
            self.server.busy -= 1

    def _asked(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(asked)
        self.server.keys.append(self.headers.get("Authorization"))
        time.sleep(self.server.delay)
        if self.path != "/v1/embeddings":
            return self._answer(404, {})
        if self.server.failures:
            self.server.failures -= 1
            return self._answer(int(self.server.mode), {"error": {"message": "busy"}}, {"Retry-After": "0"})
        if POISON in asked["input"]:
            return self._answer(400, {"error": {"message": "this text is too much"}})
        return self._honest(asked) if self.server.mode == "honest" else self._dishonest(asked)

    def _honest(self, asked: dict[str, Any]) -> None:
        size = asked.get("dimensions", self.server.dimensions)
        self.server.texts += asked["input"]
        self._answer(200, {"data": self._data(asked["input"], size)})

    def _data(self, texts: list[str], size: int) -> list[dict[str, Any]]:
        # In another order than asked: the index says whose a vector is.
        return [{"index": at, "embedding": vector_of(text, size)} for at, text in enumerate(texts)][::-1]

    def _dishonest(self, asked: dict[str, Any]) -> None:
        data = self._data(asked["input"], self.server.dimensions)
        match self.server.mode:
            case "nan":
                data[0]["embedding"][0] = float("nan")
            case "zeros":
                data[0]["embedding"] = [0.0] * self.server.dimensions
            case "short":
                data[0]["embedding"] = data[0]["embedding"][:-1]
            case "other-dimensions":
                data = self._data(asked["input"], self.server.dimensions + len(self.server.requests))
            case "too-many":
                data.append({"index": len(data), "embedding": data[0]["embedding"]})
            case "too-few":
                data.pop()
            case "twice":
                data[-1]["index"] = data[0]["index"]
            case "words":
                data[0]["embedding"] = "AAAA"
            case "huge":
                data[0]["embedding"][0] = 10**400
            case "silence":
                self.server.stopping.wait(20)
            case "drips":
                return self._drip()
            case "breaks-off":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{")
                self.close_connection = True
                return None
            case "no-json":
                return self._answer(200, "<html>", {})
            case "redirects":
                return self._answer(302, {}, {"Location": "http://127.0.0.1:1/elsewhere"})
            case "forbidden":
                return self._answer(401, {"error": "no such key"})
        return self._answer(200, {"data": data})

    def _drip(self) -> None:
        """Promise an answer, and send a letter of it now and then."""
        self.close_connection = True
        with suppress(OSError):  # who asked has gone
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")
            while not self.server.stopping.wait(0.02):
                self.wfile.write(b" ")

    def _answer(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        text = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(text)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):  # who asked may have gone
            self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[Endpoint]:
    """Give a server that is gone in the end."""
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()
