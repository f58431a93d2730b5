"""JSON Schema, read into a small typed model.

The reader accepts only the subset of JSON Schema that schema/ is written in. It refuses everything else, with the
place, so that no emitter can silently ignore a keyword.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = Mapping[str, Any]

REF_PREFIX = "#/$defs/"

_PRIMITIVES = ("string", "integer", "number", "boolean")
_LIMITS = ("minLength", "pattern", "minimum", "maximum")
SUMMARY, SEARCH = "x-summary", "x-search"  # what a Part's field means to readers and search; validators ignore them
_SUMMARIES = ("name", "call_id", "media_type", "size", "bytes")


class SchemaError(Exception):
    """The schema breaks a house rule at `pointer`."""

    def __init__(self, pointer: str, problem: str) -> None:
        super().__init__(f"{pointer}: {problem}")
        self.pointer = pointer
        self.problem = problem


@dataclass(frozen=True)
class Ref:
    """A definition, by name."""

    name: str


@dataclass(frozen=True)
class Primitive:
    """A JSON scalar with its limits, as (keyword, value) pairs."""

    name: str
    limits: tuple[tuple[str, str | int | float], ...] = ()


@dataclass(frozen=True)
class Const:
    """Exactly one string."""

    value: str


@dataclass(frozen=True)
class ListOf:
    """An array of one type."""

    item: "TypeExpr"
    non_empty: bool = False


@dataclass(frozen=True)
class MapOf:
    """An object with free keys and one type of value."""

    value: "TypeExpr"


TypeExpr: TypeAlias = Ref | Primitive | Const | ListOf | MapOf


@dataclass(frozen=True)
class Field:
    """One property of an object; for a Part also its role in a summary and its place in the searched text."""

    name: str
    type: TypeExpr
    required: bool
    description: str
    summary: str | None = None
    searched: int = 0


@dataclass(frozen=True)
class ObjectType:
    """An object with named fields; `open` says whether it takes others as well."""

    name: str
    description: str
    fields: tuple[Field, ...]
    open: bool
    needs: tuple[tuple[str, str], ...] = ()
    """Pairs (a, b): where `a` is present `b` must be."""

    def field(self, name: str) -> Field | None:
        """Return the field called `name`, if there is one."""
        return next((each for each in self.fields if each.name == name), None)


@dataclass(frozen=True)
class UnionType:
    """One of several definitions; the value of `discriminator` says which."""

    name: str
    description: str
    discriminator: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class EnumValue:
    """One value of an enumeration."""

    value: str
    description: str


@dataclass(frozen=True)
class EnumType:
    """One of several strings."""

    name: str
    description: str
    values: tuple[EnumValue, ...]


@dataclass(frozen=True)
class ScalarType:
    """A scalar with its own name, such as a branded id."""

    name: str
    description: str
    type: Primitive


@dataclass(frozen=True)
class OneOrMoreType:
    """One value of a definition, or a non-empty array of them."""

    name: str
    description: str
    item: str


@dataclass(frozen=True)
class AnyType:
    """Any JSON value, with its own name."""

    name: str
    description: str


Definition: TypeAlias = ObjectType | UnionType | EnumType | ScalarType | OneOrMoreType | AnyType


@dataclass(frozen=True)
class Model:
    """All definitions of a bundled schema, in the order of the schema."""

    title: str
    description: str
    definitions: tuple[Definition, ...]

    def __getitem__(self, name: str) -> Definition:
        """Return the definition called `name`."""
        return next(each for each in self.definitions if each.name == name)

    def variants(self, name: str) -> Iterator[ObjectType]:
        """Yield the objects that a definition can be: itself, or the members of a union, including nested ones."""
        match self[name]:
            case ObjectType() as found:
                yield found
            case UnionType(members=members):
                for member in members:
                    yield from self.variants(member)
            case EnumType() | ScalarType() | OneOrMoreType() | AnyType():
                return


def read_model(schema: Json) -> Model:
    """Read a bundled schema (every `$ref` local), or raise SchemaError at the first broken rule."""
    _allow(schema, "#", {"$comment", "$schema", "$id", "$ref", "title", "description", "$defs"})
    definitions = tuple(_definition(name, body) for name, body in schema["$defs"].items())
    model = Model(schema["title"], _described(schema, "#"), definitions)
    _check_refs(model, {each.name for each in definitions})
    _check_unions(model)
    return model


def _definition(name: str, body: Json) -> Definition:
    at = REF_PREFIX + name
    description = _described(body, at)
    if "discriminator" in body:
        return _union(name, description, body, at)
    if "oneOf" in body and any("items" in member for member in body["oneOf"]):
        return _one_or_more(name, description, body, at)
    if "oneOf" in body:
        return _enum(name, description, body, at)
    if body.get("type") == "object":
        return _object(name, description, body, at)
    if "type" in body:
        return ScalarType(name, description, _primitive(body, at))
    _allow(body, at, {"description"})
    return AnyType(name, description)


def _union(name: str, description: str, body: Json, at: str) -> UnionType:
    _allow(body, at, {"description", "oneOf", "discriminator"})
    _allow(body["discriminator"], f"{at}/discriminator", {"propertyName"})
    members = tuple(_ref(member, f"{at}/oneOf/{index}").name for index, member in enumerate(body["oneOf"]))
    return UnionType(name, description, body["discriminator"]["propertyName"], members)


def _enum(name: str, description: str, body: Json, at: str) -> EnumType:
    _allow(body, at, {"description", "oneOf"})
    return EnumType(name, description, tuple(_enum_values(body["oneOf"], at)))


def _one_or_more(name: str, description: str, body: Json, at: str) -> OneOrMoreType:
    _allow(body, at, {"description", "oneOf"})
    item = _ref(body["oneOf"][0], f"{at}/oneOf/0")
    if [_type(member, f"{at}/oneOf/{index}") for index, member in enumerate(body["oneOf"])] != [
        item,
        ListOf(item, True),
    ]:
        raise SchemaError(at, "expected a definition and a non-empty list of it")
    return OneOrMoreType(name, description, item.name)


def _enum_values(members: Sequence[Json], at: str) -> Iterator[EnumValue]:
    for index, member in enumerate(members):
        here = f"{at}/oneOf/{index}"
        if "const" not in member:
            raise SchemaError(here, "a union of objects needs a discriminator; an enumeration needs constants")
        _allow(member, here, {"const", "description"})
        yield EnumValue(member["const"], _described(member, here))


def _object(name: str, description: str, body: Json, at: str) -> ObjectType:
    _allow(
        body,
        at,
        {"description", "type", "properties", "required", "dependentRequired", "additionalProperties"},
    )
    if not isinstance(body.get("additionalProperties"), bool):
        raise SchemaError(at, "an object says whether it takes other fields (additionalProperties: true or false)")
    properties, required = body["properties"], body.get("required", [])
    for missing in [each for each in required if each not in properties]:
        raise SchemaError(f"{at}/required", f"`{missing}` is required but not a property")
    fields = tuple(_field(key, value, key in required, f"{at}/properties/{key}") for key, value in properties.items())
    needs = tuple((key, other) for key, others in body.get("dependentRequired", {}).items() for other in others)
    return ObjectType(name, description, fields, body["additionalProperties"], needs)


def _field(name: str, body: Json, required: bool, at: str) -> Field:
    summary, searched = body.get(SUMMARY), body.get(SEARCH, 0)
    if summary not in (None, *_SUMMARIES):
        raise SchemaError(f"{at}/{SUMMARY}", f"expected one of {', '.join(_SUMMARIES)}, found {summary!r}")
    if type(searched) is not int:
        raise SchemaError(f"{at}/{SEARCH}", f"expected a place in the text that is searched, found {searched!r}")
    typed = {key: value for key, value in body.items() if key not in (SUMMARY, SEARCH)}
    return Field(name, _type(typed, at), required, _described(body, at), summary, searched)


def _type(body: Json, at: str) -> TypeExpr:
    if "$ref" in body:
        return _ref(body, at)
    if "const" in body:
        _allow(body, at, {"description", "type", "const"})
        return Const(body["const"])
    if body.get("type") == "array":
        _allow(body, at, {"description", "type", "items", "minItems"})
        return ListOf(_type(body["items"], f"{at}/items"), body.get("minItems", 0) > 0)
    if body.get("type") == "object":
        _allow(body, at, {"description", "type", "additionalProperties"})
        return MapOf(_type(body["additionalProperties"], f"{at}/additionalProperties"))
    if "enum" in body or "oneOf" in body:
        raise SchemaError(at, "an enumeration or union is a definition of its own, so that its name survives")
    return _primitive(body, at)


def _primitive(body: Json, at: str) -> Primitive:
    _allow(body, at, {"description", "type", *_LIMITS})
    if body.get("type") not in _PRIMITIVES:
        raise SchemaError(at, f"expected one of {', '.join(_PRIMITIVES)}, found {body.get('type')!r}")
    return Primitive(body["type"], tuple((limit, body[limit]) for limit in _LIMITS if limit in body))


def _ref(body: Json, at: str) -> Ref:
    _allow(body, at, {"description", "$ref"})
    target = body["$ref"]
    if not target.startswith(REF_PREFIX):
        raise SchemaError(at, f"expected a reference to {REF_PREFIX}<name>, found {target!r}")
    return Ref(target.removeprefix(REF_PREFIX))


def _described(body: Json, at: str) -> str:
    description = body.get("description")
    if not isinstance(description, str) or not description.strip():
        raise SchemaError(at, "has no description, and the reference is made of descriptions")
    return description


def _allow(body: Json, at: str, keywords: set[str]) -> None:
    for unknown in [each for each in body if each not in keywords]:
        raise SchemaError(at, f"keyword `{unknown}` is not used here")


def _check_refs(model: Model, names: set[str]) -> None:
    for definition in model.definitions:
        for name in _names_used(definition):
            if name not in names:
                raise SchemaError(REF_PREFIX + definition.name, f"refers to `{name}`, which is not defined")


def _names_used(definition: Definition) -> Iterator[str]:
    match definition:
        case ObjectType(fields=fields):
            for field in fields:
                yield from _names_in(field.type)
        case UnionType(members=members):
            yield from members
        case OneOrMoreType(item=item):
            yield item
        case EnumType() | ScalarType() | AnyType():
            return


def _names_in(type_: TypeExpr) -> Iterator[str]:
    match type_:
        case Ref(name):
            yield name
        case ListOf(inner) | MapOf(inner):
            yield from _names_in(inner)
        case Primitive() | Const():
            return


def reachable(model: Model, names: Iterable[str]) -> set[str]:
    """Return the names of the definitions and of everything they consist of."""
    found: set[str] = set()
    open_ = list(names)
    while open_:
        name = open_.pop()
        if name not in found:
            found.add(name)
            open_ += _names_used(model[name])
    return found


def _check_unions(model: Model) -> None:
    """Every member of a union has the discriminator as a required constant, and no two members share a value."""
    for union in model.definitions:
        if isinstance(union, UnionType):
            at = REF_PREFIX + union.name
            seen: dict[str, str] = {}
            for member in union.members:
                for value in tags_of(model, union, member):
                    if value in seen:
                        raise SchemaError(at, f"`{seen[value]}` and `{member}` are both tagged {value!r}")
                    seen[value] = member


def tags_of(model: Model, union: UnionType, member: str) -> list[str]:
    """Return the values that distinguish one member of a union from the others."""
    tags = []
    for variant in model.variants(member):
        field = variant.field(union.discriminator)
        if field is None or not field.required or not isinstance(field.type, Const):
            problem = f"`{variant.name}` does not carry `{union.discriminator}` as a required constant"
            raise SchemaError(REF_PREFIX + union.name, problem)
        tags.append(field.type.value)
    return list(dict.fromkeys(tags))
