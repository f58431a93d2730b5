"""Stored sessions as a client's own files again: made ready here, written by the very functions of `pond convert`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from pond.codec.convert import Order, Session, towards, write_canonical
from pond.codec.foreign import opening
from pond.codec.lineage import Member, member, too_deep
from pond.codec.placing import apart, as_written, layout, place_session, seconds
from pond.codec.registry import CANONICAL, clients
from pond.codec.report import Report
from pond.codec.surprise import contained, told
from pond.diagnostics.diagnostic import Diagnostic, SourceFault, UsageError
from pond.diagnostics.span import Span
from pond.handlers import find
from pond.model.json_text import JsonObject
from pond.model.session_row import is_session
from pond.sessions import load
from pond.substrate import predicate
from pond.substrate.signals import LakeError
from pond.substrate.store import Store

OWN = ""  # instead of a target: to each session its own client


@dataclass(frozen=True, slots=True)
class Restored:
    """A session that stands in a file again."""

    session_id: str
    client: str  # whose file it is
    path: Path


# --- which sessions --------------------------------------------------------------------------------------------------


def named(store: Store, texts: Iterable[str]) -> list[JsonObject]:
    """Return the rows of the sessions meant, each once; raise UsageError where one is not there."""
    rows = (load.session(store, find.session(store, text)) for text in texts)
    return list({row["id"]: row for row in rows if row is not None}.values())


def every(store: Store, project: str | None, client: str | None) -> list[JsonObject]:
    """Return the rows of all sessions of a project and a client, in the order of their ids; raise where none is."""
    wanted = (("project", project), ("source_agent", client))
    filters = (predicate.equals(name, load.stored_id(text)) for name, text in wanted if text is not None)
    rows = load.sessions(store, predicate.all_of(*filters))
    if not rows:
        raise UsageError(Diagnostic("lake-not-found", "no session fits", help="`pond list` shows what is there"))
    return sorted(rows, key=lambda row: str(row["id"]))


# --- restoring -------------------------------------------------------------------------------------------------------


def restore(store: Store, rows: list[JsonObject], order: Order, target: Path, report: Report) -> Iterator[Restored]:
    """Write the sessions and all their descendants below `target`, yielding each (adapter-lineage-complete-restore).

    Whatever is wrong with one session is in the report; the others go on. A session that goes back to its own client
    and begins in another one, which that client will look for, takes that one along.
    """
    waiting = [*rows, *load.descendants(store, (row["id"] for row in rows))]
    order = replace(order, too_deep=_too_deep(store, waiting, order))
    known = {row["id"] for row in waiting}
    places: dict[str, str] = {}  # which session got which
    for row in waiting:  # it may grow
        own = replace(order, to=order.to or row["source_agent"])
        stored = _Stored(store, row, report)
        try:
            yield Restored(row["id"], own.to, _written(stored, own, target, report, places))
        except LakeError:
            raise
        except Exception as error:
            report.diagnostics += told(error, stored.name)
            continue
        if own.to == row["source_agent"] and stored.base not in known and stored.base is not None:
            known.add(stored.base)
            waiting += filter(None, [load.session(store, stored.base)])


def stream(store: Store, rows: list[JsonObject], order: Order, out: BinaryIO, report: Report) -> None:
    """Write the sessions and all their descendants as canonical text, one after the other."""
    for row in [*rows, *load.descendants(store, (row["id"] for row in rows))]:
        with contained(report, row["id"], LakeError, OSError):  # the latter is about `out`
            write_canonical(towards(order, _Stored(store, row, report).session(), report, row["id"]), out)


def _written(stored: _Stored, order: Order, target: Path, report: Report, places: dict[str, str]) -> Path:
    if order.to not in (*clients(), CANONICAL):
        what = f"session `{stored.name}` is of `{order.to}`, which pond cannot write"
        help = f"known are {', '.join(clients())}"
        raise SourceFault(Diagnostic("foreign-no-client", what, Span(stored.name, 0), help=help))
    session = towards(order, stored.session(), report, stored.name)
    place = target / _free_place(as_written(layout(session, order), order), stored.name, places, report)
    place_session(session, order, target, place, report, stored.name, stored.date)
    report.files += 1
    return place


def _free_place(place: str, session_id: str, places: dict[str, str], report: Report) -> str:
    """Return the place of a session: its own name beside the stored one where another of this run got that."""
    if place in places:
        own = apart(place, session_id)
        what = f"session `{places[place]}` has the same stored place; this one is at `{own}`"
        report.error("output-renamed", what, session_id)
        place = own
    places[place] = session_id
    return place


def _too_deep(store: Store, rows: list[JsonObject], order: Order) -> dict[str, Diagnostic]:
    """Return which sessions belong to families that the target cannot hold; each client can hold its own."""
    if order.to in (OWN, CANONICAL):
        return {}
    return too_deep((_member(store, row) for row in rows if row["source_agent"] != order.to), order.to)


def _member(store: Store, row: JsonObject) -> Member:
    alone = row.get("parent_session_id") is None
    return member(row, None if alone else load.opening(store, row["id"]), row["id"])


# --- a stored session as the codec knows one -------------------------------------------------------------------------


class _Stored:
    """A session of the lake on its way out; what its records tell in passing is known when they are written."""

    def __init__(self, store: Store, row: JsonObject, report: Report) -> None:
        self._store, self._row, self._report = store, row, report
        self.name: str = row["id"]
        self.base: str | None = None  # the session that holds its beginning
        self._time = ""

    def session(self) -> Session:
        """Return the session as it comes from any source; raise SourceFault for a row that cannot be written."""
        self._report.sessions += 1
        if not is_session(self._row):
            what = "expected a session with id, project, source_agent and options"
            raise SourceFault(Diagnostic("canonical-broken", what, Span(self.name, 0)))
        return _session(self._store, self._row, self._watched())

    def date(self) -> float | None:
        """Return when the last message was, as files are dated."""
        return seconds(self._time)

    def _watched(self) -> Iterator[list[JsonObject]]:
        for number, events in enumerate(load.groups(self._store, self._row["id"])):
            if number == 0 and (base := opening(self._row, events).base) is not None:
                self.base = base[0]
            time = events[0].get("timestamp")
            if type(time) is str and time > self._time:
                self._time = time
            self._report.records += 1
            yield events


def stored_session(store: Store, row: JsonObject) -> Session:
    """Return a session of the lake as it comes from any source."""
    return _session(store, row, load.groups(store, row["id"]))


def _session(store: Store, row: JsonObject, groups: Iterator[list[JsonObject]]) -> Session:
    def others(session_id: str) -> Iterator[Session]:
        found = load.session(store, session_id)
        if found is not None and is_session(found):
            yield stored_session(store, found)

    # Canonical text of anybody may have been stored: nothing is taken for granted.
    return Session(row, groups, load.Earlier(store, row["id"]), _nowhere, others=others, checked=False)


def _nowhere() -> tuple[int, int]:
    """Return the place of a record that stands in no file."""
    return 0, 0
