"""Stored sessions as a client's own files again: prepared here, written by the same functions as `pond convert`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from pond.codec.convert import towards
from pond.codec.lineage import FamilyMember, member, too_deep
from pond.codec.placing import apart, as_written, layout, put_session
from pond.codec.registry import CANONICAL, clients
from pond.codec.relatives import opening
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.surprise import contained, told
from pond.codec.writing import write_canonical
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.model.json_text import JsonObject
from pond.restore.stored import StoredSession
from pond.sessions import load
from pond.substrate.signals import LakeError
from pond.substrate.store import Store

OWN = "own client"  # instead of a target: each session's own client; no client can have this name


@dataclass(frozen=True, slots=True)
class Restored:
    """A session that is in a file again."""

    session_id: str
    client: str  # whose file it is
    path: Path


def restore(
    store: Store, rows: list[JsonObject], request: ConversionRequest, target: Path, report: Report
) -> Iterator[Restored]:
    """Write the sessions and all their descendants into `target`, yielding each (adapter-lineage-complete-restore).

    Faults of one session are in the report; the others continue. If a session for its own client begins in another one,
    which that client will look for, that one is restored too.
    """
    waiting = [*rows, *load.descendants(store, (row["id"] for row in rows))]
    refused = _too_deep(store, waiting, request)
    known = {row["id"] for row in waiting}
    locations: dict[str, str] = {}  # session -> location
    for row in waiting:  # it may grow
        own = replace(request, to=row["source_agent"] if request.to == OWN else request.to)
        stored = StoredSession(store, row, report)
        try:
            yield Restored(row["id"], own.to, _written(stored, own, refused, target, report, locations))
        except LakeError:
            raise
        except Exception as error:
            report.diagnostics += told(error, stored.name)
            continue
        if own.to == row["source_agent"] and stored.base not in known and stored.base is not None:
            known.add(stored.base)
            waiting += filter(None, [load.session(store, stored.base)])


def stream(store: Store, rows: list[JsonObject], request: ConversionRequest, out: BinaryIO, report: Report) -> None:
    """Write the sessions and all their descendants as canonical text, one after the other."""
    for row in [*rows, *load.descendants(store, (row["id"] for row in rows))]:
        with contained(report, row["id"], LakeError, OSError):  # OSError is about `out`
            write_canonical(towards(request, StoredSession(store, row, report).session(), report, row["id"]), out)


def _written(
    stored: StoredSession, request: ConversionRequest, refused: dict[str, Diagnostic], target: Path, report: Report,
    locations: dict[str, str],
) -> Path:  # fmt: skip
    if request.to not in (*clients(), CANONICAL):
        what = f"session `{stored.name}` is of `{request.to}`, which pond cannot write"
        help = f"known are {', '.join(clients())}"
        raise SourceFault(Diagnostic("foreign-no-client", what, Span(stored.name, 0), help=help))
    before = len(report.losses)
    session = towards(request, stored.session(), report, stored.name)
    if session.member is not None and stored.name in refused:
        del report.losses[before:]  # nothing of it is written
        raise SourceFault(refused[stored.name])
    location = target / _free_location(as_written(layout(session, request), request), stored.name, locations, report)
    put_session(session, request, target, location, report, stored.name, stored.date)
    report.files += 1
    return location


def _free_location(location: str, session_id: str, locations: dict[str, str], report: Report) -> str:
    """Return the location of a session: with its own name beside the stored one if another of this run has that."""
    if location in locations:
        own = apart(location, session_id)
        what = f"session `{locations[location]}` has the same stored path; this one is at `{own}`"
        report.error("output-renamed", what, session_id)
        location = own
    locations[location] = session_id
    return location


def _too_deep(store: Store, rows: list[JsonObject], request: ConversionRequest) -> dict[str, Diagnostic]:
    """Return which sessions belong to families that the target cannot hold; each client can hold its own."""
    if request.to in (OWN, CANONICAL):
        return {}
    return too_deep((_member(store, row) for row in rows if row["source_agent"] != request.to), request.to)


def _member(store: Store, row: JsonObject) -> FamilyMember:
    alone = row.get("parent_session_id") is None
    return member(row, opening(row, None if alone else load.opening(store, row["id"])), row["id"])
