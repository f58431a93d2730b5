"""The events of a session as a stream: complete, in order, from any event on, and continuing with what is new."""

import http.client
import json
from base64 import b64decode, b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from codegen.emit_schema import wire_bundle
from pond.model.json_text import JsonObject
from tests.operations import invented
from tests.transports.server import Server, serving

_EVENT = Draft202012Validator({**wire_bundle(), "$ref": "#/$defs/Event"})
HEADERS = {"x-pond-protocol-version": "1"}
PAYLOAD = b64encode(bytes(range(256)) * 8).decode()


class Stream:
    """A reader of one session's events."""

    def __init__(self, server: Server, session: str, after: str | None = None, more: str = "") -> None:
        self._connection = server.connection()
        headers = HEADERS | ({"last-event-id": after} if after is not None else {})
        self._connection.request("GET", f"/v1/events?session={session}{more}", None, headers)
        self.response: http.client.HTTPResponse = self._connection.getresponse()

    def take(self, count: int) -> list[tuple[str, JsonObject]]:
        """Return the next events with their ids; wait for them."""
        found: list[tuple[str, JsonObject]] = []
        fields: dict[str, Any] = {}
        while len(found) < count:
            line = self.response.readline().decode().rstrip("\n")
            if line:
                name, _, text = line.partition(": ")
                fields[name] = text
            elif "data" in fields:
                event = json.loads(fields["data"])
                _EVENT.validate(event)
                assert fields["event"] == event["kind"]
                found.append((fields["id"], event))
                fields = {}
        return found

    def close(self) -> None:
        self.response.close()
        self._connection.close()


def _session(id: str, count: int) -> list[JsonObject]:
    events: list[JsonObject] = [invented.session(id)]
    for number in range(count):
        events += invented.said(id, f"m{number}", f"text {number}", at=number)
    return events


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("serving")
    with serving(place / "lake", variables={"POND_SERVE_EVENT_READERS": "3"}) as running:
        yield running


def test_a_session_comes_as_it_was_sent_and_goes_on(server: Server) -> None:
    events = _session("oak", 130)  # more than is read at once
    server.ingest(events)
    stream = Stream(server, "oak")
    assert stream.response.getheader("content-type", "").startswith("text/event-stream")
    assert [event for _, event in stream.take(len(events))] == events
    more = invented.said("oak", "m130", "later", at=130)
    server.ingest(more[:1])
    server.ingest(more[1:])  # a part of a message that was sent before
    assert [event for _, event in stream.take(2)] == more
    stream.close()


def test_a_reader_goes_on_after_any_event(server: Server) -> None:
    events = _session("elm", 4)
    server.ingest(events)
    stream = Stream(server, "elm")
    ids = [id for id, _ in stream.take(len(events))]
    stream.close()
    assert len(set(ids)) == len(ids)
    for at, id in enumerate(ids[:-1]):
        stream = Stream(server, "elm", after=id)
        assert [event for _, event in stream.take(len(events) - at - 1)] == events[at + 1 :]
        stream.close()


def test_payloads_come_in_place_or_by_reference(server: Server) -> None:
    message = invented.message("pine", "m", at=1)
    part = invented.part(message, 0, "file", media_type="image/png", data=PAYLOAD)
    events = [invented.session("pine"), message, part]
    server.ingest(events)
    stream = Stream(server, "pine")
    assert [event for _, event in stream.take(3)] == events
    stream.close()
    stream = Stream(server, "pine", more="&payloads=reference")
    reference = stream.take(3)[-1][1]["data"]
    stream.close()
    digest = sha256(b64decode(PAYLOAD)).hexdigest()
    assert reference == f"pond://blob/{digest}"
    answer = server.get(f"/v1/blobs/{digest}")
    assert (answer.status, answer.content) == (200, b64decode(PAYLOAD))
    assert (answer.headers["content-type"], answer.headers["etag"]) == ("application/octet-stream", f'"{digest}"')
    assert server.get("/v1/blobs/" + "0" * 64).reason == "no-such-id"
    assert server.get("/v1/blobs/..%2f..%2fetc").reason in ("wrong-value", "no-such-path")
    assert server.ask("GET", f"/v1/blobs/{digest}").reason == "missing-field"
    assert server.get(f"/v1/blobs/{digest}", **{"x-pond-namespace": "ada"}).reason == "no-namespace"


@pytest.mark.parametrize(
    ("query", "headers", "reason"),
    [
        ("", {}, "missing-field"),
        ("?session=nobody", {}, "no-such-id"),
        ("?session=' OR 'a'='a", {}, "no-such-id"),
        ("?session=elm", {"last-event-id": "1.2"}, "wrong-value"),
        ("?session=elm", {"last-event-id": "1; DROP TABLE"}, "wrong-value"),
        ("?session=elm&payloads=none", {}, "wrong-value"),
        ("?session=elm", {"x-pond-protocol-version": "2"}, "protocol-version"),
    ],
)
def test_a_stream_that_cannot_be_is_refused(server: Server, query: str, headers: dict[str, str], reason: str) -> None:
    assert server.get(f"/v1/events{query.replace(' ', '%20')}", **headers).reason == reason


def test_readers_have_a_limit_and_make_room(server: Server) -> None:
    server.ingest(_session("fir", 1))
    streams = [Stream(server, "fir") for _ in range(3)]
    assert {stream.response.status for stream in streams} == {200}
    refused = server.get("/v1/events?session=fir")
    assert (refused.status, refused.reason) == (503, "too-many-readers")
    assert server.post("/v1/list").status == 200  # others are answered meanwhile
    for stream in streams:
        stream.close()
    status = 0
    for _ in range(1000):
        late = Stream(server, "fir")
        status = late.response.status
        late.close()
        if status == 200:
            break
    assert status == 200


def test_readers_do_not_hold_the_server(tmp_path: Path) -> None:
    with serving(tmp_path / "lake") as server:
        server.ingest(_session("ash", 1))
        stream = Stream(server, "ash")
        stream.take(3)
        assert server.stop() == 0
        assert stream.response.read() == b""
        stream.close()
