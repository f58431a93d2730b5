"""The OpenAPI document has every route and every type, and refers to nothing that it lacks."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from codegen.emit_openapi import openapi
from codegen.emit_schema import wire_bundle
from codegen.metamodel import SchemaError, read_model
from codegen.routes import read_routes
from pond.diagnostics.failures import Failure
from tests.schema.examples import MODEL

DOCUMENT = openapi(wire_bundle())
TABLE = read_routes(MODEL)
_SENT_TO = re.compile(r"Sent to `(GET|POST) (/\S+)`")


def _references(value: Any) -> Iterator[str]:
    match value:
        case dict():
            yield from (inner for key, inner in value.items() if key == "$ref")
            yield from (each for inner in value.values() for each in _references(inner))
        case list():
            yield from (each for inner in value for each in _references(inner))


@pytest.mark.parametrize("target", sorted(set(_references(DOCUMENT))))
def test_a_reference_leads_somewhere(target: str) -> None:
    here = DOCUMENT
    for step in target.removeprefix("#/").split("/"):
        here = here[step]
    assert here


def test_it_has_every_type_and_every_route() -> None:
    assert list(DOCUMENT["components"]["schemas"]) == [each.name for each in MODEL.definitions]
    found = {(method.upper(), path) for path, each in DOCUMENT["paths"].items() for method in each}
    assert found == {(route.method, route.path) for route in TABLE.routes}
    names = [route.operation for route in TABLE.routes]
    assert len(names) == len(set(names))


def test_a_request_that_says_where_it_is_sent_has_that_route() -> None:
    said = {(*match.groups(), each.name) for each in MODEL.definitions if (match := _SENT_TO.search(each.description))}
    assert said == {(route.method, route.path, route.request) for route in TABLE.calls}


def test_a_discriminator_says_which_type_a_value_means() -> None:
    event = DOCUMENT["components"]["schemas"]["Event"]["discriminator"]
    names = {"session": "Session", "message": "Message", "part": "Part"}
    assert event == {
        "propertyName": "kind",
        "mapping": {tag: f"#/components/schemas/{name}" for tag, name in names.items()},
    }


def test_every_route_tells_of_every_failure() -> None:
    statuses = {str(each.status) for each in Failure}
    for path in DOCUMENT["paths"].values():
        for operation in path.values():
            assert set(operation["responses"]) == {"200", *statuses}


def test_fields_of_a_request_without_a_body_are_headers_or_in_the_query() -> None:
    (stats,) = [route for route in TABLE.calls if route.method == "GET"]
    found = {each["name"]: each["in"] for each in DOCUMENT["paths"][stats.path]["get"]["parameters"]}
    envelope = {"X-Pond-Protocol-Version": "header", "X-Pond-Namespace": "header"}
    assert found == envelope | {field.name: "query" for field in TABLE.own_fields(stats)}


def test_a_field_that_no_query_can_hold_is_written_as_json() -> None:
    bundle = wire_bundle()
    stats = bundle["$defs"]["StatsRequest"]
    more = {"filters": {"$ref": "#/$defs/SearchFilters", "description": "Of what."}}
    definitions = {**bundle["$defs"], "StatsRequest": {**stats, "properties": {**stats["properties"], **more}}}
    parameters = openapi({**bundle, "$defs": definitions})["paths"]["/v1/stats"]["get"]["parameters"]
    (found,) = [each for each in parameters if each["name"] == "filters"]
    assert found["content"] == {"application/json": {"schema": {"$ref": "#/components/schemas/SearchFilters"}}}


def test_a_route_with_an_unknown_type_is_refused() -> None:
    bundle = wire_bundle()
    lacking = {name: body for name, body in bundle["$defs"].items() if name != "ListRequest"}
    with pytest.raises(SchemaError, match=r"/v1/list: refers to `ListRequest`"):
        read_routes(read_model({**bundle, "$defs": lacking}))


def test_every_call_takes_the_envelope() -> None:
    for route in TABLE.calls:
        request = TABLE.request(route)
        assert [request.field(name) is None for name in ("protocol_version", "namespace")] == [False, False]
