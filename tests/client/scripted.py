"""A server on loopback that answers with what it was told, one answer after the other, and remembers what was asked."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Scripted:
    """One answer; without a status the connection is closed instead."""

    status: int | None
    content: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("x-pond-request-id", "r1"),)


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    content: bytes


@dataclass
class Script:
    """What is left to answer, and what was asked."""

    answers: list[Scripted]
    url: str = ""
    asked: list[Asked] = field(default_factory=list)


def failing(status: int, code: str, **details: Any) -> Scripted:
    """Return an error in the shape of the wire."""
    error = {"code": code, "message": "It failed.", "details": details}
    return Scripted(status, json.dumps({"error": error}).encode())


def answering(value: object) -> Scripted:
    """Return a success."""
    return Scripted(200, json.dumps(value).encode())


@contextmanager
def scripted(*answers: Scripted) -> Iterator[Script]:
    """Serve the answers in order."""
    script = Script(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            script.asked.append(Asked(self.command, self.path, headers, content))
            answer = script.answers.pop(0)
            if answer.status is None:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
