"""A session that moves to another machine: paths below one directory become paths below another, everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pond.codec.registry import adapter, clients
from pond.codec.relatives import lowering_of
from pond.codec.report import Report
from pond.codec.session import SessionOrigin, SessionStream
from pond.model.json_text import Json, JsonObject
from pond.model.marks import PATH, marks_of

# A path ends where a name ends; a full stop that ends a sentence is not part of it.
_BEFORE, _AFTER = r"(?:(?<![\w./\\-])|(?<=://))", r"(?![\w-]|\.\w)"
_NOT_MOVED = frozenset(("data", "id", "session_id", "message_id", "kind", "type", "role"))  # fields of events


class Relocation:
    """Directories and their new names. Counts the values it changes."""

    def __init__(self, paths: tuple[tuple[str, str], ...]) -> None:
        self._new = {old.rstrip("/\\") or old: new.rstrip("/\\") or new for old, new in paths}
        longest = sorted(self._new, key=len, reverse=True)  # the more exact directory wins
        self._pattern = re.compile(f"{_BEFORE}({'|'.join(map(re.escape, longest))}){_AFTER}")
        self.changed = 0

    def text(self, text: str) -> str:
        """Return a text with its paths moved."""
        moved, count = self._pattern.subn(lambda found: self._new[found[1]], text)
        self.changed += count > 0
        return moved

    def value(self, value: Json) -> Json:
        """Return a value with the paths in all its texts moved; the same value if it has none."""
        if type(value) is str:
            return self.text(value)
        if type(value) is list:
            return [self.value(item) for item in value]
        if type(value) is dict:
            return {key: self.value(item) for key, item in value.items()}
        return value

    def event(self, event: JsonObject) -> JsonObject:
        """Return an event with its paths moved; its ids and the bytes of files stay."""
        return {key: item if key in _NOT_MOVED else self.value(item) for key, item in event.items()}


def relocated(session: SessionStream, paths: tuple[tuple[str, str], ...], report: Report) -> SessionStream:
    """Return the session as if it had run below the new directories."""
    way = Relocation(paths)
    row = way.event(session.row)
    moved = _location_moved(session.row["source_agent"], session.row["project"], row["project"])
    marks = marks_of(row["options"])
    if type(marks.get(PATH)) is str:
        marks[PATH] = moved(marks[PATH])

    def groups() -> Iterator[list[JsonObject]]:
        for events in session.groups:
            yield [way.event(event) for event in events]
        report.moved += way.changed

    def others(session_id: str) -> Iterator[SessionStream]:
        return (relocated(other, paths, report) for other in session.origin.others(session_id))

    return SessionStream(row, groups(), _Relocated(session.origin, way, others, moved))


class _Relocated(SessionOrigin):
    """Where a session comes from, with its paths moved. Its records are never passed on as text."""

    def __init__(
        self,
        origin: SessionOrigin,
        way: Relocation,
        others: Callable[[str], Iterator[SessionStream]],
        moved: Callable[[str], str],
    ) -> None:
        self.checked, self._origin, self._way = origin.checked, origin, way
        self._others, self._moved = others, moved
        self.reached = origin.reached

    def recall(self, message_id: str) -> list[JsonObject]:
        return [self._way.event(event) for event in self._origin.recall(message_id)]

    def others(self, session_id: str) -> Iterator[SessionStream]:
        return self._others(session_id)

    def cut(self) -> str:
        return self._origin.cut()

    def kin(self, session_id: str) -> tuple[JsonObject, str] | None:
        return self._origin.kin(session_id)

    def beside(self, name: str) -> bytes | None:
        return self._origin.beside(name)

    def moved(self, location: str) -> str:
        return self._moved(location)


def _location_moved(client: str, old: str, new: str) -> Callable[[str], str]:
    """Return how a location in the client's layout changes, if the layout spells the directory."""
    module = lowering_of(adapter(client)) if client in clients() else None
    if module is None or old == new:
        return str
    before, after = module.LOWERING.folder_of(old), module.LOWERING.folder_of(new)
    if before is None:
        return str

    def moved(location: str) -> str:
        return "/".join(after if part == before else part for part in location.split("/"))

    return moved
