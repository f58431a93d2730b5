"""The lake of the labelled sets, made once."""

from collections.abc import Iterator

import pytest

import pond
from tests.search.relevance.lake import build


@pytest.fixture(scope="session")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pond.Lake]:
    """Return a lake of all labelled sessions."""
    with build(tmp_path_factory.mktemp("relevance") / "lake") as lake:
        yield lake
