"""Every kind of change that breaks a published schema is named with its place; every kind that only adds is not."""

from copy import deepcopy
from typing import Any

import pytest

from pond.publishing.bundle import Version, shipped, versions
from pond.publishing.check import breaks

TEXT, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}
NAME = {"$ref": "#/$defs/Name"}
NAMES = {"type": "array", "items": NAME}
COLOUR = {"oneOf": [{"const": "red"}, {"const": "blue"}]}
MORE_COLOURS = {"oneOf": [{"const": "red"}, {"const": "blue"}, {"const": "green"}]}


def _object(properties: dict[str, Any], **keywords: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False, **keywords}


def _bundle(request: dict[str, Any], response: dict[str, Any], **definitions: Any) -> dict[str, Version]:
    given = {
        "AskRequest": request,
        "AskResponse": response,
        "Name": {"type": "string", "minLength": 1},
        "OneName": {"oneOf": [NAME, {**NAMES, "minItems": 1}]},
        "Box": _object({"kind": {"const": "box"}}, required=["kind"]),
        "Bag": _object({"kind": {"const": "bag"}}, required=["kind"]),
        "Used": _object({"a": {"$ref": "#/$defs/OneName"}, "b": {"$ref": "#/$defs/Box"}, "c": {"$ref": "#/$defs/Bag"}}),
    }
    schema = {"$id": "urn:pond:schema:ask:1", "$defs": {**given, **definitions}}
    return {"v1": Version("v1", {"ask.schema.json": schema}, {})}


def _found(old: dict[str, Any], new: dict[str, Any], type_: str) -> list[str]:
    """Compare two states of the request, or of the response, the other staying as it is."""
    still = _object({})
    before, after = (
        _bundle(deepcopy(each), still) if type_ == READ else _bundle(still, deepcopy(each)) for each in (old, new)
    )
    return [f"{each.at}: {each.change}" for each in breaks(before, after)]


AT = "v1/ask.schema.json#/$defs"
READ, SENT = "AskRequest", "AskResponse"

