"""What the server answers, what it refuses, and that every refusal has the one shape."""

import json
import re
import socket
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from codegen.emit_schema import wire_bundle
from pond.diagnostics.failures import REASONS
from tests.cli.command import POND, environment
from tests.operations import invented
from tests.transports.server import Server, serving

EVENTS = [invented.session("oak"), *invented.said("oak", "m1", "the lamp of the lighthouse", at=1)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("serving") / "lake") as running:
        assert running.ingest(EVENTS)["sessions"][0]["stored"] == 3
        yield running


def test_what_went_in_comes_out(server: Server) -> None:
    found = server.post("/v1/search", query="lighthouse").json
    assert [hit["message_id"] for hit in found["hits"]] == ["m1"]
    page = server.post("/v1/get", session_id="oak", response_mode="verbatim").json
    assert page["messages"][0]["content"][0]["text"] == "the lamp of the lighthouse"
    assert [each["id"] for each in server.post("/v1/list").json["sessions"]] == ["oak"]
    assert server.get("/v1/stats").json["messages"] == 1
    assert server.post("/v1/sql", query="select count(*) as n from messages").json["rows"]


def test_the_same_events_again_are_no_new_ones(server: Server) -> None:
    (done,) = server.ingest(EVENTS)["sessions"]
    assert done == {"session_id": "oak", "stored": 0, "already_stored": 3, "rejected": 0}


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "reason"),
    [
        ("GET", "/nothing", None, {}, 404, "no-such-path"),
        ("GET", "/v1/search", None, {}, 400, "wrong-method"),
        ("DELETE", "/v1/get", None, {}, 400, "wrong-method"),
        ("POST", "/v1/get", b"{", {}, 400, "not-json"),
        ("POST", "/v1/get", b"", {}, 400, "not-json"),
        ("POST", "/v1/get", b'{"a":1,"a":2}', {}, 400, "not-json"),
        ("POST", "/v1/get", b"{}", {"content-type": "text/plain"}, 400, "not-json"),
        ("POST", "/v1/get", b"[]", {}, 400, "wrong-type"),
        ("POST", "/v1/get", b"{}", {}, 400, "missing-field"),
        ("POST", "/v1/get", b'{"protocol_version":2}', {}, 400, "protocol-version"),
        ("POST", "/v1/get", b'{"protocol_version":1}', {}, 400, "nothing-named"),
        ("POST", "/v1/get", b'{"protocol_version":1,"session_id":"elm"}', {}, 404, "no-such-id"),
        ("POST", "/v1/list", b'{"protocol_version":1,"namespace":"ada"}', {}, 403, "no-namespace"),
        ("POST", "/v1/list", b'{"protocol_version":1,"namespace":"../x"}', {}, 403, "no-namespace"),
        ("POST", "/v1/list", b'{"protocol_version":1}', {"x-pond-namespace": "ada"}, 403, "no-namespace"),
        ("POST", "/v1/list", b'{"protocol_version":1,"namespace":"a"}', {"x-pond-namespace": "b"}, 400, "wrong-value"),
        ("GET", "/v1/stats", None, {}, 400, "missing-field"),
        ("GET", "/v1/stats", None, {"x-pond-protocol-version": "one"}, 400, "wrong-type"),
        ("GET", "/v1/stats", None, {"x-pond-protocol-version": "7"}, 400, "protocol-version"),
        ("GET", "/", None, {"host": "evil.example"}, 400, "forbidden-host"),
        ("GET", "/", None, {"host": "127.0.0.1.evil.example"}, 400, "forbidden-host"),
        ("GET", "/healthz", None, {"host": "[::"}, 400, "forbidden-host"),
        ("GET", "/", None, {"origin": "http://evil.example"}, 400, "forbidden-host"),
        ("GET", "/", None, {"origin": "null"}, 400, "forbidden-host"),
        ("GET", "/", None, {"origin": "http://127.0.0.1:1"}, 400, "forbidden-host"),
    ],
)
def test_a_refusal_has_the_one_shape(
    server: Server, method: str, path: str, body: bytes | None, headers: dict[str, str], status: int, reason: str
) -> None:
    kind = {"content-type": "application/json"} if body is not None else {}
    answer = server.ask(method, path, body, **kind | headers)
    assert (answer.status, answer.reason) == (status, reason)
    Draft202012Validator({**wire_bundle(), "$ref": "#/$defs/ErrorResponse"}).validate(answer.json)
    assert answer.json["error"]["details"]["reason"] in REASONS
    assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["x-pond-request-id"])


def test_the_own_origin_is_let_in(server: Server) -> None:
    assert server.get("/", origin=f"http://127.0.0.1:{server.port}").status == 200
    assert server.ask("GET", "/", host="localhost").status == 200


