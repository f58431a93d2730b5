"""A compiled mapping has its labels by name, so that one which the mapping no longer has is an error."""

from pathlib import Path

import pytest

from pond.codec.registry import compile_now
from pond.lang.check import check
from pond.lang.emit.python import identifiers
from pond.lang.parse import parse
from tests.lang.engines import adapter_maps, all_maps


def _named(labels: type) -> set[str]:
    return {value for name, value in vars(labels).items() if not name.startswith("__")}


@pytest.mark.parametrize("path", all_maps(), ids=lambda path: path.stem)
def test_every_label_has_a_name(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    plan, module = check(parse(text, path.name)), compile_now(text, str(path))
    assert _named(module.Kind) == {kind.label for kind in plan.kinds}
    assert _named(module.Block) == {part.label for kind in plan.kinds for part in kind.all_parts}


def test_no_two_labels_share_a_name() -> None:
    labels = ["a/b", "a#b", "a-b", "2", "class", "class_", "é", ""]
    found = identifiers([*labels, "a/b"])
    assert list(found.values()) == labels
    assert all(name.isidentifier() for name in found)
    assert [name for name in ("class", "a_b", "a_b_", "a_b__") if name in found] == ["a_b", "a_b_", "a_b__"]


def test_a_label_that_is_gone_is_an_error() -> None:
    path = next(path for path in adapter_maps() if path.stem == "codex")
    text = path.read_text(encoding="utf-8").replace('"compacted"', '"shortened"')
    with pytest.raises(AttributeError, match="compacted"):
        _ = compile_now(text, str(path)).Kind.compacted
