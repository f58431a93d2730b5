"""The session row: gathered from the path and from the first records that say something."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from pond.codec.origins import Plan, Wanted, plan_of
from pond.codec.paths import captures
from pond.codec.source import HEAD, Source
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.lang.runtime import MISSING, at
from pond.model.json_text import Json, JsonObject, NotJson, decode_unproved

# Lineage and the rows of one named kind stand at the head of a file; looking further would read every file twice.
_UNBOUNDED = ("id", "project", "created_at")


def gather(module: ModuleType, source: Source, project: str | None) -> JsonObject:
    """Return the canonical session of a source; raise SourceFault where it has no id or no project."""
    path = captures(source.path, module.FILES)
    plan = plan_of(module, tuple(path))
    found = _first_values(plan, source)
    fields: JsonObject = {}
    project_from = ""
    for name, origin, number in plan.origins(found):
        fields[name] = found[number] if origin.first is not None else plan.text(origin, path, found)
        if name == "project":
            project_from = "record" if origin.first else "directory" if origin.capture == "directory" else "path"
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


def _first_values(plan: Plan, source: Source) -> dict[int, str]:
    """Return the first fitting value of every record origin that can still matter, by the number of what is wanted."""
    found: dict[int, str] = {}
    wanted = plan.wanted(found)
    for record in source.first_values():
        for want in wanted:
            value = record
            for key in want.keys:  # as `at` does: most records have nothing of what is wanted
                if type(value) is not dict or key not in value:
                    break
                value = value[key]
            else:
                found |= _values(wanted, record, plan.module)
                wanted = plan.wanted(found)
                break
        if not wanted:
            return found
    _look_in_head(plan, source, found)
    _look_everywhere(plan, source, found)
    return found


def _look_in_head(plan: Plan, source: Source, found: dict[int, str]) -> None:
    """Look at the lines of the file's head that can hold what is wanted; the first ones were looked at already."""
    # Searching bytes is far cheaper than decoding, even what the reader would not have to decode again: values that
    # wait for their turn have left the processor's cache by then.
    seen = sum(map(len, source.first_lines()))
    if seen >= HEAD or not _may_hold(source.head(seen), plan.wanted(found)):
        return
    for offset, _, line in source.lines():
        wanted = plan.wanted(found)
        if offset > HEAD or not wanted:
            return
        if _may_hold(line, wanted):
            found |= _values_in(line, wanted, plan.module)


def _may_hold(text: bytes, wanted: Sequence[Wanted]) -> bool:
    """Tell whether a wanted value can be in JSON text: a word that is not in the text is not in the record."""
    absent: set[bytes] = set()
    for want in wanted:
        if absent.isdisjoint(want.words):
            missing = next((word for word in want.words if word not in text), None)
            if missing is None:
                return True
            absent.add(missing)
    return False


def _look_everywhere(plan: Plan, source: Source, found: dict[int, str]) -> None:
    """Look at all lines that can hold what a session must have."""
    for want in plan.wanted(found):
        if want.field in _UNBOUNDED and want.of is None and want in plan.wanted(found):
            # Searching bytes is far cheaper than decoding.
            for line in source.lines_with(want.words[0]):
                found |= _values_in(line, plan.wanted(found), plan.module)
                if want not in plan.wanted(found):
                    break


def _values_in(line: bytes, wanted: Sequence[Wanted], module: ModuleType) -> dict[int, str]:
    try:
        return _values(wanted, decode_unproved(line, lambda _: None), module)
    except NotJson:
        return {}


def _values(wanted: Sequence[Wanted], record: Json, module: ModuleType) -> dict[int, str]:
    """Return what a record says of the values wanted."""
    values = {}
    for want in wanted:
        value: Json = at(record, *want.keys)
        if value is MISSING:
            continue
        if want.of is not None and at(record, *module.DISCRIMINATOR) != want.of and module.label_of(record) != want.of:
            continue
        if want.read is not None:
            converted = want.read(value, None)
            value = converted[0] if converted else None
        if type(value) is str and value:
            values[want.number] = value
    return values
