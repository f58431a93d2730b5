"""What the tests of embedding stand on: a real model, and a real server."""

from collections.abc import Iterator

import pytest

from pond.embed import embedder
from pond.embed.model import Model
from tests.embed.real import minilm_model
from tests.embed.server import Endpoint, serving
from tests.lake.conftest import warm_check as warm_check


@pytest.fixture(scope="session")
def minilm() -> Model:
    """Return the small real model."""
    return minilm_model()


@pytest.fixture
def server() -> Iterator[Endpoint]:
    """Return a server that answers honestly until it is told otherwise."""
    with serving() as made:
        yield made


@pytest.fixture(autouse=True)
def _nothing_open() -> None:
    embedder.opened.cache_clear()
