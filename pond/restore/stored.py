"""A stored session as the codec knows one."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator

from pond.codec.placing import seconds
from pond.codec.reader import BESIDE
from pond.codec.relatives import opening
from pond.codec.report import Report
from pond.codec.session import SessionOrigin, SessionStream
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.model.json_text import JsonObject
from pond.model.notices import is_notice
from pond.model.session_row import is_session
from pond.sessions import load
from pond.sessions.stored_text import from_stored
from pond.sessions.tables import MESSAGES
from pond.substrate import predicate, read
from pond.substrate.store import Store


class StoredSession:
    """A session of the lake that is being restored; what its records reveal is known when they are written."""

    def __init__(self, store: Store, row: JsonObject, report: Report) -> None:
        self._store, self._row, self._report = store, row, report
        self.name: str = row["id"]
        self.base: str | None = None  # the session that holds its beginning
        self._time = ""

    def session(self) -> SessionStream:
        """Return the session as from any source; raise SourceFault for a row that cannot be written."""
        self._report.sessions += 1
        if not is_session(self._row):
            what = "expected a session with id, project, source_agent and options"
            raise SourceFault(Diagnostic("canonical-broken", what, Span(self.name, 0)))
        return _session(self._store, self._row, self._watched())

    def date(self) -> float | None:
        """Return the time of the last message, for the date of the file."""
        return seconds(self._time)

    def _watched(self) -> Iterator[list[JsonObject]]:
        for number, events in enumerate(load.groups(self._store, self._row["id"])):
            if number == 0 and (base := opening(self._row, events).base) is not None:
                self.base = base[0]
            if is_notice(events[0]):
                yield events
                continue
            time = events[0].get("timestamp")
            if type(time) is str and time > self._time:
                self._time = time
            self._report.records += 1
            yield events


def stored_session(store: Store, row: JsonObject) -> SessionStream:
    """Return a session of the lake as from any source."""
    return _session(store, row, load.groups(store, row["id"]))


def _session(store: Store, row: JsonObject, groups: Iterator[list[JsonObject]]) -> SessionStream:
    return SessionStream(row, groups, _LakeOrigin(store, row["id"]))


class _LakeOrigin(SessionOrigin):
    """A session in the tables."""

    checked = False  # canonical text of any origin may have been stored: nothing is assumed

    def __init__(self, store: Store, session_id: str) -> None:
        self._store, self._id, self._earlier = store, session_id, load.EarlierRecords(store, session_id)

    def recall(self, message_id: str) -> list[JsonObject]:
        return self._earlier(message_id)

    def cut(self) -> str:
        return load.last_record(self._store, self._id)

    def kin(self, session_id: str) -> tuple[JsonObject, str] | None:
        found = load.session(self._store, session_id)
        return None if found is None else (found, load.last_record(self._store, session_id))

    def beside(self, name: str) -> bytes | None:
        here = predicate.equals("session_id", load.stored_id(self._id))
        called = predicate.begins_with("id", load.stored_id(f"{BESIDE}/{name}/"))
        found = read.rows(self._store, MESSAGES, ["id"], predicate.all_of(here, called))["id"].to_pylist()
        for id in sorted(found):
            for part in self._earlier(from_stored(id))[1:]:
                with contextlib.suppress(KeyError, TypeError, ValueError):  # canonical text of anybody
                    return base64.b64decode(part["data"], validate=True)
        return None

    def others(self, session_id: str) -> Iterator[SessionStream]:
        found = load.session(self._store, session_id)
        if found is not None and is_session(found):
            yield stored_session(self._store, found)