# What changes about a field: old, new, and what that is to a request and to a response (None: it is fine).
FIELD: dict[str, tuple[dict[str, Any], dict[str, Any], str | None, str | None]] = {
    "retyped": (TEXT, WHOLE, ": was string, is integer", ": was string, is integer"),
    "whole to any number": (WHOLE, NUMBER, None, ": was integer, is number"),
    "any to whole number": (NUMBER, WHOLE, ": was number, is integer", None),
    "any to text": ({}, TEXT, ": was any value, is string", None),
    "text to any": (TEXT, {}, None, ": was string, is any value"),
    "one to several": (NAME, {"$ref": "#/$defs/OneName"}, None, ": was `Name`, is `OneName`"),
    "several to one": ({"$ref": "#/$defs/OneName"}, NAME, ": was `OneName`, is `Name`", None),
    "one to a list": (NAME, NAMES, ": was `Name`, is a list of `Name`", ": was `Name`, is a list of `Name`"),
    "items": (NAMES, {**NAMES, "items": WHOLE}, "/items: was `Name`, is integer", "/items: was `Name`, is integer"),
    "fewer values": (MORE_COLOURS, COLOUR, '/oneOf: no longer takes "green"', None),
    "more values": (COLOUR, MORE_COLOURS, None, '/oneOf: may now be "green"'),
    "another constant": ({"const": "a"}, {"const": "b"}, ': was "a", is "b"', ': was "a", is "b"'),
    "higher minimum": ({**WHOLE, "minimum": 1}, {**WHOLE, "minimum": 2}, "/minimum: was 1, is 2", None),
    "lower minimum": ({**WHOLE, "minimum": 2}, {**WHOLE, "minimum": 1}, None, "/minimum: was 2, is 1"),
    "a minimum": (WHOLE, {**WHOLE, "minimum": 0}, "/minimum: was not limited, is 0", None),
    "no minimum": ({**WHOLE, "minimum": 0}, WHOLE, None, "/minimum: was 0, is not limited"),
    "lower maximum": ({**WHOLE, "maximum": 200}, {**WHOLE, "maximum": 100}, "/maximum: was 200, is 100", None),
    "higher maximum": ({**WHOLE, "maximum": 1}, {**WHOLE, "maximum": 2}, None, "/maximum: was 1, is 2"),
    "a maximum": (WHOLE, {**WHOLE, "maximum": 9}, "/maximum: was not limited, is 9", None),
    "not empty": (TEXT, {**TEXT, "minLength": 1}, "/minLength: was not limited, is 1", None),
    "may be empty": ({**TEXT, "minLength": 1}, TEXT, None, "/minLength: was 1, is not limited"),
    "list not empty": (NAMES, {**NAMES, "minItems": 1}, "/minItems: was not limited, is 1", None),
    "list may be empty": ({**NAMES, "minItems": 1}, NAMES, None, "/minItems: was 1, is not limited"),
    "a pattern": (TEXT, {**TEXT, "pattern": "^a"}, '/pattern: was not limited, is "^a"', None),
    "no pattern": ({**TEXT, "pattern": "^a"}, TEXT, None, '/pattern: was "^a", is not limited'),
    "another pattern": (
        {**TEXT, "pattern": "^a"},
        {**TEXT, "pattern": "^b"},
        '/pattern: was "^a", is "^b"',
        '/pattern: was "^a", is "^b"',
    ),
    "values of a map": (
        {"type": "object", "additionalProperties": WHOLE},
        {"type": "object", "additionalProperties": TEXT},
        "/additionalProperties: was integer, is string",
        "/additionalProperties: was integer, is string",
    ),
    "any field in place of a map": (
        {"type": "object", "additionalProperties": WHOLE},
        {"type": "object", "additionalProperties": True},
        '/additionalProperties: was {"type": "integer"}, is true',
        '/additionalProperties: was {"type": "integer"}, is true',
    ),
    "a keyword without a rule": (
        TEXT,
        {**TEXT, "format": "uri"},
        '/format: was null, is "uri"',
        '/format: was null, is "uri"',
    ),
    "another description": ({**TEXT, "description": "a"}, {**TEXT, "description": "b"}, None, None),
    "another remark": (TEXT, {**TEXT, "x-search": 1}, None, None),
}


@pytest.mark.parametrize("change", FIELD)
def test_a_change_of_a_field(change: str) -> None:
    old, new, read, sent = FIELD[change]
    for type_, expected in ((READ, read), (SENT, sent)):
        found = _found(_object({"f": old}), _object({"f": new}), type_)
        assert found == ([] if expected is None else [f"{AT}/{type_}/properties/f{expected}"])


ONE = _object({"a": TEXT})
TWO = _object({"a": TEXT, "b": TEXT})
CHOICE = {"oneOf": [{"$ref": "#/$defs/Box"}], "discriminator": {"propertyName": "kind"}}
WIDER = {**CHOICE, "oneOf": [{"$ref": "#/$defs/Box"}, {"$ref": "#/$defs/Bag"}]}
OTHER_TAG = {**CHOICE, "discriminator": {"propertyName": "sort"}}
OPEN = {**ONE, "additionalProperties": True}
NEEDS = {**TWO, "dependentRequired": {"a": ["b"]}}

# What changes about a whole type, in the same way.
TYPE: dict[str, tuple[dict[str, Any], dict[str, Any], str | None, str | None]] = {
    "a field is gone": (TWO, ONE, "/properties/b: the field is gone", "/properties/b: the field is gone"),
    "a new field": (ONE, TWO, None, None),
    "a new field, required": (ONE, {**TWO, "required": ["b"]}, "/required: `b` is a new field, and required", None),
    "required now": (TWO, {**TWO, "required": ["b"]}, "/required: `b` is required now", None),
    "no longer required": ({**TWO, "required": ["b"]}, TWO, None, "/required: `b` may be absent now"),
    "closed": (OPEN, ONE, "/additionalProperties: no longer takes other fields", None),
    "opened": (ONE, OPEN, None, "/additionalProperties: may now have other fields"),
    "needs another": (TWO, NEEDS, "/dependentRequired: `a` needs `b` now", None),
    "a new field that needs another": (ONE, {**TWO, "dependentRequired": {"b": ["a"]}}, None, None),
    "stands alone": (NEEDS, TWO, None, "/dependentRequired: `a` may stand without `b`"),
    "a member less": (WIDER, CHOICE, "/oneOf: no longer takes `Bag`", None),
    "a member more": (CHOICE, WIDER, None, "/oneOf: may now be `Bag`"),
    "another discriminator": (
        CHOICE,
        OTHER_TAG,
        "/discriminator: members are told apart by something else",
        "/discriminator: members are told apart by something else",
    ),
    "no object any more": (ONE, TEXT, ": was object, is string", ": was object, is string"),
}


