"""The routes of the HTTP interface, read from schema/routes.json and checked against the types they name."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from codegen.metamodel import Field, Json, Model, ObjectType, SchemaError
from codegen.output import ROOT

ROUTES = Path("schema/routes.json")
ENVELOPE = {"protocol_version": "X-Pond-Protocol-Version", "namespace": "X-Pond-Namespace"}
"""Where the fields that all requests share go if a request has no body: field -> header."""


@dataclass(frozen=True)
class Route:
    """One route; `request` and `response` name types, `media` says what else a response consists of."""

    operation: str
    method: str
    path: str
    summary: str
    request: str | None = None
    response: str | None = None
    media: str = "application/json"
    parameters: tuple[Json, ...] = ()
    envelope: bool = False

    @property
    def is_call(self) -> bool:
        """Return whether it takes one JSON value of a type and answers with another."""
        return self.request is not None and self.response is not None


@dataclass(frozen=True)
class Routes:
    """All routes, with the types of the schema."""

    title: str
    description: str
    routes: tuple[Route, ...]
    model: Model

    @cached_property
    def calls(self) -> tuple[Route, ...]:
        """Return the routes that take one JSON value and answer with another."""
        return tuple(route for route in self.routes if route.is_call)

    def request(self, route: Route) -> ObjectType:
        """Return the type of a call's request."""
        found = self.model[route.request or ""]
        assert isinstance(found, ObjectType), "read_routes has seen to that"
        return found

    def own_fields(self, route: Route) -> Iterator[Field]:
        """Yield the fields of a call's request that not every request has."""
        return (field for field in self.request(route).fields if field.name not in ENVELOPE)


def read_routes(model: Model) -> Routes:
    """Read the table of routes; raise SchemaError where it names a type that does not exist."""
    loaded: dict[str, Any] = json.loads((ROOT / ROUTES).read_text(encoding="utf-8"))
    routes = tuple(Route(**{**each, "parameters": tuple(each.get("parameters", ()))}) for each in loaded["routes"])
    for route in routes:
        _check(route, model)
    return Routes(loaded["title"], loaded["description"], routes, model)


def _check(route: Route, model: Model) -> None:
    types = {each.name: each for each in model.definitions}
    for name in filter(None, (route.request, route.response)):
        if name not in types:
            raise SchemaError(f"{ROUTES}: {route.path}", f"refers to `{name}`, which is not defined")
    if route.request and not isinstance(types[route.request], ObjectType):
        raise SchemaError(f"{ROUTES}: {route.path}", f"`{route.request}` is not an object")
