"""What the canonical schema says about a type: its fields, their types, what is required, which Parts a role allows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pond._locate import schema_dir

# The only gaps that the specification lets an adapter fill (model-no-synthesis).
FALLBACKS: dict[tuple[str, str], object] = {
    ("ToolResultPart", "is_failure"): False,
    ("FilePart", "media_type"): "application/octet-stream",
    ("SystemMessage", "content"): "",
}

_POSITIONAL = {"kind", "id", "session_id", "message_id", "role", "type", "provenance", "options"}


@dataclass(frozen=True, slots=True)
class Field:
    """One field; the codec fills `positional` ones, never a mapping."""

    type: Literal["string", "boolean", "any", "timestamp"]
    required: bool
    positional: bool


@cache
def _definitions() -> dict[str, Any]:
    text = (schema_dir() / "canonical.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text)["$defs"])


def _tags(union: str, field: str) -> dict[str, str]:
    """Return the value that distinguishes each member of a union, by the member's name."""
    names = [member["$ref"].rsplit("/", 1)[1] for member in _definitions()[union]["oneOf"]]
    return {name: str(_definitions()[name]["properties"][field]["const"]) for name in names}


ROLES, PART_TYPES = _tags("Message", "role"), _tags("Part", "type")


@cache
def fields_of(name: str) -> dict[str, Field]:
    """Return the fields of a Session, a message type or a part type."""
    definition = _definitions()[name]
    required = set(definition.get("required", ()))
    out = {}
    for field, schema in definition["properties"].items():
        positional = field in _POSITIONAL and not (name == "Session" and field == "id")
        positional = (
            positional
            or (field == "source_agent")
            or (field == "content" and name != "SystemMessage" and name in ROLES)
        )
        out[field] = Field(_type(schema), field in required, positional)
    return out


@cache
def allowed_parts(message: str) -> frozenset[str]:
    """Return the Part types a message's content may hold."""
    content = _definitions()[message]["properties"].get("content", {})
    return frozenset(name for name in PART_TYPES if f'"#/$defs/{name}"' in json.dumps(_resolve(content)))


def _resolve(schema: dict[str, Any]) -> dict[str, Any]:
    items = schema.get("items", {})
    reference = items.get("$ref")
    return dict(_definitions()[reference.rsplit("/", 1)[1]]) if reference else items


def _type(schema: dict[str, Any]) -> Literal["string", "boolean", "any", "timestamp"]:
    while "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        if name == "Timestamp":
            return "timestamp"
        schema = _definitions()[name]
    kind = schema.get("type")
    return "string" if kind == "string" else "boolean" if kind == "boolean" else "any"
