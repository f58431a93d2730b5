"""Emit TypeScript declarations: one exported type for each definition, under the name that the schema gives it."""

import json
from collections.abc import Iterator
from pathlib import Path

from codegen.emit_schema import version_folder, wire_bundle
from codegen.metamodel import (
    AnyType,
    Const,
    Definition,
    EnumType,
    ListOf,
    MapOf,
    ObjectType,
    OneOrMoreType,
    Primitive,
    Ref,
    ScalarType,
    TypeExpr,
    UnionType,
    reachable,
    read_model,
)
from codegen.output import MARK
from codegen.routes import Routes, read_routes

_PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
_ANY = "null | boolean | number | string | readonly {0}[] | {{ readonly [key: string]: {0} }}"


def targets() -> dict[Path, str]:
    """Return the declarations by path."""
    table = read_routes(read_model(wire_bundle()))
    head = f"// {MARK} from schema/; do not edit.\n"
    return {version_folder() / "pond.d.ts": head + "\n".join(declarations(table)) + "\n"}


def declarations(table: Routes) -> Iterator[str]:
    """Yield the lines of the declarations: the types, then the operations with their routes."""
    model = table.model
    requests = (
        name for each in model.definitions if (name := each.name).startswith("Request") or name.endswith("Request")
    )
    written = reachable(model, requests)
    for definition in model.definitions:
        yield ""
        yield from _comment(definition.description)
        yield from _declaration(definition, grows=definition.name in written)
    yield from _operations(table)


def _declaration(definition: Definition, *, grows: bool) -> Iterator[str]:
    name = definition.name
    match definition:
        case ObjectType():
            yield f"export interface {name} {{"
            yield from _fields(definition)
            # A reader ignores fields it does not know. A writer of such a value may add its own.
            if definition.open and grows:
                yield "  [key: string]: unknown;"
            yield "}"
        case UnionType(members=members):
            yield f"export type {name} = {' | '.join(members)};"
        case EnumType(values=values):
            yield f"export type {name} = {' | '.join(json.dumps(each.value) for each in values)};"
        case OneOrMoreType(item=item):
            yield f"export type {name} = {item} | {_some(item)};"
        case ScalarType(type=type_):
            yield f"export type {name} = {_type(type_)};"
        case AnyType():
            yield f"export type {name} = {_ANY.format(name)};"


def _fields(definition: ObjectType) -> Iterator[str]:
    for field in definition.fields:
        yield from _comment(field.description, "  ")
        yield f"  {field.name}{'' if field.required else '?'}: {_type(field.type)};"


def _type(type_: TypeExpr) -> str:
    match type_:
        case Ref(name):
            return name
        case Const(value):
            return json.dumps(value)
        case ListOf(item, non_empty):
            return _some(_type(item)) if non_empty else f"readonly {_type(item)}[]"
        case MapOf(value):
            return f"{{ readonly [key: string]: {_type(value)} }}"
        case Primitive(name):
            return _PRIMITIVES[name]


def _some(item: str) -> str:
    return f"readonly [{item}, ...{item}[]]"


def _operations(table: Routes) -> Iterator[str]:
    yield ""
    yield from _comment("The operations that take one JSON value and answer with another.")
    yield "export interface Operations {"
    for route in table.calls:
        yield from _comment(route.summary, "  ")
        yield f"  {route.operation}: {{"
        yield f"    method: {json.dumps(route.method)};"
        yield f"    path: {json.dumps(route.path)};"
        yield f"    request: {route.request};"
        yield f"    response: {route.response};"
        yield "  };"
    yield "}"


def _comment(text: str, indent: str = "") -> Iterator[str]:
    inside = text.replace("*/", "* /")  # would end the comment
    yield f"{indent}/** {inside} */"
