"""The OpenAPI document of the server: the wire schemas, and the table of routes."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pond._locate import schema_dir
from pond._version import __version__
from pond.diagnostics.failures import Failure
from pond.model.json_text import JsonObject
from pond.transports.http.bodies import NAMESPACE, VERSION
from pond.transports.http.routes import OPERATIONS, Route

_LOCAL, _HERE = "#/$defs/", "#/components/schemas/"
_TAGS = "x-tags-of"


@cache
def document() -> JsonObject:
    """Return the OpenAPI 3.1 document: the published one, or where there is none yet, one made from the same schema."""
    if (published := schema_dir() / "bundle" / "v1" / "openapi.json").is_file():
        found: JsonObject = json.loads(published.read_text())
        return found
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "pond",
            "version": __version__,
            "description": "Search, read and store agent sessions. Every error has the shape of `ErrorResponse`.",
        },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "paths": {
            **{route.path: {route.method.lower(): _operation(route)} for route in OPERATIONS},
            "/v1/events": {"get": _events()},
            "/v1/blobs/{sha256}": {"get": _blob()},
        },
        "components": {"schemas": _schemas()},
    }


def _operation(route: Route) -> JsonObject:
    operation: JsonObject = {
        "operationId": route.path.removeprefix("/v1/"),
        "summary": route.summary,
        "responses": {"200": _content(route.response, "What was asked for."), **_failures()},
    }
    if route.method == "POST":
        operation["requestBody"] = {"required": True, **_content(route.request, "The request.")}
    else:
        operation["parameters"] = header_parameters()
    return operation


def _events() -> JsonObject:
    parameters = [
        _parameter("session", "query", {"$ref": f"{_HERE}SessionId"}, "The session.", required=True),
        _parameter("payloads", "query", {"enum": ["inline", "reference"]}, "How payloads come; inline if not said."),
        _parameter("last-event-id", "header", {"type": "string"}, "Go on after the event with this id."),
    ]
    stream = {"text/event-stream": {"schema": {"type": "string"}}}
    return {
        "operationId": "events",
        "summary": "Stream the canonical events of a session, then new ones as they arrive.",
        "parameters": [*parameters, *header_parameters()],
        "responses": {"200": {"description": "The events.", "content": stream}, **_failures()},
    }


def _blob() -> JsonObject:
    digest = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
    return {
        "operationId": "blob",
        "summary": "Fetch a payload by its hash.",
        "parameters": [
            _parameter("sha256", "path", digest, "The SHA-256 of the payload.", required=True), *header_parameters(),
        ],
        "responses": {
            "200": {"description": "The bytes.", "content": {"application/octet-stream": {}}}, **_failures(),
        },
    }  # fmt: skip


def _parameter(name: str, place: str, schema: JsonObject, about: str, *, required: bool = False) -> JsonObject:
    return {"name": name, "in": place, "required": required, "schema": schema, "description": about}


def header_parameters() -> list[JsonObject]:
    """Return the headers that stand for the envelope of a request without a body."""
    version, namespace = {"type": "integer", "minimum": 1}, {"$ref": f"{_HERE}Namespace"}
    return [
        _parameter(VERSION, "header", version, "The protocol version of the request.", required=True),
        _parameter(NAMESPACE, "header", namespace, "The tenant the request is for."),
    ]


def _content(name: str, about: str) -> JsonObject:
    return {"description": about, "content": {"application/json": {"schema": {"$ref": _HERE + name}}}}


def _failures() -> JsonObject:
    found: dict[str, list[str]] = {}
    for failure in Failure:
        found.setdefault(str(failure.status), []).append(failure.code)
    return {status: _content("ErrorResponse", f"Failed: {', '.join(codes)}.") for status, codes in found.items()}


def _schemas() -> JsonObject:
    wire, canonical = (json.loads((schema_dir() / f"{name}.schema.json").read_text()) for name in ("wire", "canonical"))
    for body in wire["$defs"].values():
        if _TAGS in body:  # an enumeration of the tags of a union
            union = canonical["$defs"][body.pop(_TAGS).rpartition("/")[2]]
            members = (each["$ref"].rpartition("/")[2] for each in union["oneOf"])
            tag = union["discriminator"]["propertyName"]
            body["enum"] = [canonical["$defs"][name]["properties"][tag]["const"] for name in members]
    schemas = {**canonical["$defs"], **wire["$defs"]}
    return {name: _pointed(body, canonical["$id"]) for name, body in schemas.items()}


def _pointed(value: Any, canonical: str) -> Any:
    """Return a schema whose references lead to where the document has its definitions."""
    match value:
        case {"$ref": str(target), **rest}:
            return {"$ref": target.removeprefix(canonical).replace(_LOCAL, _HERE), **_pointed(rest, canonical)}
        case dict():
            return {key: _pointed(inner, canonical) for key, inner in value.items()}
        case list():
            return [_pointed(inner, canonical) for inner in value]
        case _:
            return value
