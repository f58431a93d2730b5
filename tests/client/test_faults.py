"""What a client does when a server fails: it tries again where the code says so, and raises what it was told."""

import json
import pickle
import socket
import subprocess
import sys

import pytest

from pond.client import Retries, ServerError, Unreachable
from pond.diagnostics.diagnostic import PondError
from pond.diagnostics.failures import Failure
from tests.client.both import BOTH, BOTH_EVENTS, QUICK, Ask
from tests.client.scripted import Scripted, answering, failing, scripted
from tests.house.tree import ROOT

FOUND = {"sessions": [], "sessions_remaining": 0}
EVENT = b'id: 7\nevent: session\ndata: {"kind":"session","id":"a\xe2\x80\xa8b"}\n\n'


@pytest.fixture(params=BOTH)
def ask(request: pytest.FixtureRequest) -> Ask:
    return BOTH[request.param]


@pytest.fixture(params=BOTH_EVENTS)
def take(request: pytest.FixtureRequest) -> Ask:
    return BOTH_EVENTS[request.param]


@pytest.mark.parametrize("failure", Failure, ids=lambda each: each.code)
def test_the_code_says_how_often_a_request_is_sent(ask: Ask, failure: Failure) -> None:
    times = 2 if failure.once else QUICK.attempts if failure.retry else 1
    with scripted(*[failing(failure.status, failure.code, reason="why")] * 9) as server:
        with pytest.raises(ServerError) as raised:
            ask("list", server.url)
        assert len(server.asked) == times
    error = raised.value
    assert (error.status, error.code, error.reason, error.request_id) == (failure.status, failure.code, "why", "r1")
    assert str(error) == f"{failure.code}: It failed."
    assert error.failure is failure


def test_an_answer_after_failures_is_the_answer(ask: Ask) -> None:
    with scripted(failing(503, "storage_unavailable"), failing(409, "conflict"), answering(FOUND)) as server:
        assert ask("list", server.url, limit=3) == FOUND
        assert [json.loads(each.content) for each in server.asked] == [{"protocol_version": 1, "limit": 3}] * 3


def test_a_connection_that_breaks_is_tried_again(ask: Ask) -> None:
    with scripted(Scripted(None), answering(FOUND)) as server:
        assert ask("list", server.url) == FOUND


def test_a_server_that_is_not_there_is_named(ask: Ask) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(Unreachable, match="no answer from") as raised:
            ask("list", url)
    assert url in str(raised.value)


def test_a_gateway_without_a_server_is_tried_again(ask: Ask) -> None:
    with scripted(Scripted(502, b"<html>Bad gateway", ()), answering(FOUND)) as server:
        assert ask("list", server.url) == FOUND


@pytest.mark.parametrize(
    "answer",
    [
        Scripted(404, b"<html>Not found", ()),
        Scripted(200, b"<html>Hello", (("x-pond-request-id", "r1"),)),
        Scripted(200, b"{}", ()),
        Scripted(302, b"", (("location", "http://127.0.0.1/"),)),
    ],
    ids=["not found", "no JSON", "no request id", "redirected"],
)
def test_what_is_no_pond_server_is_told_at_once(ask: Ask, answer: Scripted) -> None:
    with scripted(answer, answer) as server:
        with pytest.raises(Unreachable, match="answered"):
            ask("list", server.url)
        assert len(server.asked) == 1


def test_a_code_of_a_later_server_is_not_tried_again(ask: Ask) -> None:
    with scripted(failing(418, "teapot"), failing(418, "teapot")) as server:
        with pytest.raises(ServerError) as raised:
            ask("list", server.url)
        assert (raised.value.code, raised.value.failure, len(server.asked)) == ("teapot", None, 1)


def test_a_value_comes_as_it_was_sent(ask: Ask) -> None:
    text = '{"sessions":[],"sessions_remaining":' + "9" * 30 + ',"more":[1.0,"\\ud800"]}'
    with scripted(Scripted(200, text.encode())) as server:
        found = ask("list", server.url)
    assert (found["sessions_remaining"], found["more"]) == (int("9" * 30), [1.0, "\ud800"])


def test_who_asks_is_told_to_the_server(ask: Ask) -> None:
    given = {"token": "secret", "namespace": "ada"}
    with scripted(answering(FOUND), answering({})) as server:
        ask("list", server.url + "/", client=given)
        ask("stats", server.url, client=given)
    posted, fetched = server.asked
    assert (posted.path, json.loads(posted.content)) == ("/v1/list", {"protocol_version": 1, "namespace": "ada"})
    assert (fetched.headers["x-pond-protocol-version"], fetched.headers["x-pond-namespace"]) == ("1", "ada")
    assert {each.headers["authorization"] for each in server.asked} == {"Bearer secret"}


def test_a_stream_that_breaks_off_goes_on_after_the_last_event(take: Ask) -> None:
    later = EVENT.replace(b"id: 7", b"id: 8")
    with scripted(Scripted(200, b": hello\n\n" + EVENT), Scripted(None), Scripted(200, later)) as server:
        found = take(server.url, 2, session="a b", after="6")
        assert [each.id for each in found] == ["7", "8"]
        assert found[0].event == {"kind": "session", "id": "a\u2028b"}
        assert [each.headers["last-event-id"] for each in server.asked] == ["6", "7", "7"]
        assert {each.path for each in server.asked} == {"/v1/events?session=a+b"}


def test_a_stream_that_never_comes_is_given_up(take: Ask) -> None:
    with scripted(*[Scripted(200, b"")] * 9) as server:
        with pytest.raises(Unreachable, match="broke off"):
            take(server.url, 1, session="s")
        assert len(server.asked) == QUICK.attempts


def test_a_stream_of_no_session_is_refused_at_once(take: Ask) -> None:
    with scripted(*[failing(404, "not_found", reason="no-such-id")] * 2) as server:
        with pytest.raises(ServerError) as raised:
            take(server.url, 1, session="s")
        assert (raised.value.code, len(server.asked)) == ("not_found", 1)


def test_the_pauses_double_up_to_a_limit() -> None:
    retries, error = Retries(attempts=9, first=1.0, most=4.0), Unreachable("gone", retry=True)
    for tried, longest in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 4.0), (8, 4.0)):
        found = [retries.pause(error, tried) or 0.0 for _ in range(50)]
        assert longest / 2 <= min(found) <= max(found) <= longest
        assert len(set(found)) > 1
    assert retries.pause(error, 9) is None


def test_an_error_is_one_of_pond_and_travels_between_processes() -> None:
    error = ServerError(404, "not_found", "Gone.", {"reason": "no-such-id"}, "r1")
    assert isinstance(error, PondError)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.details) == (str(error), "not_found", {"reason": "no-such-id"})


@pytest.mark.parametrize("code", ["import pond", "import pond.client"])
def test_importing_it_brings_no_http_library(code: str) -> None:
    probe = f"{code}, sys; print([name for name in sys.modules if name.startswith(('httpx2', 'httpcore2', 'ssl'))])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
