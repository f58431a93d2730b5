"""The reading half of ingest: one source becomes rows. Runs in a process of its own and never sees the lake."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import copyfileobj
from typing import BinaryIO, cast

import pyarrow as pa

from pond.codec.convert import Order, Session, open_input
from pond.codec.foreign import title_reader
from pond.codec.registry import CANONICAL
from pond.codec.report import Report
from pond.codec.resume import Mark, NeedsWhole, Resume
from pond.codec.source import open_regular
from pond.diagnostics.diagnostic import PondError
from pond.handlers.sources import State, observed
from pond.model.event_shape import misfit
from pond.model.json_text import JsonObject
from pond.sessions.rows import MESSAGE, PART, Rows

# What is wrong with a file that has nothing for any adapter: it need not be opened again until it changes.
_NOBODYS = ("source-unrecognised", "source-empty")
_ROWS, _BYTES = 1000, 1 << 20  # a chunk on its way


@dataclass(frozen=True, slots=True)
class Task:
    """One source to read. `base` is the place of its first record; None where the lake has to say."""

    name: str
    path: Path | None  # None is standard input
    client: str | None = None
    project: str | None = None
    resume: Resume | None = None
    base: int | None = None
    payloads: frozenset[str] = frozenset()  # stored already for the session that is resumed
    size: int = 0
    rewritten: bool = False  # it was read before, and is not what it was
    near: bool = False  # it is little: read where the lake is written
    young: bool = False  # it was written to a moment ago, by a client that may only have begun


@dataclass(frozen=True, slots=True)
class Begun:
    """A session begins; the chunks that follow are its own."""

    row: JsonObject


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of the session that began last, and how far the source is read."""

    messages: pa.RecordBatch
    parts: pa.RecordBatch
    place: int

    def __reduce__(self) -> tuple[Callable[..., Chunk], tuple[bytes, bytes, int]]:
        # Both sides know the columns: without them a small chunk is a tenth of the work to send.
        return _unpacked, (self.messages.serialize().to_pybytes(), self.parts.serialize().to_pybytes(), self.place)


def _unpacked(messages: bytes, parts: bytes, place: int) -> Chunk:
    read = pa.ipc.read_record_batch
    return Chunk(read(pa.py_buffer(messages), MESSAGE), read(pa.py_buffer(parts), PART), place)


@dataclass(frozen=True, slots=True)
class Finished:
    """The session that began last has no more rows."""


@dataclass(slots=True)
class Ended:
    """The source is read: what happened, and its state, where it is a file that can be recognised."""

    report: Report = field(default_factory=Report)
    state: State | None = None
    waiting: bool = False  # it was only just begun: nothing of it is stored yet


Frame = Begun | Chunk | Finished | Ended


def read_source(task: Task) -> Iterator[Frame]:
    """Yield what there is to store of a source; whatever is wrong with it is in the report at the end."""
    gc.disable()  # events are trees, freed as they go; looking for cycles among them only costs
    try:
        yield from _attempt(task)
    except NeedsWhole:
        # What the part before the mark has to decide; rows that went out already are right, and known by their keys.
        yield from _attempt(replace(task, resume=None))
    finally:
        gc.enable()


def _attempt(task: Task) -> Iterator[Frame]:
    report = Report(files=1)
    ended = Ended(report)
    try:
        with _open(task) as file:
            found = os.fstat(file.fileno())
            source = open_input(file, task.name, task.path, _order(task), report, task.resume)
            ids: list[str] = []
            mark = None
            for session in source.sessions:
                if task.young and session.row["options"].get("pond", {}).get("project_from") != "record":
                    # A project is stored for good: its own records shall say it, and they are about to come.
                    yield Ended(report, waiting=True)
                    return
                ids.append(session.row["id"])
                yield from _session(session, task, report)
                mark = session.mark()
            if task.path is not None:
                ended.state = _state(task, source.client, mark, ids, found, report)
    except NeedsWhole:
        raise
    except PondError as error:
        report.diagnostics += error.diagnostics
        if all(diagnostic.code in _NOBODYS for diagnostic in error.diagnostics):
            ended.state = _nobodys(task)
    except OSError as error:
        report.error("source-unreadable", (error.strerror or str(error)).lower(), task.name)
    yield ended


def _order(task: Task) -> Order:
    return Order(CANONICAL, task.client, task.project, marks=True)


def _session(session: Session, task: Task, report: Report) -> Iterator[Frame]:
    yield Begun(session.row)
    rows = Rows(session.row, title_of=title_reader(session.row))
    rows.know_payloads(set(task.payloads))
    groups = session.groups if session.checked else _sound(session, report, task.name)
    for group in groups:
        rows.take(group)
        if len(rows) >= _ROWS or rows.size >= _BYTES:
            yield Chunk(*rows.flush(), session.place()[0])
    if len(rows):
        yield Chunk(*rows.flush(), session.place()[0])
    yield Finished()


def _sound(session: Session, report: Report, name: str) -> Iterator[list[JsonObject]]:
    """Yield the records of a canonical text whose events are what the schema says; name the others."""
    for group in session.groups:
        role = None
        faults = []
        for event in group:
            role = event.get("role") if event["kind"] == "message" else role
            if (fault := misfit(event, role)) is not None:
                faults.append(fault)
        for fault in faults:
            report.error("canonical-broken", fault, name, session.place()[1])
        if not faults:
            yield group


def _state(task: Task, client: str, mark: Mark | None, ids: list[str], found: os.stat_result, report: Report) -> State:
    assert task.path is not None
    state = observed(task.path, client, mark.offset if mark is not None else None, found)
    return replace(
        state, sessions=ids, mark=mark.as_json() if mark is not None else None, records=report.records,
        faults=report.errors, drift=dict(report.drift),
    )  # fmt: skip


def _nobodys(task: Task) -> State | None:
    """Return the state of a file that is nobody's."""
    try:
        found = observed(task.path, None, None, os.stat(task.path)) if task.path is not None else None
        return replace(found, faults=1) if found is not None else None
    except (OSError, PondError):
        return None


def _open(task: Task) -> BinaryIO:
    if task.path is not None:
        return open_regular(task.path)
    file = tempfile.TemporaryFile(prefix="pond-")  # noqa: SIM115 - the caller closes it
    copyfileobj(sys.stdin.buffer, file, 1 << 20)
    file.seek(0)
    return cast(BinaryIO, file)
