"""The changes that `python -m tests.mutation` tries are real ones."""

from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from pond.lang import conversions
from pond.model import instants
from tests.lang.engines import adapter_maps
from tests.mutation.mutants import CONVERSION_CHANGES, of_conversions, of_mapping


@pytest.mark.parametrize("path", adapter_maps(), ids=lambda path: path.stem)
def test_each_change_of_a_mapping_is_a_change_and_is_made_once(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    mutants = list(of_mapping(path, text))
    assert all(mutant.text != text for mutant in mutants)
    assert [n for n in Counter(mutant.text for mutant in mutants).values() if n > 1] == []
    assert len(mutants) > len(text.splitlines()) / 2


@pytest.mark.parametrize("module", [instants, conversions], ids=lambda module: module.__name__)
def test_each_wrong_conversion_still_compiles(module: ModuleType) -> None:
    path = Path(str(module.__file__))
    mutants = list(of_conversions(path, path.read_text(encoding="utf-8")))
    assert len(mutants) == len(CONVERSION_CHANGES[path.name])
    for mutant in mutants:
        compile(mutant.text, str(mutant), "exec")


def test_words_that_are_gone_are_an_error() -> None:
    with pytest.raises(LookupError, match=r"update tests/mutation/mutants\.py"):
        list(of_conversions(Path("instants.py"), "nothing of that"))
