"""The published files by name, and the types in them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.publishing.breaks import reached
from pond.publishing.bundle import DECLARATIONS, OPENAPI, shipped, versions


@dataclass(frozen=True, slots=True)
class Published:
    """One published file; `id` is empty if it is not a schema."""

    file: str
    id: str
    title: str


def listed() -> list[Published]:
    """Return the published files of every version."""
    found = []
    for version in versions(shipped(), "this pond").values():
        for file, schema in version.schemas.items():
            found.append(Published(f"{version.name}/{file}", schema["$id"], schema["title"]))
        found.append(Published(f"{version.name}/{OPENAPI}", "", "OpenAPI 3.1"))
        found.append(Published(f"{version.name}/{DECLARATIONS}", "", "TypeScript declarations"))
    return found


def shown(name: str) -> str:
    """Return the text of a published file, or the schema of a type of the newest version."""
    files = shipped()
    if name in files:
        return files[name].decode("utf-8")
    newest = max(versions(files, "this pond").values(), key=lambda version: int(version.name[1:]))
    homes = newest.definitions()
    if name not in homes:
        known = [*(each.file for each in listed()), *homes]
        near = "".join(f"; did you mean `{each}`?" for each in get_close_matches(name, known, n=1))
        raise UsageError(Diagnostic("usage", f"neither a file nor a type `{name}` is published{near}"))
    about = newest.schemas[homes[name][0]]
    definitions = {each: body for each, (_, body) in homes.items()}
    needed = reached(name, definitions)
    schema = {
        "$schema": about["$schema"],
        "$id": f"{about['$id']}:{name}",
        "$ref": f"#/$defs/{name}",
        "$defs": {each: body for each, body in definitions.items() if each in needed},
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
