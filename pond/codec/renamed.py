"""A session that comes back to its client as another one: the same values under new ids."""

from __future__ import annotations

from pond.codec.facts import own_id
from pond.model.json_text import Json, JsonObject
from pond.model.lineage import KIND, PARENT
from pond.model.marks import ID, PATH, POND, marks_of
from pond.portable.lowering import Group

_DEEPEST = 8  # levels of a record in which its client names sessions; values may be far deeper


class Renamed:
    """One session's row and events, with its own id, and that of the session which spawned it, replaced."""

    def __init__(self, own: JsonObject, new_id: str, parent: str | None) -> None:
        marks = {name: value for name, value in marks_of(own["options"]).items() if name != ID}
        old_id: str = own_id(own)
        self._names: dict[str, str] = {}
        row = {name: value for name, value in own.items() if name not in (PARENT, "parent_message_id", KIND)}
        if parent is not None and type(old := own.get(PARENT)) is str:
            self._names[old] = parent
            row[PARENT] = parent
            if KIND in own:
                row[KIND] = own[KIND]
            if old_id.startswith(f"{old}/"):  # named after its parent
                new_id = parent + old_id[len(old) :]
        self._names[old_id] = new_id
        if type(path := marks.get(PATH)) is str:
            marks[PATH] = self._path(path)
        self.row: JsonObject = row | {"id": new_id, "options": {**own["options"], POND: marks}}

    def _path(self, path: str) -> str:
        """Return a place in the client's layout with the new names in it: it can be no other session's."""
        moved = path
        for old, new in self._names.items():
            moved = moved.replace(old.rpartition("/")[2], new.rpartition("/")[2])
        return moved

    def events(self, group: Group) -> Group:
        """Return a record's events under the new names; only what the client keeps beside the words is looked at."""
        head = group[0]
        if "source" in head["options"]:
            options = head["options"]
            told = options["source"].pop(POND, None) if type(options["source"]) is dict else None
            options["source"] = self._value(options["source"])
            if told is not None:
                options["source"][POND] = told
        return group

    def _value(self, value: Json, deep: int = _DEEPEST) -> Json:
        if type(value) is str:
            return self._names.get(value, value)
        if type(value) is list and deep:
            return [self._value(item, deep - 1) for item in value]
        if type(value) is dict and deep:
            return {key: self._value(item, deep - 1) for key, item in value.items()}
        return value
