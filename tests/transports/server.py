"""A real `pond serve` in a process of its own, and plain HTTP to it."""

import http.client
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.command import POND, environment, pond

PATIENCE = 120.0  # seconds; only a hang is that slow


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def reason(self) -> str:
        """The reason of an error."""
        return str(self.json["error"]["details"]["reason"])


class _Unix(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=PATIENCE)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self._path)


@dataclass
class Server:
    """A running server."""

    process: subprocess.Popen[bytes]
    place: str  # as it says itself where it listens

    @property
    def port(self) -> int:
        return int(self.place.rpartition(":")[2])

    def connection(self) -> http.client.HTTPConnection:
        """Return a connection of its own."""
        if self.place.startswith("unix:"):
            return _Unix(self.place.removeprefix("unix:"))
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """Send one request."""
        connection = self.connection()
        try:
            return asked(connection, method, path, body, **headers)
        finally:
            connection.close()

    def post(self, path: str, _body: object = None, **fields: object) -> Answer:
        """Send a JSON body; the protocol version is put into an object of fields."""
        body = {"protocol_version": 1, **fields} if _body is None else _body
        return self.ask("POST", path, json.dumps(body).encode(), **{"content-type": "application/json"})

    def get(self, path: str, **headers: str) -> Answer:
        """Fetch something, with the protocol version."""
        return self.ask("GET", path, None, **{"x-pond-protocol-version": "1", **headers})

    def ingest(self, events: list[Any], **fields: object) -> Any:
        """Store events; every one of them must be taken."""
        answer = self.post("/v1/ingest", events=events, **fields)
        assert answer.status == 200, answer.content
        return answer.json

    def stop(self) -> int:
        """Tell it to stop; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


def asked(
    connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None = None, **headers: str
) -> Answer:
    """Send one request over a connection."""
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    content = response.read()
    return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, content)


def settled(lake: Path, *sessions: list[Any]) -> None:
    """Store sessions, and do all that would be done about them later: what search says does not change any more."""
    with serving(lake) as server:
        for events in sessions:
            server.ingest(events)
        assert server.stop() == 0
    assert pond("optimize", "--lake", lake).code == 0


@contextmanager
def serving(
    lake: Path, *arguments: str, port: int | None = 0, variables: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """Run a server whose runtime directory and pods are beside the lake; it is ended with the test, at the latest."""
    words = [*POND, "serve", "--lake", str(lake), *(["--port", str(port)] if port is not None else []), *arguments]
    runtime = lake.parent / "run"
    runtime.mkdir(mode=0o700, exist_ok=True)
    own = {"XDG_CONFIG_HOME": "/nonexistent", "XDG_RUNTIME_DIR": str(runtime)}
    own |= {"POND_PODS_ROOT": str(lake.parent / "pods"), **(variables or {})}
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**own)
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode().split()
        if not line:
            raise AssertionError(f"no server: {process.communicate()[1].decode()}")
        yield Server(process, line[1])
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
