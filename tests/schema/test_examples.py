"""Examples are judged alike by the schema and by the generated types, and bad ones fail for the reason they name."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError as SchemaViolation
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from codegen.emit_schema import wire_bundle
from codegen.metamodel import AnyType, OneOrMoreType
from pond.model import _generated
from tests.schema.examples import ALL, BAD, GOOD, MODEL, ROOT, Example, Mistake

# What JSON Schema states across fields, a generated type cannot; pond.model.validate checks it for whole sessions.
BEYOND_TYPES = [example for example, mistake in BAD if mistake.kind == "needs"]
SEEN_BY_TYPES = [(example, mistake) for example, mistake in BAD if mistake.kind != "needs"]

_BY_KEYWORD = {
    "required": "missing",
    "additionalProperties": "unknown",
    "type": "type",
    "minLength": "empty",
    "minItems": "empty",
    "const": "value",
    "pattern": "value",
    "minimum": "value",
    "maximum": "value",
    "dependentRequired": "needs",
}
_BY_PYDANTIC = {
    "missing": "missing",
    "union_tag_not_found": "missing",
    "extra_forbidden": "unknown",
    "string_too_short": "empty",
    "too_short": "empty",
    "literal_error": "value",
    "string_pattern_mismatch": "value",
    "greater_than_equal": "value",
    "less_than_equal": "value",
    "union_tag_invalid": "value",
    "int_from_float": "type",
}


@cache
def _validator(type_: str) -> Draft202012Validator:
    schema = {**wire_bundle(), "$ref": f"#/$defs/{type_}"}
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


@cache
def _adapter(type_: str) -> TypeAdapter[Any]:
    return TypeAdapter(getattr(_generated, type_))


def _same(left: Any, right: Any) -> bool:
    """Compare as JSON text: unlike `==`, it tells 1 from 1.0 and from true."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def _leaves(violation: SchemaViolation) -> Iterator[SchemaViolation]:
    if not violation.context:
        yield violation
    for inner in violation.context or []:
        yield from _leaves(inner)


def _violation_mistake(violation: SchemaViolation) -> Mistake:
    kind = _BY_KEYWORD[str(violation.validator)]
    if kind in ("missing", "unknown", "needs"):
        # These name the field only in their message, in quotes.
        return Mistake(kind, violation.message.split("'")[1])
    path = violation.absolute_path
    return Mistake(kind, str(path[-1]) if path else None)


def _error_mistake(error: ErrorDetails) -> Mistake:
    kind = _BY_PYDANTIC.get(error["type"]) or ("type" if error["type"].endswith("_type") else error["type"])
    if "discriminator" in error.get("ctx", {}):
        return Mistake(kind, error["ctx"]["discriminator"].strip("'"))
    return Mistake(kind, str(error["loc"][-1]) if error["loc"] else None)


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(wire_bundle())


@pytest.mark.parametrize("type_", [each.name for each in MODEL.definitions])
def test_every_type_has_examples(type_: str) -> None:
    assert [each for each in GOOD if each.type == type_]
    if not isinstance(MODEL[type_], AnyType):  # nothing is wrong where everything is right
        assert [each for each, _ in BAD if each.type == type_]


def test_every_example_is_of_a_type() -> None:
    assert {each.name for each in ROOT.iterdir()} == {each.name for each in MODEL.definitions}
    assert {each.type for each in ALL} == {each.name for each in ROOT.iterdir()}


@pytest.mark.parametrize("example", GOOD, ids=str)
def test_a_good_example_fits_the_schema(example: Example) -> None:
    assert [violation.message for violation in _validator(example.type).iter_errors(example.value)] == []


@pytest.mark.parametrize("example", GOOD, ids=str)
def test_a_good_example_survives_the_types(example: Example) -> None:
    adapter = _adapter(example.type)
    from_python = adapter.validate_python(example.value, strict=True)
    from_json = adapter.validate_json(json.dumps(example.value), strict=True)
    assert _same(adapter.dump_python(from_python), example.value)
    assert _same(json.loads(adapter.dump_json(from_json)), example.value)


@pytest.mark.parametrize(("example", "mistake"), BAD, ids=str)
def test_a_bad_example_breaks_the_schema_as_it_says(example: Example, mistake: Mistake) -> None:
    found = [leaf for each in _validator(example.type).iter_errors(example.value) for leaf in _leaves(each)]
    assert mistake in [_violation_mistake(each) for each in found]


@pytest.mark.parametrize(("example", "mistake"), SEEN_BY_TYPES, ids=str)
def test_a_bad_example_breaks_the_types_as_it_says(example: Example, mistake: Mistake) -> None:
    with pytest.raises(ValidationError) as caught:
        _adapter(example.type).validate_python(example.value, strict=True)
    if isinstance(MODEL[example.type], OneOrMoreType):
        # Two readings, each with a mistake of its own; where one is reported, the reading follows what was read.
        assert mistake in [Mistake(_error_mistake(each).kind, None) for each in caught.value.errors()]
    else:
        assert [_error_mistake(each) for each in caught.value.errors()] == [mistake]


@pytest.mark.parametrize("example", BEYOND_TYPES, ids=str)
def test_what_the_types_cannot_see_is_known(example: Example) -> None:
    adapter = _adapter(example.type)
    assert _same(adapter.dump_python(adapter.validate_python(example.value, strict=True)), example.value)
