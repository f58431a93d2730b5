"""Emit the schema of events as plain data, for code in which pydantic would cost too much."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from codegen.emit_schema import canonical_bundle
from codegen.layout import laid_out
from codegen.metamodel import (
    REF_PREFIX,
    AnyType,
    Const,
    EnumType,
    Field,
    ListOf,
    Model,
    ObjectType,
    Primitive,
    Ref,
    ScalarType,
    SchemaError,
    TypeExpr,
    read_model,
)
from codegen.output import MARK

TABLES = Path("pond/model/_tables.py")
_PYTHON = {"string": "str", "boolean": "bool"}


def targets() -> dict[Path, str]:
    """Return the module of tables by path."""
    head = f'# {MARK} from schema/; do not edit.\n"""What the schema says of events, as plain data."""\n'
    return {TABLES: laid_out(head + "\n".join(tables(read_model(canonical_bundle()))) + "\n")}


def tables(model: Model) -> Iterator[str]:
    """Yield the statements of the module."""
    messages, parts = _by_tag(model, "Message", "role"), _by_tag(model, "Part", "type")
    yield "# Field -> type: those that an event must have, and those that it may have."
    yield "Fields = tuple[dict[str, type], dict[str, type]]"
    yield f"SESSION: Fields = {_fields(model, next(model.variants('Session')))}"
    yield f"MESSAGES: dict[str, Fields] = {_table({tag: _fields(model, each) for tag, each in messages.items()})}"
    yield f"PARTS: dict[str, Fields] = {_table({tag: _fields(model, each) for tag, each in parts.items()})}"
    yield "# Which Parts a message of each role may hold."
    allowed = {role: f"frozenset({_allowed(model, message)!r})" for role, message in messages.items()}
    yield f"ALLOWED: dict[str, frozenset[str]] = {_table(allowed)}"
    yield f"PROVENANCES = {_values(model, 'Provenance')!r}"
    yield f"NOT_EMPTY = frozenset({_names(model, lambda field: _is_not_empty(model, field.type))!r})"
    yield f"TIMES = frozenset({_names(model, lambda field: field.type == Ref('Timestamp'))!r})"
    yield f"TIME = {_pattern(model, 'Timestamp')!r}"
    yield "# Of each type of Part: what its fields are in a summary, and which of them search sees, in this order."
    summaries = {
        tag: {field.name: field.summary for field in part.fields if field.summary} for tag, part in parts.items()
    }
    yield f"SUMMARY: dict[str, dict[str, str]] = {summaries!r}"
    searched = {tag: names for tag, part in parts.items() if (names := _searched(part))}
    yield f"SEARCHED: dict[str, tuple[str, ...]] = {searched!r}"


def _searched(part: ObjectType) -> tuple[str, ...]:
    fields = sorted((field for field in part.fields if field.searched), key=lambda field: field.searched)
    return tuple(field.name for field in fields)


def _table(entries: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name!r}: {value}" for name, value in entries.items()) + "}"


def _by_tag(model: Model, union: str, discriminator: str) -> dict[str, ObjectType]:
    return {_tag(variant, discriminator): variant for variant in model.variants(union)}


def _tag(variant: ObjectType, discriminator: str) -> str:
    field = variant.field(discriminator)
    assert field is not None
    assert isinstance(field.type, Const), "the metamodel has seen to that"
    return field.type.value


def _own(variant: ObjectType) -> Iterator[Field]:
    """Yield the fields of an event: in a stream the Parts of a message follow it, so it has no `content`."""
    return (field for field in variant.fields if not isinstance(field.type, ListOf))


def _fields(model: Model, variant: ObjectType) -> str:
    must, may = (
        {field.name: _python(model, field.type, variant) for field in _own(variant) if field.required is required}
        for required in (True, False)
    )
    return f"({_table(must)}, {_table(may)})"


def _python(model: Model, type_: TypeExpr, owner: ObjectType) -> str:
    """Return the Python type of a field's values, as source."""
    match type_:
        case Const():
            return "str"
        case Primitive(name) if name in _PYTHON:
            return _PYTHON[name]
        case Ref(name):
            match model[name]:
                case EnumType():
                    return "str"
                case AnyType():
                    return "object"
                case ObjectType():
                    return "dict"
                case ScalarType(type=scalar):
                    return _python(model, scalar, owner)
    raise SchemaError(REF_PREFIX + owner.name, "a field of an event is text, true or false, an object, or any value")


def _allowed(model: Model, message: ObjectType) -> tuple[str, ...]:
    content = message.field("content")
    if content is None or not isinstance(content.type, ListOf) or not isinstance(content.type.item, Ref):
        return ()
    return tuple(_by_tag(model, content.type.item.name, "type"))


def _values(model: Model, name: str) -> tuple[str, ...]:
    found = model[name]
    assert isinstance(found, EnumType)
    return tuple(each.value for each in found.values)


def _names(model: Model, wanted: Callable[[Field], bool]) -> tuple[str, ...]:
    """Return the names of the fields that are `wanted`; such a name means the same in every type."""
    found: dict[str, bool] = {}
    for variant in model.variants("Event"):
        for field in _own(variant):
            if found.setdefault(field.name, wanted(field)) is not wanted(field):
                raise SchemaError(REF_PREFIX + variant.name, f"`{field.name}` has other limits than in other types")
    return tuple(name for name, is_wanted in found.items() if is_wanted)


def _is_not_empty(model: Model, type_: TypeExpr) -> bool:
    match type_:
        case Primitive(limits=limits):
            return ("minLength", 1) in limits
        case Ref(name):
            found = model[name]
            return isinstance(found, ScalarType) and _is_not_empty(model, found.type)
    return False


def _pattern(model: Model, name: str) -> str:
    found = model[name]
    assert isinstance(found, ScalarType)
    return str(dict(found.type.limits)["pattern"]).removeprefix("^").removesuffix("$")
