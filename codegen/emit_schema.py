"""Emit the published schemas: one self-contained file each."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codegen.metamodel import REF_PREFIX, Json
from codegen.output import BUNDLE, MARK, ROOT

CANONICAL = Path("schema/canonical.schema.json")
WIRE = Path("schema/wire.schema.json")
PODS = Path("schema/pods.schema.json")
TAGS_OF = "x-tags-of"  # an enumeration of the values that distinguish the members of a union; only the union lists them


def targets() -> dict[Path, str]:
    """Return the published schemas by path."""
    return {
        version_folder() / CANONICAL.name: _print(canonical_bundle(), CANONICAL),
        version_folder() / WIRE.name: _print(wire_bundle(), WIRE),
    }


def version_folder() -> Path:
    """Return the folder of everything published for this major version, which the `$id` of the wire names."""
    return BUNDLE / f"v{_load(WIRE)['$id'].rpartition(':')[2]}"


def canonical_bundle() -> Json:
    """Return the canonical schema, which refers to nothing outside itself."""
    return _load(CANONICAL)


def wire_bundle() -> Json:
    """Return the wire schema with the definitions of the others included and every reference local."""
    canonical, wire, pods = _load(CANONICAL), _load(WIRE), _load(PODS)
    definitions: dict[str, Any] = {}
    for schema in (canonical, wire, pods):
        if shared := schema["$defs"].keys() & definitions.keys():
            raise ValueError(f"defined by two schemas: {', '.join(sorted(shared))}")
        definitions |= schema["$defs"]
    foreign = canonical["$id"] + REF_PREFIX
    for body in wire["$defs"].values():
        if TAGS_OF in body:
            union = canonical["$defs"][body.pop(TAGS_OF).removeprefix(foreign)]
            body["oneOf"] = list(_tags(union, canonical["$defs"]))
    localised = {**wire, "$defs": definitions}
    for schema in (canonical, wire):
        localised = _localise(localised, schema["$id"] + REF_PREFIX)
    assert isinstance(localised, dict)
    return localised


def _tags(union: Json, definitions: Json) -> Iterator[Json]:
    """Yield the values that distinguish the members of a union, as values of an enumeration."""
    for member in union["oneOf"]:
        name = member["$ref"].removeprefix(REF_PREFIX)
        tag = definitions[name]["properties"][union["discriminator"]["propertyName"]]
        yield {"const": tag["const"], "description": f"A {name}."}


def _localise(value: Any, foreign: str) -> Any:
    return rebased(value, foreign, REF_PREFIX)


def rebased(value: Any, old: str, new: str) -> Any:
    """Return a schema in which every reference that began with `old` begins with `new`."""
    match value:
        case {"$ref": str(target), **rest} if target.startswith(old):
            return {"$ref": new + target.removeprefix(old), **rest}
        case dict():
            return {key: rebased(inner, old, new) for key, inner in value.items()}
        case list():
            return [rebased(inner, old, new) for inner in value]
        case _:
            return value


def _load(path: Path) -> dict[str, Any]:
    loaded = json.loads((ROOT / path).read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def _print(schema: Mapping[str, Any], source: Path) -> str:
    # JSON has no comments: the mark is the first key, so that it still opens the file.
    marked = {"$comment": f"{MARK} from {source.as_posix()}; do not edit.", **schema}
    return json.dumps(marked, indent=2, ensure_ascii=False) + "\n"
