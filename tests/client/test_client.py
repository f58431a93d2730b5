"""Both clients against a real server: every operation, what comes back, and what is refused."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias, cast

import pytest

from codegen.routes import read_routes
from pond.client import AsyncClient, Client, ServerError
from pond.model.json_text import JsonObject
from pond.types import Event
from tests.client.both import BOTH, BOTH_EVENTS, Ask
from tests.house.tree import ROOT
from tests.operations import invented
from tests.schema.examples import MODEL

serving = pytest.importorskip("tests.transports.server", reason="there is no HTTP server yet").serving
Server: TypeAlias = Any

PAYLOAD = b64encode(bytes(range(256)) * 8).decode()
TOKEN = "a secret of the tests".replace(" ", "-")
# Served for people and for machines that watch; no method of a client.
PAGES = {"health", "metrics", "openapi", "docs", "index"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("serving")
    (place / "token").write_text(f"{TOKEN}\n")
    with serving(place / "lake", "--token-file", str(place / "token")) as running:
        yield running


@pytest.fixture(params=BOTH)
def ask(request: pytest.FixtureRequest, server: Server) -> Ask:
    def asking(operation: str, **given: object) -> object:
        return BOTH[request.param](operation, server.place, client={"token": TOKEN}, **given)

    return asking


@pytest.fixture(params=BOTH_EVENTS)
def take(request: pytest.FixtureRequest, server: Server) -> Ask:
    def taking(count: int, **given: object) -> object:
        return BOTH_EVENTS[request.param](server.place, count, client={"token": TOKEN}, **given)

    return taking


def _session(id: str) -> list[JsonObject]:
    message = invented.message(id, "m2", at=2)
    file = invented.part(message, 0, "file", media_type="image/png", data=PAYLOAD)
    return [invented.session(id), *invented.said(id, "m1", f"a flaky\u2028test in {id}", at=1), message, file]


@pytest.fixture(scope="module")
def stored(server: Server) -> list[JsonObject]:
    events = _session("oak")
    with Client(server.place, token=TOKEN) as pond:
        assert pond.ingest(cast("list[Event]", events))["rejected"] == []
    return events


@pytest.mark.usefixtures("stored")
def test_what_was_stored_is_found_listed_fetched_and_counted(ask: Ask) -> None:
    found = ask("search", query="flaky", limit=3, filters={"role": ["user"]})
    assert [each["session_id"] for each in found["sessions"]] == ["oak"]
    assert [each["id"] for each in ask("list")["sessions"]] == ["oak"]
    page = ask("get", session_id="oak", response_mode="verbatim")
    assert [each["id"] for each in page["messages"]] == ["m1", "m2"]
    assert ask("stats")["sessions"] == 1


def test_storing_again_stores_nothing(ask: Ask, stored: list[JsonObject]) -> None:
    (found,) = ask("ingest", events=stored)["sessions"]
    assert (found["stored"], found["already_stored"], found["rejected"]) == (0, len(stored), 0)


def test_events_come_as_they_were_sent(take: Ask, stored: list[JsonObject]) -> None:
    found = take(len(stored), session="oak")
    assert [each.event for each in found] == stored
    rest = take(len(stored) - 2, session="oak", after=found[1].id)
    assert [each.event for each in rest] == stored[2:]


def test_a_payload_comes_by_its_hash(ask: Ask, take: Ask, stored: list[JsonObject]) -> None:
    reference = take(len(stored), session="oak", payloads="reference")[-1].event["data"]
    digest = sha256(b64decode(PAYLOAD)).hexdigest()
    assert reference == f"pond://blob/{digest}"
    assert ask("blob", sha256=digest) == b64decode(PAYLOAD)


@pytest.mark.parametrize(
    ("operation", "given", "code", "reason"),
    [
        ("get", {"session_id": "no such"}, "not_found", "no-such-id"),
        ("search", {"query": "x", "limit": 0}, "validation_failed", "wrong-value"),
        ("blob", {"sha256": "0" * 64}, "not_found", "no-such-id"),
    ],
)
@pytest.mark.usefixtures("stored")
def test_what_the_server_refuses_is_raised(
    ask: Ask, operation: str, given: dict[str, object], code: str, reason: str
) -> None:
    with pytest.raises(ServerError) as raised:
        ask(operation, **given)
    assert (raised.value.code, raised.value.reason) == (code, reason)
    assert raised.value.request_id


def test_a_wrong_token_and_an_unknown_namespace_are_refused(server: Server) -> None:
    for ask in BOTH.values():
        with pytest.raises(ServerError) as raised:
            ask("stats", server.place, client={"token": "wrong"})
        assert raised.value.reason == "wrong-token"
        with pytest.raises(ServerError) as raised:
            ask("stats", server.place, client={"token": TOKEN, "namespace": "nobody"})
        assert raised.value.code == "namespace_unknown"


def test_a_socket_file_answers_too(tmp_path: Path) -> None:
    place = tmp_path / "socket"
    with serving(tmp_path / "lake", "--socket", str(place), port=None):
        for ask in BOTH.values():
            assert ask("ingest", client={"socket": str(place)}, events=_session("elm"))["rejected"] == []


def test_every_route_is_a_method_or_a_page() -> None:
    names = {route.operation for route in read_routes(MODEL).routes}
    for client in (Client, AsyncClient):
        assert {name for name in names if hasattr(client, name)} == names - PAGES


def test_the_server_has_the_routes_of_the_table(server: Server) -> None:
    for route in read_routes(MODEL).routes:
        answer = server.ask("PUT", route.path.replace("{sha256}", "0" * 64), None, authorization=f"Bearer {TOKEN}")
        allowed = set(answer.headers["allow"].split(", ")) - {"HEAD"}
        assert (answer.reason, allowed) == ("wrong-method", {route.method}), route.path


def test_the_openapi_document_is_the_published_one(server: Server) -> None:
    answer = server.ask("GET", "/openapi.json", None, authorization=f"Bearer {TOKEN}")
    assert answer.json == json.loads((ROOT / "schema/bundle/v1/openapi.json").read_text())