@pytest.mark.parametrize("change", TYPE)
def test_a_change_of_a_type(change: str) -> None:
    old, new, read, sent = TYPE[change]
    for type_, expected in ((READ, read), (SENT, sent)):
        assert _found(old, new, type_) == ([] if expected is None else [f"{AT}/{type_}{expected}"])


def _changes(old: dict[str, Version], new: dict[str, Version]) -> list[str]:
    return [f"{each.at}: {each.change}" for each in breaks(old, new)]


def test_a_type_that_is_gone_is_named() -> None:
    old, new = _bundle(ONE, ONE, Extra=TEXT), _bundle(ONE, ONE)
    assert _changes(old, new) == [f"{AT}/Extra: the type is gone"]
    assert _changes(new, old) == []


def test_what_both_read_and_send_may_not_change_in_either_way() -> None:
    refers = _object({"colour": {"$ref": "#/$defs/Colour"}})
    fewer, more = _bundle(refers, refers, Colour=COLOUR), _bundle(refers, refers, Colour=MORE_COLOURS)
    assert _changes(fewer, more) == [f'{AT}/Colour/oneOf: may now be "green"']
    assert _changes(more, fewer) == [f'{AT}/Colour/oneOf: no longer takes "green"']


def test_what_only_a_request_refers_to_may_widen() -> None:
    refers = _object({"colour": {"$ref": "#/$defs/Colour"}})
    fewer, more = _bundle(refers, ONE, Colour=COLOUR), _bundle(refers, ONE, Colour=MORE_COLOURS)
    assert _changes(fewer, more) == []


def test_a_type_that_widens_while_a_field_takes_several_of_it_is_judged_by_itself() -> None:
    refers, several = _object({"a": NAME}), _object({"a": {"$ref": "#/$defs/OneName"}})
    old, new = _bundle(refers, ONE), _bundle(several, ONE, Name={"type": "string", "minLength": 2})
    assert _changes(old, new) == [f"{AT}/Name/minLength: was 1, is 2"]


def test_a_type_that_nothing_refers_to_is_taken_for_both() -> None:
    fewer, more = _bundle(ONE, ONE, Alone=COLOUR), _bundle(ONE, ONE, Alone=MORE_COLOURS)
    assert _changes(fewer, more) == [f'{AT}/Alone/oneOf: may now be "green"']


def test_an_id_and_a_file_stay() -> None:
    old, new = _bundle(ONE, ONE), _bundle(ONE, ONE)
    new["v1"].schemas["ask.schema.json"]["$id"] = "urn:pond:schema:ask:2"
    assert _changes(old, new) == ["v1/ask.schema.json#/$id: was `urn:pond:schema:ask:1`, is `urn:pond:schema:ask:2`"]
    moved = {"v1": Version("v1", {"other.schema.json": old["v1"].schemas["ask.schema.json"]}, {})}
    assert _changes(old, moved) == ["v1/ask.schema.json#: the file is gone"]
    assert _changes(old, {}) == ["v1: the version is gone"]


def _served(**changes: Any) -> dict[str, Version]:
    """Return the bundle of this pond with one operation of the OpenAPI document changed."""
    found = versions(shipped(), "here")
    operation = found["v1"].openapi["paths"]["/v1/stats"]["get"]
    operation.update(changes)
    return found


