"""Emit the OpenAPI document: the table of routes with the types of the schema as its components."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codegen.emit_schema import WIRE, rebased, version_folder, wire_bundle
from codegen.metamodel import REF_PREFIX, Field, ListOf, MapOf, Model, Ref, ScalarType, UnionType, read_model, tags_of
from codegen.output import MARK
from codegen.routes import ENVELOPE, ROUTES, Route, Routes, read_routes
from pond.diagnostics.failures import Failure

_COMPONENTS = "#/components/schemas/"
_JSON = "application/json"
_REQUEST_ID = {
    "X-Pond-Request-Id": {
        "description": "Names the request in the log of the server.",
        "schema": {"type": "string", "minLength": 1},
    }
}


def targets() -> dict[Path, str]:
    """Return the document by path."""
    text = json.dumps(openapi(wire_bundle()), indent=2, ensure_ascii=False) + "\n"
    return {version_folder() / "openapi.json": text}


def openapi(bundle: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a bundled schema."""
    model = read_model(bundle)
    table = read_routes(model)
    paths: dict[str, dict[str, Any]] = {}
    for route in table.routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, table, bundle)
    return {
        "x-comment": f"{MARK} from {ROUTES.as_posix()} and {WIRE.as_posix()}; do not edit.",
        "openapi": "3.1.1",
        "info": {
            "title": table.title,
            "description": table.description,
            "version": bundle["$id"].rpartition(":")[2],
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "jsonSchemaDialect": bundle["$schema"],
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "schemas": {name: _component(name, body, model) for name, body in bundle["$defs"].items()},
            "responses": dict(_failures()),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Needed only where the server was started with a token.",
                }
            },
        },
    }


def _operation(route: Route, table: Routes, bundle: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"operationId": route.operation, "summary": route.summary}
    parameters = list(_parameters(route, table, bundle))
    if parameters:
        found["parameters"] = parameters
    if route.request and route.method == "POST":
        found["requestBody"] = {"required": True, "content": _content(_JSON, route.request)}
    success = {"description": "Success.", "headers": _REQUEST_ID, "content": _content(route.media, route.response)}
    failures = {str(each.status): {"$ref": f"#/components/responses/{each.status}"} for each in Failure}
    return {**found, "responses": {"200": success, **dict(sorted(failures.items()))}}


def _content(media: str, type_: str | None) -> dict[str, Any]:
    if type_ is None:
        return {media: {}}
    if media != _JSON:  # a text whose pieces are values of the type
        return {media: {"schema": {"type": "string"}, "x-item": {"$ref": _COMPONENTS + type_}}}
    return {media: {"schema": {"$ref": _COMPONENTS + type_}}}


def _parameters(route: Route, table: Routes, bundle: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for each in route.parameters:
        yield _local(each)
    if route.request and route.method == "GET":
        fields = bundle["$defs"][route.request]["properties"]
        yield from (_parameter(field, fields[field.name], table.model) for field in table.request(route).fields)
    elif route.envelope:
        fields = bundle["$defs"]["RequestEnvelope"]["properties"]
        envelope = next(table.model.variants("RequestEnvelope"))
        yield from (_parameter(field, fields[field.name], table.model) for field in envelope.fields)


def _parameter(field: Field, body: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """Return a field of a request as a parameter: a header if every request has it, otherwise part of the query."""
    schema = {key: value for key, value in body.items() if key != "description"}
    found = {
        "name": ENVELOPE.get(field.name, field.name),
        "in": "header" if field.name in ENVELOPE else "query",
        "required": field.required,
        "description": field.description,
    }
    if _is_plain(field, model):
        return {**found, "schema": _local(schema)}
    return {**found, "content": {_JSON: {"schema": _local(schema)}}}


def _is_plain(field: Field, model: Model) -> bool:
    """Return whether a value can be written plainly in a query; any other is written as JSON."""
    match field.type:
        case ListOf() | MapOf():
            return False
        case Ref(name):
            return isinstance(model[name], ScalarType)
        case _:
            return True


def _component(name: str, body: Mapping[str, Any], model: Model) -> Any:
    definition = model[name]
    if isinstance(definition, UnionType):
        # Without a mapping, OpenAPI would take the discriminator's values for type names.
        mapping = {tag: _COMPONENTS + each for each in definition.members for tag in tags_of(model, definition, each)}
        body = {**body, "discriminator": {"propertyName": definition.discriminator, "mapping": mapping}}
    return _local(body)


def _failures() -> Iterator[tuple[str, Any]]:
    for status in sorted({each.status for each in Failure}):
        codes = [each for each in Failure if each.status == status]
        yield (
            str(status),
            {
                "description": f"{' or '.join(f'`{each.code}`' for each in codes)}.",
                "headers": _REQUEST_ID,
                "content": _content(_JSON, "ErrorResponse"),
            },
        )


def _local(value: Any) -> Any:
    return rebased(value, REF_PREFIX, _COMPONENTS)
