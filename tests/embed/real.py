"""The small real model, for tests anywhere."""

import pytest

from pond.embed import registry
from pond.embed.model import Model
from tests.embed.fetch import MODELS, NAME


def minilm_model() -> Model:
    """Return the model; `make test` fetches it."""
    if not registry.place(MODELS, NAME).is_dir():
        pytest.fail("the model is not there: run `make model`")
    return registry.find(MODELS, NAME)