PATHS = "v1/openapi.json#/paths/~1v1~1stats/get"
NAMED = {"name": "X-Pond-Namespace", "in": "header", "schema": {"$ref": "#/components/schemas/Namespace"}}
VERSION = {
    "name": "X-Pond-Protocol-Version",
    "in": "header",
    "required": True,
    "schema": {"$ref": "#/components/schemas/ProtocolVersion"},
}
ANSWER = {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Count"}}}}}

ROUTE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a parameter is gone": (
        {"parameters": [VERSION]},
        [f"{PATHS}/parameters/header X-Pond-Namespace: the parameter is gone"],
    ),
    "a parameter is required": (
        {"parameters": [VERSION, {**NAMED, "required": True}]},
        [f"{PATHS}/parameters/header X-Pond-Namespace: is required now"],
    ),
    "a new parameter is required": (
        {"parameters": [VERSION, NAMED, {"name": "q", "in": "query", "required": True, "schema": TEXT}]},
        [f"{PATHS}/parameters/query q: is a new parameter, and required"],
    ),
    "a new parameter": ({"parameters": [VERSION, NAMED, {"name": "q", "in": "query", "schema": TEXT}]}, []),
    "a parameter is retyped": (
        {"parameters": [VERSION, {**NAMED, "schema": WHOLE}]},
        [f"{PATHS}/parameters/header X-Pond-Namespace: was `Namespace`, is integer"],
    ),
    "a parameter is written in another way": (
        {"parameters": [VERSION, {"name": NAMED["name"], "in": "header", "content": {}}]},
        [f"{PATHS}/parameters/header X-Pond-Namespace: is written in another way"],
    ),
    "a body is needed": (
        {"requestBody": {"required": True, "content": {}}},
        [f"{PATHS}/requestBody: a body is needed now"],
    ),
    "another name": ({"operationId": "figures"}, [f'{PATHS}/operationId: was "stats", is "figures"']),
    "another answer": (
        {"responses": ANSWER},
        [
            f"{PATHS}/responses/200/content/application~1json: "
            'was {"schema": {"$ref": "#/components/schemas/StatsResponse"}}, '
            'is {"schema": {"$ref": "#/components/schemas/Count"}}'
        ],
    ),
    "another form of the answer": (
        {"responses": {"200": {"content": {"text/plain": {}}}}},
        [f"{PATHS}/responses/200/content/application~1json: `application/json` is gone"],
    ),
}


@pytest.mark.parametrize("change", ROUTE)
def test_a_change_of_a_route(change: str) -> None:
    changes, expected = ROUTE[change]
    before = {"parameters": [VERSION, NAMED]}
    assert _changes(_served(**before), _served(**{**before, **changes})) == expected


def test_a_body_of_another_type_is_named() -> None:
    new = versions(shipped(), "here")
    body = new["v1"].openapi["paths"]["/v1/list"]["post"]["requestBody"]
    body["content"] = {"application/json": {"schema": {"$ref": "#/components/schemas/GetRequest"}}}
    (found,) = _changes(_served(), new)
    assert found.startswith("v1/openapi.json#/paths/~1v1~1list/post/requestBody/content/application~1json: was ")


def test_a_route_that_is_gone_is_named() -> None:
    new = versions(shipped(), "here")
    del new["v1"].openapi["paths"]["/v1/search"]
    assert "v1/openapi.json#/paths/~1v1~1search/post: `POST /v1/search` is gone" in _changes(_served(), new)


def test_a_token_that_was_optional_stays_so() -> None:
    new = versions(shipped(), "here")
    new["v1"].openapi["security"] = [{"token": []}]
    assert _changes(_served(), new) == ["v1/openapi.json#/security: a token is needed now"]


def test_an_openapi_document_stays() -> None:
    new = versions(shipped(), "here")
    new["v1"].openapi.clear()
    assert "v1/openapi.json#: the file is gone" in _changes(_served(), new)


def test_the_bundle_of_this_pond_does_not_break_itself() -> None:
    assert _changes(_served(), _served()) == []
