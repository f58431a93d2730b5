"""A server is asked again where it is busy, and never believed."""

from dataclasses import replace

import numpy as np
import pytest

from pond.diagnostics.diagnostic import PondError
from pond.embed import endpoint
from pond.embed.bulk import embedded
from pond.embed.embedder import Embedder, opened
from pond.embed.model import Model
from tests.embed.server import POISON, Endpoint, vector_of


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE", 0.001)


def _model(server: Endpoint, **more: object) -> Model:
    return replace(Model("far", "endpoint", endpoint=server.url, timeout=0.5), **more)  # type: ignore[arg-type]


def _fault(embedder: Embedder) -> str:
    with pytest.raises(PondError) as raised:
        embedder.passages(["one", "two", "three"])
    (diagnostic,) = raised.value.diagnostics
    return f"{diagnostic.code}: {diagnostic.message}"


def _unit(text: str, dimensions: int) -> np.ndarray:
    vector = np.array(vector_of(text, dimensions))
    return np.asarray(vector / np.linalg.norm(vector))


def test_vectors_come_in_the_order_of_the_texts(server: Endpoint) -> None:
    texts = [f"text number {number}" for number in range(5)]
    found = opened(_model(server)).passages(texts)
    assert found.shape == (5, 16)
    assert np.allclose(found, [_unit(text, 16) for text in texts], atol=1e-6)
    assert server.requests[0]["model"] == "far"


def test_prefixes_are_sent_and_the_key_goes_with_the_request(server: Endpoint) -> None:
    made = opened(_model(server, query_prefix="ask: ", passage_prefix="text: ", key="s3cret"))
    made.query("why")
    made.passages(["because"])
    assert [request["input"] for request in server.requests] == [["ask: why"], ["text: because"]]
    assert set(server.keys) == {"Bearer s3cret"}


def test_a_cut_is_asked_for_and_cut_here_where_the_server_does_not(server: Endpoint) -> None:
    asked = opened(_model(server, dimensions=4))
    assert (asked.dimensions, asked.passages(["x"]).shape) == (4, (1, 4))
    assert server.requests[-1]["dimensions"] == 4
    server.mode = "ignores the wish"
    assert np.allclose(asked.passages(["x"])[0], _unit("x", 16)[:4] / np.linalg.norm(_unit("x", 16)[:4]), atol=1e-6)
    assert "found 16" in _fault(opened(_model(server, dimensions=32)))


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("nan", "model-answer: model `far`: expected numbers"),
        ("zeros", "model-answer: model `far`: expected numbers"),
        ("short", "model-answer: model `far`: the server's vectors differ in length"),
        ("too-many", "model-answer: model `far`: expected 3 vectors, found 4"),
        ("too-few", "model-answer: model `far`: expected 3 vectors, found 2"),
        ("twice", "model-answer: model `far`: expected 3 vectors, found 3"),
        ("words", "model-answer: model `far`: the server's answer contains something other than numbers"),
        ("no-json", "model-answer: model `far`: the server's answer is not a list of embeddings"),
        ("huge", "model-answer: model `far`: the server's answer contains something other than numbers"),
        ("silence", "no answer in time (5 attempts)"),
        ("drips", "no answer in time (5 attempts)"),
        ("breaks-off", "the answer was cut off (5 attempts)"),
        ("forbidden", "the server answered 401: no such key"),
        ("redirects", "the server answered 302"),
    ],
)
def test_an_answer_that_is_none_is_a_typed_fault(server: Endpoint, mode: str, reason: str) -> None:
    server.mode = mode
    assert reason in _fault(opened(_model(server, timeout=0.1)))


def test_dimensions_must_not_change_between_answers(server: Endpoint) -> None:
    made = opened(_model(server))
    assert made.dimensions == 16
    server.dimensions = 20
    assert "expected 16 dimensions, found 20" in _fault(made)


@pytest.mark.parametrize("status", ["429", "500", "503"])
def test_a_busy_server_is_asked_again(server: Endpoint, status: str) -> None:
    server.mode, server.failures = status, 3
    made = opened(_model(server))
    server.mode = status
    assert made.passages(["x"]).shape == (1, 16)
    assert len(server.requests) == 4


def test_a_server_that_stays_busy_is_given_up(server: Endpoint) -> None:
    server.mode, server.failures = "503", 99
    assert "the server answered 503: busy (5 attempts)" in _fault(opened(_model(server)))
    assert len(server.requests) == 5


@pytest.mark.parametrize("mode", ["silence", "drips"])
def test_a_question_does_not_wait_as_long_as_texts_do(
    server: Endpoint, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(endpoint, "_WAITED", 0.2)
    server.mode = mode
    with pytest.raises(PondError, match=r"no answer in time \(1 attempt\)"):
        opened(_model(server, timeout=60.0)).query("why")


def test_a_question_is_asked_twice_at_most(server: Endpoint) -> None:
    server.mode, server.failures = "503", 99
    with pytest.raises(PondError, match=r"the server answered 503: busy \(2 attempts\)"):
        opened(_model(server)).query("why")
    assert len(server.requests) == 2


def test_nobody_at_the_address() -> None:
    nobody = Model("far", "endpoint", endpoint="http://127.0.0.1:9/v1", timeout=0.5)
    assert "model-unreachable: asking `http://127.0.0.1:9/v1/embeddings`: the connection was refused" in _fault(
        opened(nobody)
    )


def test_one_text_that_is_refused_does_not_cost_the_others(server: Endpoint) -> None:
    texts = ["alpha", POISON, "beta", "gamma"]
    batches = list(embedded(opened(_model(server)), texts, threads=2))
    refused = [batch for batch in batches if batch.refused]
    assert [texts[place] for batch in refused for place in batch.places] == [POISON]
    assert "this text is too much" in str(refused[0].refused)
    assert sorted(place for batch in batches if not batch.refused for place in batch.places) == [0, 2, 3]
