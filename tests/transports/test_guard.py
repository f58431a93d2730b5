"""No route answers a web page: every path, on every listener, looks at the host and the origin first."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from pond.config.settings import Settings
from pond.operations.service import Service
from pond.transports.http.app import Application
from pond.transports.http.guard import Admission, Guard
from tests.transports.server import Server, serving

FOREIGN = [
    {"host": "evil.example"},
    {"host": "127.0.0.1.evil.example"},
    {"host": "localhost.evil.example:80"},
    {"host": "localhost@evil.example"},
    {"host": "[::"},
    {"host": ""},
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "file://"},
    {"host": "evil.example", "origin": "http://evil.example"},
]


def _paths() -> list[tuple[str, str]]:
    """Return the method and the path of every route that the application has, and of one that it has not."""
    application = Application(Service(Settings(lake="/nonexistent")), Admission(), lambda _: None)
    routed = cast("Starlette", cast("Guard", application.asgi)._app)
    routes = [cast("Route", each) for each in routed.routes]
    application.close()
    found = [(method, each.path) for each in routes for method in sorted(each.methods or {"GET", "POST", "DELETE"})]
    return [(method, path.format(sha256="0" * 64)) for method, path in found] + [("GET", "/none"), ("OPTIONS", "/")]


PATHS = _paths()


def test_the_walk_comes_by_every_kind_of_route() -> None:
    walked = {path for _, path in PATHS}
    assert walked >= {"/", "/docs", "/openapi.json", "/healthz", "/metrics", "/mcp", "/local/find", "/v1/events"}
    assert walked >= {f"/v1/{name}" for name in ("search", "get", "list", "ingest", "sql", "stats", "pods/change")}


@pytest.fixture(scope="module", params=["address", "socket", "private socket"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("serving")
    own = ["--socket", str(place / "own.sock")] if request.param == "socket" else []
    with serving(place / "lake", *own, port=None if own else 0) as running:
        if request.param == "private socket":
            (private,) = (place / "run" / "pond").glob("*.sock")
            running.place = f"unix:{private}"
        yield running


def _named(server: Server, headers: dict[str, str]) -> dict[str, str]:
    """Return headers whose host is the server's own, unless they say another."""
    own = "localhost" if server.place.startswith("unix:") else f"127.0.0.1:{server.port}"
    return {"host": own, **headers}


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_another_host_or_origin_is_refused_everywhere(server: Server, method: str, path: str) -> None:
    body = b"{}" if method == "POST" else None
    for headers in FOREIGN:
        answer = server.ask(method, path, body, **{"content-type": "application/json", **_named(server, headers)})
        assert answer.status == 400, headers
        if method != "HEAD":
            assert answer.reason == "forbidden-host", headers


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.0.0.1", "[::1]:80"])
def test_the_own_names_are_answered(server: Server, host: str) -> None:
    assert server.ask("GET", "/healthz", host=host).status == 200
    assert server.ask("GET", "/", host=host, origin=f"http://{host}").status == 200


def test_a_request_that_names_no_host_is_refused(server: Server) -> None:
    heard = _raw(server, b"GET /healthz HTTP/1.0\r\n\r\n")
    assert heard.startswith(b"HTTP/1.1 400")
    assert b'"forbidden-host"' in heard


def test_two_hosts_are_one_too_many(server: Server) -> None:
    heard = _raw(server, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n")
    assert heard.startswith(b"HTTP/1.1 400")


def test_a_name_of_the_settings_is_answered_on_a_socket_file(tmp_path: Path) -> None:
    """A gateway in front may send on the name that its clients know."""
    named: Any = {"POND_SERVE_HOSTS": "pond.example"}
    with serving(tmp_path / "lake", "--socket", str(tmp_path / "own.sock"), port=None, variables=named) as server:
        assert server.ask("GET", "/healthz", host="pond.example").status == 200
        assert server.ask("GET", "/healthz", host="evil.example").reason == "forbidden-host"


def _raw(server: Server, sent: bytes) -> bytes:
    connection = server.connection()
    connection.connect()
    found: socket.socket = connection.sock
    found.sendall(sent)
    heard = b""
    with suppress(ConnectionError):
        while b"\r\n\r\n" not in heard and (more := found.recv(4096)):
            heard += more
        heard += found.recv(4096) if b"}" not in heard else b""
    connection.close()
    return heard
