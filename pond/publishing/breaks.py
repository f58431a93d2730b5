"""What a comparison of two published versions can find, and on which side of the wire a type is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Flag, auto
from typing import Any

from pond.model.json_text import JsonObject


class Side(Flag):
    """Who sends a value. What pond reads may only become wider, what it sends may only become narrower."""

    READ = auto()
    SENT = auto()
    BOTH = READ | SENT


@dataclass(frozen=True, slots=True)
class Break:
    """One change that breaks a user of the published version."""

    at: str  # file and JSON pointer
    change: str


def pointer(at: str, *steps: str) -> str:
    """Return a pointer with more steps, each escaped."""
    return "/".join([at, *(step.replace("~", "~0").replace("/", "~1") for step in steps)])


def sides(definitions: Mapping[str, JsonObject], openapi: JsonObject, roots: Iterable[str]) -> dict[str, Side]:
    """Return the side of every type: by the routes that use it, by its name, and by what refers to it."""
    found = dict.fromkeys(definitions, Side(0))
    for name, side in _known(definitions, openapi, roots):
        if name in found and side not in found[name]:
            for inner in reached(name, definitions):
                found[inner] |= side
    return found


def _known(
    definitions: Mapping[str, JsonObject], openapi: JsonObject, roots: Iterable[str]
) -> Iterator[tuple[str, Side]]:  # fmt: skip
    for root in roots:
        yield root, Side.BOTH
    for path in openapi.get("paths", {}).values():
        for operation in path.values():
            yield from ((name, Side.SENT) for name in references(operation.get("responses", {})))
            asked = [operation.get("requestBody", {}), operation.get("parameters", [])]
            yield from ((name, Side.READ) for name in references(asked))
    used = {name for body in definitions.values() for name in references(body)}
    for name in definitions:
        if name.endswith("Request"):
            yield name, Side.READ
        elif name.endswith("Response"):
            yield name, Side.SENT
        elif name not in used:
            yield name, Side.BOTH


def reached(name: str, definitions: Mapping[str, JsonObject]) -> set[str]:
    """Return a type and everything it consists of."""
    found, open_ = {name}, [name]
    while open_:
        for inner in references(definitions[open_.pop()]):
            if inner in definitions and inner not in found:
                found.add(inner)
                open_.append(inner)
    return found


def references(value: Any) -> Iterator[str]:
    """Yield the names of the types that a schema refers to."""
    match value:
        case dict():
            if isinstance(target := value.get("$ref"), str):
                yield target.rpartition("/")[2]
            for inner in value.values():
                yield from references(inner)
        case list():
            for inner in value:
                yield from references(inner)
