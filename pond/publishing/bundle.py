"""Bundles of published schemas: the one that ships with pond, one in a directory, one of a git revision."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pond._locate import schema_dir
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.model.json_text import JsonObject
from pond.revisions import find_checkout, read_folder, read_revision

FOLDER = "bundle"
SCHEMA = ".schema.json"
OPENAPI = "openapi.json"
DECLARATIONS = "pond.d.ts"
_VERSION = re.compile(r"(v[0-9]+)/([^/]+)")

# Path below the bundle, with slashes -> content.
Files: TypeAlias = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Version:
    """What is published of one major version, by file name."""

    name: str
    schemas: dict[str, JsonObject]
    openapi: JsonObject

    def definitions(self) -> dict[str, tuple[str, JsonObject]]:
        """Return every type with the file that holds it; the first by name if there are several."""
        found: dict[str, tuple[str, JsonObject]] = {}
        for file, schema in sorted(self.schemas.items()):
            for name, body in schema.get("$defs", {}).items():
                found.setdefault(name, (file, body))
        return found


def shipped() -> Files:
    """Return the files of the bundle that ships with this pond."""
    return read_folder(schema_dir() / FOLDER)


def examples() -> Iterator[tuple[str, bytes]]:
    """Yield the valid examples of each type as they are published: `<Type>/<name>.json` and content."""
    for path, content in read_folder(schema_dir() / "examples").items():
        if not path.rpartition("/")[2].startswith("bad-"):
            yield path, content


def published_at(place: str) -> Files:
    """Return the bundle in a directory, otherwise the one of a git revision of pond's own checkout."""
    if Path(place).is_dir():
        return in_directory(Path(place))
    checkout = find_checkout(schema_dir(), FOLDER)
    if checkout is None:
        raise UsageError(Diagnostic("usage", f"`{place}` is not a directory, and pond is not in a git checkout"))
    return read_revision(checkout, place)


def in_directory(folder: Path) -> Files:
    """Return the schemas that are published in a directory, and nothing else from it."""
    try:
        files = sorted(folder.glob("v*/*.json"))
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise UsageError(Diagnostic("usage", f"cannot read `{folder}`: {reason}")) from None


def versions(files: Files, place: str) -> dict[str, Version]:
    """Return the versions in a bundle; raise if there is none, or one that is not JSON."""
    found: dict[str, Version] = {}
    for path, content in files.items():
        match = _VERSION.fullmatch(path)
        if match and match[2].endswith(".json"):
            version = found.setdefault(match[1], Version(match[1], {}, {}))
            value = _object(content, f"{place}/{path}")
            if match[2].endswith(SCHEMA):
                version.schemas[match[2]] = value
            elif match[2] == OPENAPI:
                version.openapi.update(value)
    if not found:
        raise UsageError(Diagnostic("usage", f"`{place}` holds no published schemas (no `v1/*{SCHEMA}`)"))
    return found


def _object(content: bytes, name: str) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError as error:
        raise UsageError(Diagnostic("usage", f"`{name}` is not JSON: {error}")) from None
    if not isinstance(value, dict):
        raise UsageError(Diagnostic("usage", f"`{name}` is not a JSON object"))
    return value