def test_bodies_and_batches_have_an_end(server: Server) -> None:
    large = b" " * (8 << 20) + b"{}"
    assert server.ask("POST", "/v1/ingest", large, **{"content-type": "application/json"}).reason == "body-too-large"
    connection = server.connection()
    connection.putrequest("POST", "/v1/ingest")
    connection.putheader("transfer-encoding", "chunked")
    connection.endheaders()
    sent = 0
    with suppress(OSError):
        while sent < 200:
            connection.send(b"100000\r\n" + b" " * (1 << 20) + b"\r\n")
            sent += 1
    connection.close()
    assert sent < 200  # it is cut off before it has sent everything
    answer = server.post("/v1/ingest", events=[{}] * 10_001)
    assert (answer.reason, answer.json["error"]["details"]["most"]) == ("batch-too-large", 10_000)
    assert server.get("/healthz").status == 200


def test_every_answer_has_an_id_of_its_own(server: Server) -> None:
    ids = {server.get(path).headers["x-pond-request-id"] for path in ("/", "/healthz", "/nothing", "/v1/stats")}
    assert len(ids) == 4
    assert server.get("/", **{"x-pond-request-id": "mine"}).headers["x-pond-request-id"] != "mine"


def test_the_server_says_what_is_here(server: Server) -> None:
    about = server.get("/").json
    assert about["operations"]["/v1/search"] == ["POST"]
    assert server.get("/openapi.json").json["openapi"].startswith("3.1")
    page = server.get("/docs")
    assert "/v1/search" in page.content.decode()
    assert not re.search(r"(src|href)=['\"]?(https?:)?//", page.content.decode())
    assert "default-src 'none'" in page.headers["content-security-policy"]
    server.get("/made/up")
    figures = server.get("/metrics").content.decode()
    assert re.search(r'pond_requests_total\{method="GET",route="/docs",status="200"\} [1-9]', figures)
    assert "made" not in figures


def test_what_is_no_http_is_told_so(server: Server) -> None:
    for sent in (b"NONSENSE\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"x: " + b"y" * (80 << 10) + b"\r\n"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as raw:
            raw.sendall(sent)
            heard = b""
            while more := raw.recv(4096):
                heard += more
        assert heard.startswith(b"HTTP/1.1 400")
        assert json.loads(heard.partition(b"\r\n\r\n")[2])["error"]["details"]["reason"] == "bad-http"


def test_a_token_is_wanted_and_compared(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-token-of-some-length\n")
    with serving(tmp_path / "lake", "--token-file", str(token)) as server:
        assert server.get("/healthz").status == 200
        refused = server.get("/")
        assert (refused.status, refused.reason, refused.headers["www-authenticate"]) == (400, "missing-token", "Bearer")
        assert server.get("/", authorization="Bearer another-token-of-some").reason == "wrong-token"
        assert server.get("/", authorization="Bearer a-token-of-some-length").status == 200


@pytest.mark.parametrize("variables", [{"POND_TOKEN": "short"}, {"POND_SERVE_TOKEN_FILE": "/nonexistent/token"}])
def test_a_token_that_is_none_is_refused(tmp_path: Path, variables: dict[str, str]) -> None:
    words = [*POND, "serve", "--lake", str(tmp_path / "lake"), "--port", "0"]
    done = subprocess.run(words, env=environment(**variables), capture_output=True, timeout=60, check=False)
    assert (done.returncode, b"token" in done.stderr) == (2, True)


def test_a_socket_file_is_its_owner_s(tmp_path: Path) -> None:
    place = tmp_path / "own.sock"
    with serving(tmp_path / "lake", "--socket", str(place), port=None) as server:
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        assert server.get("/healthz").status == 200
        server.process.kill()  # and leaves its file behind
        server.process.wait()
    with serving(tmp_path / "lake", "--socket", str(place), port=None) as server:
        assert server.get("/healthz").status == 200
        assert server.stop() == 0
    assert not place.exists()


def test_a_public_address_is_warned_about(tmp_path: Path) -> None:
    with serving(tmp_path / "lake", "--host", "0.0.0.0") as server:
        assert server.ask("GET", "/", host="evil.example").reason == "forbidden-host"
        assert server.get("/healthz").status == 200
        server.process.terminate()
        _, said = server.process.communicate(timeout=60)
    assert b"others can reach this address" in said


def test_what_was_accepted_is_finished(tmp_path: Path) -> None:
    """A server that is told to stop answers the requests it has, and what it answers is stored."""
    with serving(tmp_path / "lake") as server:
        server.ingest(EVENTS)
        answers: list[int] = []

        def send(number: int) -> None:
            events = [invented.session(f"s{number}"), *invented.said(f"s{number}", "m", "x" * 100, at=1)]
            answers.append(server.post("/v1/ingest", events=events).status)

        senders = [threading.Thread(target=send, args=[number]) for number in range(8)]
        for sender in senders:
            sender.start()
        while not server.get("/metrics").content.count(b'route="/v1/ingest",status="200"'):
            pass
        assert server.stop() == 0
        for sender in senders:
            sender.join()
    with serving(tmp_path / "lake") as server:
        assert server.get("/v1/stats").json["sessions"] == 1 + answers.count(200)
