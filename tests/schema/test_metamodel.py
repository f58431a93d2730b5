"""The reader of schemas refuses what an emitter would have to ignore."""

from typing import Any

import pytest

from codegen.metamodel import OneOrMoreType, SchemaError, read_model

TEXT = {"description": "Text.", "type": "string"}


def _tagged(tag: str) -> dict[str, Any]:
    kind = {"description": "Kind.", "type": "string", "const": tag}
    return _object({"kind": kind}, required=["kind"])


def _object(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {"description": "An object.", "type": "object", "properties": properties, "additionalProperties": False}
    return {**body, **more}


def _union(*members: str) -> dict[str, Any]:
    refs = [{"$ref": f"#/$defs/{each}"} for each in members]
    return {"description": "A union.", "oneOf": refs, "discriminator": {"propertyName": "kind"}}


def _schema(**definitions: Any) -> dict[str, Any]:
    return {"title": "Test", "description": "A schema.", "$defs": definitions}


def _without(body: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != key}


def test_nested_unions_are_read() -> None:
    model = read_model(
        _schema(A=_tagged("a"), B=_tagged("b"), C=_tagged("c"), Two=_union("A", "B"), All=_union("Two", "C"))
    )
    assert [each.name for each in model.variants("All")] == ["A", "B", "C"]


def _one_or_more(one: str, more: str, least: int = 1) -> dict[str, Any]:
    several = {"type": "array", "items": {"$ref": f"#/$defs/{more}"}, "minItems": least}
    return {"description": "One or more.", "oneOf": [{"$ref": f"#/$defs/{one}"}, several]}


def test_one_or_more_are_read() -> None:
    model = read_model(_schema(A=TEXT, B=_one_or_more("A", "A")))
    assert model["B"] == OneOrMoreType("B", "One or more.", "A")


@pytest.mark.parametrize(
    ("definitions", "pointer", "problem"),
    [
        ({"A": TEXT, "B": TEXT, "C": _one_or_more("A", "B")}, "#/$defs/C", "a non-empty list of it"),
        ({"A": TEXT, "C": _one_or_more("A", "A", 0)}, "#/$defs/C", "a non-empty list of it"),
        ({"C": _one_or_more("A", "A")}, "#/$defs/C", "`A`, which is not defined"),
        ({"A": _object({"x": {"type": "string"}})}, "#/$defs/A/properties/x", "no description"),
        ({"A": _without(_object({}), "description")}, "#/$defs/A", "no description"),
        ({"A": _without(_object({}), "additionalProperties")}, "#/$defs/A", "other fields"),
        ({"A": _object({"x": {**TEXT, "maxLength": 3}})}, "#/$defs/A/properties/x", "`maxLength`"),
        ({"A": _object({"x": {**TEXT, "x-summary": "weight"}})}, "#/$defs/A/properties/x/x-summary", "expected one of"),
        ({"A": _object({"x": {**TEXT, "x-search": True}})}, "#/$defs/A/properties/x/x-search", "expected a place"),
        ({"A": _object({}, patternProperties={})}, "#/$defs/A", "`patternProperties`"),
        ({"A": _object({}, required=["x"])}, "#/$defs/A/required", "`x`"),
        (
            {"A": _object({"x": {"description": "X.", "enum": ["a"]}})},
            "#/$defs/A/properties/x",
            "definition of its own",
        ),
        ({"A": _object({"x": {"description": "X.", "type": "null"}})}, "#/$defs/A/properties/x", "expected one of"),
        (
            {"A": _object({"x": {"description": "X.", "$ref": "b.json"}})},
            "#/$defs/A/properties/x",
            "expected a reference",
        ),
        ({"A": _object({"x": {"description": "X.", "$ref": "#/$defs/B"}})}, "#/$defs/A", "`B`, which is not defined"),
        ({"A": _without(_union("B"), "discriminator"), "B": _tagged("b")}, "#/$defs/A/oneOf/0", "discriminator"),
        ({"A": _union("B"), "B": _object({})}, "#/$defs/A", "`B` does not carry `kind`"),
        ({"A": _union("B"), "B": _without(_tagged("b"), "required")}, "#/$defs/A", "`B` does not carry `kind`"),
        ({"A": _union("B", "C"), "B": _tagged("b"), "C": _tagged("b")}, "#/$defs/A", "both tagged 'b'"),
    ],
)
def test_a_broken_rule_is_refused_with_its_place(definitions: dict[str, Any], pointer: str, problem: str) -> None:
    with pytest.raises(SchemaError) as caught:
        read_model(_schema(**definitions))
    assert caught.value.pointer == pointer
    assert problem in caught.value.problem
