"""The session row: gathered from the path and from the first records that say something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import ModuleType

from pond.codec.paths import captures
from pond.codec.source import Source
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.lang.conversions import CONVERSIONS
from pond.lang.runtime import MISSING, Origin, at
from pond.model.json_text import Json, JsonObject, NotJson, decode

_HOLE = re.compile(r"\{([^{}]+)\}")
# Lineage is written at the head of a file; looking further would make every file be read twice.
_HEAD = 200
_UNBOUNDED = ("id", "project", "created_at")


def gather(module: ModuleType, source: Source, project: str | None) -> JsonObject:
    """Return the canonical session of a source; raise SourceFault where it has no id or no project."""
    path = captures(source.path, module.FILES)
    found = _first_values(module, source, path)
    fields: JsonObject = {}
    project_from = ""
    for name, origins in module.SESSION:
        for origin in origins:
            value = _resolve(origin, path, found)
            if type(value) is str and value:
                fields[name] = value
                if name == "project":
                    project_from = "record" if origin.first else "directory" if origin.capture == "directory" else "path"
                break
    if "project" not in fields and project:
        fields["project"], project_from = project, "argument"
    _require(fields, source)
    pond: JsonObject = {"map": f"{module.CLIENT}/{module.MAP}", "project_from": project_from}
    if "_tail" in path:
        pond["path"] = path["_tail"]
    if source.form != "lines":
        pond["form"] = source.form
    session: JsonObject = {"kind": "session", "id": fields["id"]}
    for name in ("parent_session_id", "parent_message_id"):
        # A cut-point without a session to cut from would be incoherent (model-parent-pointer-coherence).
        if name in fields and "parent_session_id" in fields and fields["parent_session_id"] != fields["id"]:
            session[name] = fields[name]
    session["source_agent"] = module.CLIENT
    if "created_at" in fields:
        session["created_at"] = fields["created_at"]
    session["project"] = fields["project"]
    session["options"] = {"pond": pond}
    return session


def _require(fields: JsonObject, source: Source) -> None:
    if "id" not in fields:
        raise SourceFault(Diagnostic("source-no-id", "no record and no file name gives the session an id", Span(source.name, 1)))
    if "project" not in fields:
        raise SourceFault(
            Diagnostic(
                "source-no-project", "no record says in which directory the session ran", Span(source.name, 1),
                help="say it with --project", rule="model-project-non-empty",
            )
        )  # fmt: skip


def _resolve(origin: Origin, path: dict[str, str], found: dict[Origin | str, str]) -> str | None:
    if origin.where is not None and origin.where not in path:
        return None
    if origin.capture is not None:
        return path.get(origin.capture)
    if origin.template is not None:
        values = {}
        for hole in _HOLE.findall(origin.template):
            value = path.get(hole[5:]) if hole.startswith("path.") else found.get(hole)
            if value is None:
                return None
            values[hole] = value
        return _HOLE.sub(lambda m: values[m[1]], origin.template)
    return found.get(origin)


def _first_values(module: ModuleType, source: Source, path: dict[str, str]) -> dict[Origin | str, str]:
    """Return the first fitting value of every record origin that can still matter."""
    wanted = {key: (origin, name) for name, key, origin in _wanted(module, path)}
    found: dict[Origin | str, str] = {}
    open_keys = set(wanted)
    for count, (_, _, line) in enumerate(source.lines()):
        if count == _HEAD:
            open_keys = {k for k in open_keys if wanted[k][1] in _UNBOUNDED}
        open_keys = {k for k in open_keys if not _settled(k, wanted[k][1], module, path, found)}
        if not open_keys:
            break
        # A key that is not in the text is not in the record; searching bytes is far cheaper than decoding.
        here = [k for k in open_keys if _needle(wanted[k][0]) in line]
        if not here:
            continue
        try:
            record = decode(line, lambda _: None)
        except NotJson:
            continue
        if type(record) is not dict:
            continue
        for key in here:
            value = _value(wanted[key][0], record, module)
            if value is not None:
                found[key] = value
                open_keys.discard(key)
    return found


def _wanted(module: ModuleType, path: dict[str, str]) -> Iterator[tuple[str, Origin | str, Origin]]:
    for name, origins in module.SESSION:
        for origin in origins:
            if origin.where is not None and origin.where not in path:
                continue
            if origin.first is not None:
                yield name, origin, origin
            elif origin.template is not None:
                holes = _HOLE.findall(origin.template)
                if all(h[5:] in path for h in holes if h.startswith("path.")):
                    for hole in holes:
                        if not hole.startswith("path."):
                            yield name, hole, Origin(None, None, tuple(hole.split(".")), None, None, None)


def _settled(key: Origin | str, name: str, module: ModuleType, path: dict[str, str], found: dict[Origin | str, str]) -> bool:
    """Tell whether a better origin already filled the field this one is for."""
    for origin in dict(module.SESSION)[name]:
        if origin == key or (origin.template and type(key) is str and "{" + key + "}" in origin.template):
            return False
        if _resolve(origin, path, found):
            return True
    return False


def _needle(origin: Origin) -> bytes:
    assert origin.first is not None
    return b'"' + origin.first[-1].encode() + b'"'


def _value(origin: Origin, record: JsonObject, module: ModuleType) -> str | None:
    assert origin.first is not None
    if origin.of is not None and at(record, *module.DISCRIMINATOR) != origin.of and module.label_of(record) != origin.of:
        return None
    value: Json = at(record, *origin.first)
    if value is MISSING:
        return None
    if origin.conversion is not None:
        values = CONVERSIONS[origin.conversion].read(value, None)
        value = values[0] if values else None
    return value if type(value) is str and value else None
