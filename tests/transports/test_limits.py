"""Clients that are slow, silent or greedy: the server stays up, answers others, and lets go of them."""

import socket
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.transports.server import PATIENCE, Server, serving

HEAD = b"POST /v1/list HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("serving")
    with serving(place / "lake", variables={"POND_SERVE_CONNECTIONS": "20"}) as running:
        yield running


def _open(server: Server, sent: bytes = b"") -> socket.socket:
    found = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
    found.sendall(sent)
    return found


def _closed(connection: socket.socket) -> bytes:
    """Return what a connection still says before the server closes it."""
    heard = b""
    with suppress(ConnectionError):
        while more := connection.recv(4096):
            heard += more
    connection.close()
    return heard


def _is_well(server: Server) -> None:
    """Wait until the server has noticed that others are gone, and answers."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            assert server.get("/healthz").status == 200
            return
        except OSError:
            assert time.monotonic() < end


def test_half_a_request_is_not_waited_for(server: Server) -> None:
    silent, half, body = _open(server), _open(server, HEAD), _open(server, HEAD + b"content-length: 9\r\n\r\n{")
    assert server.get("/healthz").status == 200
    assert _closed(silent) == b""
    assert _closed(half) == b""
    assert b'"time-limit"' in _closed(body)


def test_headers_byte_by_byte_are_not_waited_for(server: Server) -> None:
    slow = _open(server)
    slow.settimeout(0.2)
    with suppress(OSError):
        for byte in HEAD * 10:
            slow.send(bytes([byte]))
            with suppress(TimeoutError):
                if slow.recv(1) == b"":
                    break
    slow.close()
    assert server.get("/healthz").status == 200


def test_too_many_connections_are_closed_and_then_taken_again(server: Server) -> None:
    crowd = [_open(server) for _ in range(40)]
    closed = 0
    for each in crowd[20:]:
        each.settimeout(PATIENCE)
        closed += _closed(each) == b""
    assert closed == 20
    for each in crowd[:20]:
        each.close()
    _is_well(server)


def test_a_client_that_goes_away_is_forgotten(server: Server) -> None:
    for _ in range(30):
        gone = _open(server, HEAD + b"content-length: 30\r\n\r\n" + b'{"protocol_version":1}')
        gone.close()
    _is_well(server)
