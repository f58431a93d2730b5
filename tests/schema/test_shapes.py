"""`pond.types` is for those who write programs: good examples have its shapes, and bad ones have not."""

from functools import cache
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from pond import types
from tests.schema.examples import BAD, GOOD, MODEL, Example, Mistake

# A shape has names and types; the length of a text, or its form, no type of Python can say.
SEEN_BY_SHAPES = [(example, mistake) for example, mistake in BAD if mistake.kind in ("missing", "unknown", "type")]


@cache
def _shape(type_: str) -> TypeAdapter[Any]:
    return TypeAdapter(getattr(types, type_))


def _faults(example: Example) -> list[tuple[int | str, ...]]:
    """Return where a value has not the shape of its type."""
    try:
        _shape(example.type).validate_python(example.value, strict=True)
    except ValidationError as error:
        return [fault["loc"] for fault in error.errors()]
    return []


def test_every_type_of_the_schema_has_a_shape() -> None:
    assert [each.name for each in MODEL.definitions if not hasattr(types, each.name)] == []


@pytest.mark.parametrize("example", GOOD, ids=str)
def test_a_good_example_has_its_shape(example: Example) -> None:
    assert _faults(example) == []


@pytest.mark.parametrize(("example", "mistake"), SEEN_BY_SHAPES, ids=str)
def test_a_bad_example_has_not_its_shape(example: Example, mistake: Mistake) -> None:
    found = _faults(example)
    assert found != []
    assert mistake.field is None or any(mistake.field in place for place in found)
