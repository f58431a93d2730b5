"""Compares the routes of two OpenAPI documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pond.model.json_text import JsonObject
from pond.publishing.breaks import Break, Side, pointer
from pond.publishing.compare import Comparison


def route_breaks(old: JsonObject, new: JsonObject, at: str) -> Iterator[Break]:
    """Yield what a caller of the old document would miss in the new one."""
    comparison = Comparison(_components(old), _components(new))
    for path, methods in old.get("paths", {}).items():
        for method, operation in methods.items():
            here = pointer(f"{at}#", "paths", path, method)
            found = new.get("paths", {}).get(path, {}).get(method)
            if found is None:
                yield Break(here, f"`{method.upper()} {path}` is gone")
            else:
                yield from _operation(operation, found, here, comparison)
    if {} in old.get("security", [{}]) and {} not in new.get("security", [{}]):
        yield Break(pointer(f"{at}#", "security"), "a token is needed now")


def _components(document: JsonObject) -> JsonObject:
    found: JsonObject = document.get("components", {}).get("schemas", {})
    return found


def _operation(old: JsonObject, new: JsonObject, at: str, comparison: Comparison) -> Iterator[Break]:
    yield from _name(old, new, at)
    yield from _parameters(_by_name(old), _by_name(new), pointer(at, "parameters"), comparison)
    yield from _body(old.get("requestBody"), new.get("requestBody"), pointer(at, "requestBody"))
    before, after = (_content(each.get("responses", {}).get("200")) for each in (old, new))
    yield from _contents(before, after, pointer(at, "responses", "200", "content"))


def _name(old: JsonObject, new: JsonObject, at: str) -> Iterator[Break]:
    before, after = old.get("operationId"), new.get("operationId")
    if before != after:  # its name in generated clients
        yield Break(pointer(at, "operationId"), f"was {json.dumps(before)}, is {json.dumps(after)}")


def _by_name(operation: JsonObject) -> dict[str, JsonObject]:
    return {f"{each['in']} {each['name']}": each for each in operation.get("parameters", ())}


def _parameters(
    old: dict[str, JsonObject], new: dict[str, JsonObject], at: str, comparison: Comparison
) -> Iterator[Break]:  # fmt: skip
    for name, parameter in old.items():
        here = pointer(at, name)
        if name not in new:
            yield Break(here, "the parameter is gone")
        elif ("schema" in parameter) != ("schema" in new[name]):
            yield Break(here, "is written in another way")
        else:
            yield from comparison.breaks(_schema(parameter), _schema(new[name]), here, Side.READ)
    for name, parameter in new.items():
        if parameter.get("required") and not old.get(name, {}).get("required"):
            yield Break(pointer(at, name), "is required now" if name in old else "is a new parameter, and required")


def _schema(parameter: JsonObject) -> JsonObject:
    found: JsonObject = parameter.get("schema") or parameter["content"]["application/json"]["schema"]
    return found


def _body(old: JsonObject | None, new: JsonObject | None, at: str) -> Iterator[Break]:
    if old is None and new is not None and new.get("required"):
        yield Break(at, "a body is needed now")
    yield from _contents(_content(old), _content(new), pointer(at, "content"))


def _content(holder: JsonObject | None) -> dict[str, Any]:
    found: dict[str, Any] = (holder or {}).get("content", {})
    return found


def _contents(old: dict[str, Any], new: dict[str, Any], at: str) -> Iterator[Break]:
    for media, body in old.items():
        here = pointer(at, media)
        if media not in new:
            yield Break(here, f"`{media}` is gone")
        elif body != new[media]:
            yield Break(here, f"was {json.dumps(body)}, is {json.dumps(new[media])}")
