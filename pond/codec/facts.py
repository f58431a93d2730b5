"""The session row: gathered from the path and from the first records that have a value."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from types import ModuleType

from pond.codec.origins import FieldOrigins, WantedValue, field_origins
from pond.codec.paths import captures, one_of
from pond.codec.source import Source
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.lang.context import NO_PROJECT
from pond.lang.runtime import MISSING, OWN, Origin, at
from pond.model.json_text import Json, JsonObject, NotJson, decode_unproved
from pond.model.lineage import CONTINUATION, KIND, PARENT
from pond.model.marks import FORM, ID, MAP, MOVED, ORIGIN, PATH, POND, PROJECT_FROM, marks_of

# Lineage and rows of one named kind are at the head of a file; searching further would read every file twice.
_UNBOUNDED = frozenset((OWN, "id", "project", "created_at"))
RECORD = "record"
_ORIGIN = f'"{ORIGIN}"'.encode()
_LINEAGE = ("parent_session_id", "parent_message_id", "lineage_kind")


def gather(module: ModuleType, source: Source, project: str | None) -> JsonObject:
    """Return the canonical session of a source; raise SourceFault if it has no id or no project."""
    path = captures(source.path, module.FILES)
    plan = field_origins(module, tuple(path))
    found = _Search(plan, path, source).found
    fields: JsonObject = {}
    project_from = ""
    for name, origin, number in plan.origins(found):
        fields[name] = plan.value(origin, number, path, found)
        if name == "project":
            project_from = _project_from(origin, module)
    if "project" not in fields and project:
        fields["project"], project_from = project, "argument"
    _require(fields, source)
    marks: JsonObject = {MAP: f"{module.CLIENT}/{module.MAP}", PROJECT_FROM: project_from}
    if "_tail" in path:
        marks[PATH] = one_of(path["_tail"], source.key) if source.key else path["_tail"]
    if source.form != "lines":
        marks[FORM] = source.form
    session: JsonObject = {"kind": "session", "id": fields["id"]}
    for name in _LINEAGE:
        # A cut-point or a kind without a session to come from would be incoherent (model-parent-pointer-coherence).
        if name in fields and "parent_session_id" in fields and fields["parent_session_id"] != fields["id"]:
            session[name] = fields[name]
    if (moved := _moved(source)) is not None and moved["session"] != fields["id"]:
        marks[MOVED] = moved
        if PARENT not in session:
            session |= {PARENT: moved["session"], **({"parent_message_id": moved["cut"]} if moved["cut"] else {})}
            session[KIND] = CONTINUATION
    session["source_agent"] = module.CLIENT
    if "created_at" in fields:
        session["created_at"] = fields["created_at"]
    session["project"] = fields["project"]
    session["options"] = {POND: marks}
    return session


def _moved(source: Source) -> JsonObject | None:
    """Return where a session comes from that pond wrote for this client: one of its first rows says so."""
    if not any(_ORIGIN in line for line in source.first_lines()):
        return None
    for record in source.first_values():
        if type(record) is dict and record.get("type") == ORIGIN and (found := _came_from(record)) is not None:
            return found
    return None


def _came_from(record: JsonObject) -> JsonObject | None:
    told = at(record, "payload", "from")
    if type(told) is not dict or not all(type(told.get(name)) is str and told[name] for name in ("client", "session")):
        return None
    cut, sessions = told.get("cut"), told.get("sessions")
    chain = [id for id in sessions if type(id) is str] if type(sessions) is list else []
    return {
        "client": told["client"], "session": told["session"], "cut": cut if type(cut) is str else "",
        "sessions": chain or [told["session"]],
    }  # fmt: skip


def own_id(session: JsonObject) -> str:
    """Return the id that the client gave a session; the lake may store a second such session under another id."""
    found: str = {ID: session["id"], **marks_of(session["options"])}[ID]
    return found


def project_of(session: JsonObject) -> object:
    """Return the project that records are read and written relative to; NO_PROJECT if no record names it.

    Only a project named by a record stays the same while a session grows. Records read relative to a project from the
    path could not be written back after a record has named a better one.
    """
    return session["project"] if marks_of(session["options"]).get(PROJECT_FROM) == RECORD else NO_PROJECT


def filled_in(stored: JsonObject, found: JsonObject) -> JsonObject:
    """Return a stored session with what its source has revealed since: a project, a start, a parent, files beside it.

    What a record said does not change; only what came from a path, or was missing, is filled in.
    """
    row = {**stored, "options": {**stored["options"]}}
    for name in (*_LINEAGE, "created_at"):
        if name in found:
            row.setdefault(name, found[name])
    if project_of(stored) is NO_PROJECT and project_of(found) is not NO_PROJECT:
        row["project"] = found["project"]
        row["options"][POND] = {**marks_of(stored["options"]), PROJECT_FROM: RECORD}
    beside = {**_beside(found), **_beside(stored)}
    if beside != _beside(stored):
        row["options"]["source"] = {**stored["options"].get("source", {}), "beside": beside}
    return row


def _beside(session: JsonObject) -> JsonObject:
    values: JsonObject = session["options"].get("source", {}).get("beside", {})
    return values


def _project_from(origin: Origin, module: ModuleType) -> str:
    """Name the origin of a project; only `record` is final, because it does not change while the session grows."""
    if origin.first is not None:
        return RECORD if origin.own or module.OWN_KEYS is None else "copied"
    return "directory" if origin.capture == "directory" else "path"


def _require(fields: JsonObject, source: Source) -> None:
    if "id" not in fields:
        raise SourceFault(
            Diagnostic("source-no-id", "neither records nor file name give the session an id", Span(source.name, 1))
        )
    if "project" not in fields:
        raise SourceFault(
            Diagnostic(
                "source-no-project", "no record says in which directory the session ran", Span(source.name, 1),
                rule="model-project-non-empty",
            )
        )  # fmt: skip


class _Search:
    """The first fitting value of every record origin that can still matter, by its number in the plan."""

    def __init__(self, plan: FieldOrigins, path: dict[str, str], source: Source) -> None:
        self._plan, self._path, self._source = plan, path, source
        self.found: dict[int, str] = {}
        wanted = plan.wanted(self.found)
        for record in source.first_values():
            for want in wanted:
                value = record
                for key in want.keys:  # as `at` does: most records have none of the wanted values
                    if type(value) is not dict or key not in value:
                        break
                    value = value[key]
                else:
                    self._take(record)
                    wanted = plan.wanted(self.found)
                    break
            if not wanted:
                return
        self._look_in_head()
        self._look_everywhere()

    def _look_in_head(self) -> None:
        """Look at lines in the file's head that can hold a wanted value; the first ones were looked at already."""
        # Searching bytes is far cheaper than decoding, even if the reader could use the decoded values: they would have
        # left the processor's cache before their turn.
        for line in self._source.head_lines(lambda text: _may_hold(text, self._plan.wanted(self.found))):
            wanted = self._plan.wanted(self.found)
            if not wanted:
                return
            if _may_hold(line, wanted):
                self._take_line(line)

    def _look_everywhere(self) -> None:
        """Look at all lines that can hold what a session must have."""
        for want in self._plan.wanted(self.found):
            if not _UNBOUNDED.isdisjoint(want.fields) and want.of is None and want in self._plan.wanted(self.found):
                # Searching bytes is far cheaper than decoding.
                for line in self._source.lines_with(want.words[0]):
                    self._take_line(line)
                    if want not in self._plan.wanted(self.found):
                        break

    def _take_line(self, line: bytes) -> None:
        with suppress(NotJson):  # reported when it is read in its turn
            self._take(decode_unproved(line, lambda _: None))

    def _take(self, record: Json) -> None:
        """Take the wanted values from a record, first of all whose record it is."""
        for want in self._plan.wanted(self.found):
            value = _value(want, record, self._plan.module)
            if value is not None and not (want.own and not self._plan.is_own(record, self._path, self.found)):
                self.found[want.number] = value


def _may_hold(text: bytes, wanted: Sequence[WantedValue]) -> bool:
    """Tell whether a wanted value can be in JSON text: if a word is not in the text, it is not in the record."""
    absent: set[bytes] = set()
    for want in wanted:
        if absent.isdisjoint(want.words):
            missing = next((word for word in want.words if word not in text), None)
            if missing is None:
                return True
            absent.add(missing)
    return False


def _value(want: WantedValue, record: Json, module: ModuleType) -> str | None:
    """Return a record's value for something wanted, or None."""
    value: Json = at(record, *want.keys)
    if value is MISSING:
        return None
    if want.of is not None and at(record, *module.DISCRIMINATOR) != want.of and module.label_of(record) != want.of:
        return None
    if want.read is not None:
        converted = want.read(value, None)
        value = converted[0] if converted else None
    return value if type(value) is str and value else None
