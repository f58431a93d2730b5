"""Emit the operations of the Python client: one typed method for each call, once for each way of waiting."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

from codegen.emit_schema import wire_bundle
from codegen.layout import laid_out
from codegen.metamodel import Const, Field, ListOf, MapOf, Primitive, Ref, TypeExpr, read_model
from codegen.output import MARK
from codegen.routes import Route, Routes, read_routes

OPERATIONS = Path("pond/client/_operations.py")
_PRIMITIVES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_HEAD = '''"""The operations of a server, as methods: what each takes and what it answers with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

if TYPE_CHECKING:
    from pond.types import {types}


class Operation(NamedTuple):
    """Where an operation is sent."""

    name: str
    method: str
    path: str
'''


def targets() -> dict[Path, str]:
    """Return the module of operations by path."""
    header = f"# {MARK} from schema/; do not edit.\n# ruff: noqa: D401, E501, F401\n"
    return {OPERATIONS: header + laid_out("\n".join(_module(read_routes(read_model(wire_bundle())))))}


def _module(table: Routes) -> Iterator[str]:
    yield _HEAD.format(types=", ".join(sorted(set(_types(table)))))
    for route in table.calls:
        yield f'{route.operation.upper()} = Operation("{route.operation}", "{route.method}", "{route.path}")'
    yield from _class("SyncOperations", "Sends each operation, and waits for the answer.", table, "", "")
    yield from _class("AsyncOperations", "Sends each operation; the answer is awaited.", table, "async ", "await ")


def _types(table: Routes) -> Iterator[str]:
    for route in table.calls:
        yield from filter(None, [route.response])
        for field in table.own_fields(route):
            yield from _names(field.type)


def _names(type_: TypeExpr) -> Iterator[str]:
    match type_:
        case Ref(name):
            yield name
        case ListOf(inner) | MapOf(inner):
            yield from _names(inner)
        case Primitive() | Const():
            return


def _class(name: str, about: str, table: Routes, keyword: str, waiting: str) -> Iterator[str]:
    yield f'\n\nclass {name}(ABC):\n    """{about}"""\n\n    @abstractmethod'
    yield f"    {keyword}def _call(self, operation: Operation, request: dict[str, Any]) -> Any:"
    yield '        """Return the answer to a request, of which absent fields are None."""\n'
    for route in table.calls:
        yield from _method(route, tuple(table.own_fields(route)), keyword, waiting)


def _method(route: Route, fields: tuple[Field, ...], keyword: str, waiting: str) -> Iterator[str]:
    must = [f"{field.name}: {_type(field.type)}" for field in fields if field.required]
    may = [f"{field.name}: {_type(field.type)} | None = None" for field in fields if not field.required]
    arguments = ", ".join(["self", *must, *(["*", *may] if may else [])])
    request = ", ".join(f'"{field.name}": {field.name}' for field in fields)
    yield f"    {keyword}def {route.operation}({arguments}) -> {route.response}:"
    yield f'        """{route.summary}'
    for field in fields:
        yield ""
        text = f"{field.name}: {field.description}"
        yield from textwrap.wrap(text, 118, initial_indent=" " * 8, subsequent_indent=" " * 12)
    yield '        """'
    answer = f"{waiting}self._call({route.operation.upper()}, {{{request}}})"
    yield f'        return cast("{route.response}", {answer})\n'


def _type(type_: TypeExpr) -> str:
    match type_:
        case Ref(name):
            return name
        case Const(value):
            return f"Literal[{value!r}]"
        case ListOf(item):  # one of the operations is called `list`
            return f"Sequence[{_type(item)}]"
        case MapOf(value):
            return f"Mapping[str, {_type(value)}]"
        case Primitive(name):
            return _PRIMITIVES[name]
