"""Canonical events -> the client's own records, for a session of that client."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pond.codec.facts import own_id
from pond.codec.paths import belongs_beside
from pond.codec.reader import BESIDE, VALUE
from pond.codec.registry import Adapter
from pond.codec.report import Report
from pond.codec.tool_names import as_written
from pond.lang.context import Writing
from pond.lang.runtime import LISTED, REPEAT, Broken
from pond.model.json_text import Json, JsonObject, encode, encode_line
from pond.model.marks import AS, FILE, POND, REPEAT_OF
from pond.model.notices import NOTICE

NO_RECORD = object()
SPECIAL = (REPEAT, VALUE, BESIDE, LISTED, NOTICE)  # labels that no kind of a mapping writes
Recall = Callable[[str], list[JsonObject]]


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file that belongs beside the session file; `{stem}` in its name is the session file's own name.

    A `shared` one is a line of the list that the client keeps of all its sessions, in its home.
    """

    name: str
    data: bytes
    shared: bool = False


class SessionWriter:
    """Writes one session's records back. `recall` returns the events of an earlier message, for repeated records."""

    def __init__(self, adapter: Adapter, session: JsonObject, recall: Recall, report: Report, name: str) -> None:
        self._writers: dict[str, Callable[[list[JsonObject], Writing], Json]] = adapter.module.WRITE
        self._session, self._beside = session, adapter.module.BESIDE
        self._list_name = adapter.list_name
        self._context = Writing(own_id(session), session["project"])
        self._recall, self._report, self._name = recall, report, name

    def side_files(self) -> list[SideFile]:
        """Return the JSON files that the session row carries."""
        values = self._session["options"].get("source", {}).get("beside", {})
        return [SideFile(name, encode(value)) for name, value in values.items() if self._is_beside(name)]

    def records(self, groups: Iterable[list[JsonObject]]) -> Iterator[Json | SideFile]:
        """Yield the source value of each group of events, in order; a broken group is reported and left out."""
        return (value for events in groups if (value := self.record(events)) is not NO_RECORD)

    def record(self, events: list[JsonObject]) -> Json | SideFile:
        """Return the source value of one group of events, or NO_RECORD if it is broken, which is reported."""
        try:
            write = self._writers.get(events[0]["options"][POND][AS])
            return write(as_written(events), self._context) if write is not None else self._special(events)
        except _NONSENSE as error:
            what = str(error) if isinstance(error, Broken) else f"{type(error).__name__.lower()} {error}"
            where = events[0].get("id", "?") if events and type(events[0]) is dict else "?"
            self._report.error("canonical-broken", f"message `{where}` cannot be written back: {what}", self._name)
            return NO_RECORD

    def _special(self, events: list[JsonObject]) -> Json | SideFile:
        """Return what no kind of the mapping writes: repeated records, values that are not objects, files."""
        label = events[0]["options"][POND][AS]
        if label == REPEAT:
            events = self._recall(events[0]["options"][POND][REPEAT_OF])
            return self._writers[events[0]["options"][POND][AS]](as_written(events), self._context)
        if label == VALUE:
            return events[0]["options"]["source"]
        if label == BESIDE:
            file = _side_file(events)
            return file if self._is_beside(file.name) else NO_RECORD
        if label == LISTED:
            return _list_line(events, self._list_name)
        if label == NOTICE:
            return NO_RECORD  # the client did not write pond's own words
        raise Broken(f"the mapping has no kind `{label}`")

    def _is_beside(self, name: str) -> bool:
        """Tell whether the client keeps a file of this name (which is data) beside a session; report if not."""
        if belongs_beside(name, self._beside):
            return True
        what = f"`{name}` is not a file that {self._session['source_agent']} keeps beside a session; it was left out"
        self._report.error("output-place", what, self._name)
        return False


# What a writer can find in events that no reader made; StopIteration if marks promise more items than there are.
_NONSENSE = (
    Broken, KeyError, TypeError, AttributeError, IndexError, ValueError, RuntimeError, StopIteration,
)  # fmt: skip


def _side_file(events: list[JsonObject]) -> SideFile:
    try:
        return SideFile(events[0]["options"][POND][FILE], base64.b64decode(events[1]["data"], validate=True))
    except binascii.Error as error:
        raise Broken(f"the file's data is not base64: {error}") from None


def _list_line(events: list[JsonObject], name: str) -> SideFile:
    entry = events[0]["options"]["source"]
    if not name or type(entry) is not dict or type(entry.get("id")) is not str:
        raise Broken("it is no line of a list that the client keeps")
    return SideFile(name, encode_line(entry), shared=True)
