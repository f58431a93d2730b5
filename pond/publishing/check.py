"""The whole comparison: two bundles, version by version, file by file."""

from __future__ import annotations

from collections.abc import Iterator

from pond.publishing.breaks import Break, sides
from pond.publishing.bundle import OPENAPI, Version, published_at, shipped, versions
from pond.publishing.compare import Comparison
from pond.publishing.routes import route_breaks


def check(against: str) -> list[Break]:
    """Return every change of this pond's schemas that breaks a published version, in a directory or a revision."""
    return list(breaks(versions(published_at(against), against), versions(shipped(), "this pond")))


def breaks(old: dict[str, Version], new: dict[str, Version]) -> Iterator[Break]:
    """Yield what breaks between two bundles, each once."""
    for name, version in old.items():
        if name in new:
            yield from dict.fromkeys(_version_breaks(version, new[name]))
        else:
            yield Break(name, "the version is gone")


def _version_breaks(old: Version, new: Version) -> Iterator[Break]:
    for file, schema in old.schemas.items():
        at = f"{old.name}/{file}#"
        if file not in new.schemas:
            yield Break(at, "the file is gone")
        for keyword in ("$id", "$schema", "$ref"):
            before, after = schema.get(keyword), new.schemas.get(file, schema).get(keyword)
            if before != after:
                yield Break(f"{at}/{keyword}", f"was `{before}`, is `{after}`")
    yield from _type_breaks(old, new)
    if old.openapi and not new.openapi:
        yield Break(f"{old.name}/{OPENAPI}#", "the file is gone")
    yield from route_breaks(old.openapi, new.openapi, f"{old.name}/{OPENAPI}")


def _type_breaks(old: Version, new: Version) -> Iterator[Break]:
    homes, after = old.definitions(), new.definitions()
    before = {name: body for name, (_, body) in homes.items()}
    comparison = Comparison(before, {name: body for name, (_, body) in after.items()})
    roots = [schema["$ref"].rpartition("/")[2] for schema in old.schemas.values() if "$ref" in schema]
    known = sides(before, old.openapi, roots)
    for name, (file, body) in homes.items():
        at = f"{old.name}/{file}#/$defs/{name}"
        if name in after:
            yield from comparison.breaks(body, after[name][1], at, known[name])
        else:
            yield Break(at, "the type is gone")
