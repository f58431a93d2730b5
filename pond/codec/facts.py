"""The session row: gathered from the path and from the first records that say something."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import NamedTuple

from pond.codec.paths import captures
from pond.codec.source import HEAD, Source
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.lang.conversions import CONVERSIONS
from pond.lang.runtime import MISSING, Origin, at
from pond.model.json_text import Json, JsonObject, NotJson, decode_unproved

_HOLE = re.compile(r"\{([^{}]+)\}")
# Lineage and the rows of one named kind stand at the head of a file; looking further would read every file twice.
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
                    project_from = (
                        "record" if origin.first else "directory" if origin.capture == "directory" else "path"
                    )
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
        raise SourceFault(
            Diagnostic("source-no-id", "no record and no file name gives the session an id", Span(source.name, 1))
        )
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
    found: dict[Origin | str, str] = {}
    session = dict(module.SESSION)
    wanted = dict(_all_wanted(module, tuple(sorted(path))))

    def look(record: Json) -> None:
        if type(record) is not dict:
            return
        before = len(found)
        for key, want in wanted.items():
            value = _value(want.origin, record, module)
            if value is not None:
                found[key] = value
        if len(found) > before:
            for key in [k for k in wanted if k in found or _settled(k, session[wanted[k].field], path, found)]:
                del wanted[key]

    for index, line in enumerate(source.first_lines()):
        if not wanted:
            break
        # The first line is decoded anyway: it says whose file it is.
        if index == 0 or _may_hold(line, wanted, 1) or b"\\u" in line:  # a key may be spelled with escapes
            look(source.value_of_first(index))
    if wanted:
        _look_further(source, wanted, look)
    return found


def _may_hold(text: bytes, wanted: dict[Origin | str, _Wanted], skip: int = 0) -> bool:
    """Tell whether a wanted value can be in JSON text: a word that is not in the text is not in the record."""
    absent: set[bytes] = set()
    for want in wanted.values():
        for word in want.words[skip:]:
            if word in absent or word not in text:
                absent.add(word)
                break
        else:
            return True
    return False


def _look_further(source: Source, wanted: dict[Origin | str, _Wanted], look: Callable[[Json], None]) -> None:
    """Look at the lines of the file's head, then at all that can hold what a session must have."""
    # Searching bytes is far cheaper than decoding. The first lines were looked at already.
    seen = sum(map(len, source.first_lines()))
    if seen < HEAD and _may_hold(source.head()[seen:], wanted):
        for offset, _, line in source.lines():
            if offset > HEAD or not wanted:
                break
            if _may_hold(line, wanted):
                _decoded(line, look)
    for key, want in list(wanted.items()):
        if want.field in _UNBOUNDED and want.origin.of is None and key in wanted:
            for line in source.lines_with(want.words[0]):
                _decoded(line, look)
                if key not in wanted:
                    break


def _decoded(line: bytes, look: Callable[[Json], None]) -> None:
    try:
        look(decode_unproved(line, lambda _: None))
    except NotJson:
        return


class _Wanted(NamedTuple):
    field: str
    origin: Origin
    words: tuple[bytes, ...]  # what sets its records apart, and the keys that lead to the value


@cache
def _all_wanted(module: ModuleType, captured: tuple[str, ...]) -> tuple[tuple[Origin | str, _Wanted], ...]:
    """Return the record origins that matter where the path gave these captures; the same for most files of a store."""
    return tuple(
        (key, _Wanted(name, origin, (_needle(origin), *map(_quoted, origin.first or ()))))
        for name, key, origin in _wanted(module, captured)
    )


def _wanted(module: ModuleType, path: tuple[str, ...]) -> Iterator[tuple[str, Origin | str, Origin]]:
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


def _settled(
    key: Origin | str, origins: tuple[Origin, ...], path: dict[str, str], found: dict[Origin | str, str]
) -> bool:  # fmt: skip
    """Tell whether a better origin already filled the field this one is for."""
    for origin in origins:
        if origin == key or (origin.template and type(key) is str and "{" + key + "}" in origin.template):
            return False
        if _resolve(origin, path, found):
            return True
    return False


def _needle(origin: Origin) -> bytes:
    assert origin.first is not None
    word = origin.of if origin.of is not None and "/" not in origin.of else origin.first[-1]
    return _quoted(word)


def _quoted(word: str) -> bytes:
    return b'"' + word.encode() + b'"'


def _value(origin: Origin, record: JsonObject, module: ModuleType) -> str | None:
    assert origin.first is not None
    if (
        origin.of is not None
        and at(record, *module.DISCRIMINATOR) != origin.of
        and module.label_of(record) != origin.of
    ):
        return None
    value: Json = at(record, *origin.first)
    if value is MISSING:
        return None
    if origin.conversion is not None:
        values = CONVERSIONS[origin.conversion].read(value, None)
        value = values[0] if values else None
    return value if type(value) is str and value else None
