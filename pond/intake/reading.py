"""The reading half of ingest: one source becomes rows. It runs in a separate process and never sees the lake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from pond.codec.facts import filled_in
from pond.codec.finding import FoundSource
from pond.codec.opening import open_input
from pond.codec.registry import CANONICAL
from pond.codec.relatives import agent_of, title_reader
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.resume import Checkpoint, Continuation
from pond.codec.session import SessionStream
from pond.codec.source import NeedsWhole, Opened
from pond.codec.surprise import told
from pond.config.process import gc_paused
from pond.diagnostics.diagnostic import Diagnostic, PondError, SourceFault
from pond.diagnostics.render import as_json
from pond.diagnostics.span import Span
from pond.intake.sources import KeptOpen, State, observed, source_id
from pond.model.json_text import JsonObject
from pond.model.marks import ID, POND, marks_of
from pond.sessions.rows import MESSAGE, PART, Before, Rows, agent_text

# Faults of a file that has nothing for any adapter: it need not be opened again until it changes.
_NOBODYS = ("source-unrecognised", "source-empty")
ID_SEPARATOR = "~"  # between a client's session id and the suffix of a second session with that id
_ROWS, _BYTES = 1000, 1 << 20  # rows and bytes of a chunk


@dataclass(frozen=True, slots=True)
class Identity:
    """The id under which a session is stored, its client's id, and what is already stored of it."""

    id: str
    own: str
    row: JsonObject | None = None
    records: int = 0  # stored ones that the source has too, at its beginning
    payloads: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()  # of the messages, if the source is read from its start
    before: Before | None = None  # what the stored rows say about those to come, if it is read from where it grew


@dataclass(frozen=True, slots=True)
class EarlierReading:
    """What was noted about a source when its beginning was read."""

    problems: tuple[JsonObject, ...] = ()
    drift: Mapping[str, int] = field(default_factory=dict)
    records: int = 0


@dataclass(frozen=True, slots=True)
class Task:
    """One source to read, and how."""

    found: FoundSource
    project: str | None = None
    continuation: Continuation | None = None
    earlier: EarlierReading = EarlierReading()  # if it is resumed
    sole: Identity | None = None  # of the one session of a client's file, once decided
    identities: Mapping[str, Identity] = field(default_factory=dict)  # of the sessions in a stream, by their own ids
    candidates: tuple[str, ...] = ()  # the sessions as which it was stored before
    near: bool = False  # it is small: read in the process that writes
    being_written: bool = False  # it was written a moment ago: its last line may be incomplete
    kept: KeptOpen = field(default_factory=KeptOpen)  # the source, if this process has it open

    @property
    def name(self) -> str:
        return self.found.name

    @property
    def size(self) -> int:
        return self.found.size

    def open(self) -> Opened:
        """Open the source, unless it is already open; it may be opened more than once."""
        return self.kept.take() or self.found.open()

    def request(self) -> ConversionRequest:
        """Return the request to the codec."""
        return ConversionRequest(CANONICAL, self.found.client, self.project)

    @property
    def source(self) -> str:
        """Return the name of the source for claims: a file's full path, for anything else where its content is."""
        found = self.found
        return source_id(found.path, found.key) if found.path is not None else str(found.spool)

    def undecided(self) -> Task:
        """Return the task as one that reads the whole source, and does not know the ids of its sessions yet."""
        return replace(self, continuation=None, earlier=EarlierReading(), sole=None, identities={}, near=False)

    def identity_of(self, session: JsonObject) -> Identity | None:
        """Return the id under which a session of this source is stored; None if it is undecided."""
        return self.sole or self.identities.get(session["id"])


@dataclass(frozen=True, slots=True)
class Begun:
    """A session begins; the following chunks belong to it. `identity` is None if it is undecided."""

    row: JsonObject
    identity: Identity | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of the current session, and how far the source is read."""

    messages: pa.RecordBatch
    parts: pa.RecordBatch
    reached: int

    def __reduce__(self) -> tuple[Callable[..., Chunk], tuple[bytes, bytes, int]]:
        # Both sides know the columns: without them a small chunk takes a tenth of the work to send.
        return _unpacked, (self.messages.serialize().to_pybytes(), self.parts.serialize().to_pybytes(), self.reached)


def _unpacked(messages: bytes, parts: bytes, reached: int) -> Chunk:
    read = pa.ipc.read_record_batch
    return Chunk(read(pa.py_buffer(messages), MESSAGE), read(pa.py_buffer(parts), PART), reached)


@dataclass(frozen=True, slots=True)
class Finished:
    """The current session has no more rows; `agent` is its kind of agent, if any."""

    agent: str | None = None


@dataclass(slots=True)
class Ended:
    """The source is read: what happened, and its state, if it is a file that can be recognised later."""

    report: Report = field(default_factory=Report)
    state: State | None = None
    unfinished: bool = False  # its last line is still being written: everything before it is stored


Frame = Begun | Chunk | Finished | Ended


def read_source(task: Task) -> Iterator[Frame]:
    """Yield what there is to store of a source; faults are in the report at the end."""
    try:
        opened = task.open()
    except Exception as error:  # a fault affects only its source
        yield Ended(Report(files=1, diagnostics=[*told(error, task.name)]))
        return
    with gc_paused(), opened:
        try:
            yield from _attempt(task, opened)
        except NeedsWhole:
            # What the part before the checkpoint must decide; rows already sent are right, and known by their keys.
            yield from _attempt(replace(task, continuation=None, earlier=EarlierReading()), opened)


def _attempt(task: Task, opened: Opened) -> Iterator[Frame]:
    report = Report(files=1)
    ended = Ended(report)
    try:
        before, end = opened.digest(opened.end()), opened.end()
        known = task.sole.row if task.sole is not None else None
        source = open_input(opened, task.request(), report, task.continuation, known, checkpointed=True)
        ids: list[str] = []
        checkpoint = None
        for session in source.sessions:
            begun = _begun(session, task, report)
            ids.append(begun.row["id"])
            yield begun
            yield from _session(session, begun, task, lambda: opened.digest(end) == before)
            checkpoint = session.origin.checkpoint()
        if task.found.path is not None:
            ended.unfinished = task.being_written and checkpoint is not None and report.withdraw_cut_off()
            ended.state = _state(task, opened, source.client, checkpoint, ids, report)
            if ended.unfinished and checkpoint is not None:
                # As if it ended before that line: the next run sees a source that grew, even if nobody continues it.
                ended.state = replace(ended.state, size=opened.size_before(checkpoint.cursor))
    except NeedsWhole:
        raise
    except Exception as error:  # a fault affects only its source
        if isinstance(error, PondError) and task.being_written and not opened.has_record():
            yield Ended(report, unfinished=True)
            return
        faults = told(error, task.name)
        report.diagnostics += faults
        if task.found.path is not None and all(fault.code in _NOBODYS for fault in faults):
            problems = list(map(as_json, report.faults))
            ended.state = replace(observed(task.found, opened, None, None), problems=problems)
    yield ended


def _begun(session: SessionStream, task: Task, report: Report) -> Begun:
    """Return a session with its stored id and the facts that are stored about it."""
    row, identity = session.row, task.identity_of(session.row)
    if identity is None:
        return Begun(row)
    if identity.row is not None:
        row = filled_in(identity.row, row)
        if not session.origin.checked and row["project"] != session.row["project"]:
            what = f"session `{row['id']}` has project `{row['project']}`, found `{session.row['project']}`"
            report.error("lake-immutable", f"{what}; the stored one is kept", task.name)
    elif identity.id != identity.own:
        marks = {**marks_of(row["options"]), ID: identity.own}
        row = {**row, "id": identity.id, "options": {**row["options"], POND: marks}}
    if identity.id != identity.own and task.continuation is None:
        what = f"another session has the id `{identity.own}`; this one is stored as `{identity.id}`"
        report.error("lake-same-id", what, task.name)
    return Begun(row, identity)


def _session(session: SessionStream, begun: Begun, task: Task, is_whole: Callable[[], bool]) -> Iterator[Frame]:
    rows = _rows(begun, resumed=task.continuation is not None)
    for group in session.groups:
        rows.take(group)
        if rows.due(_ROWS, _BYTES):
            yield Chunk(*rows.cut(), session.origin.reached()[0])
    if not is_whole():  # what was already sent has no session, and must not become part of a later one
        raise SourceFault(Diagnostic("source-rewritten", "rewritten while it was read", Span(task.name, 0)))
    if len(rows):
        yield Chunk(*rows.flush(), session.origin.reached()[0])
    yield Finished(rows.agent)


def _rows(begun: Begun, *, resumed: bool) -> Rows:
    """Return the collector for the rows of a session, some of which may be stored."""
    row, identity = begun.row, begun.identity or Identity("", "")
    before = identity.before if resumed else None
    if before is not None and (told := agent_text(agent_of(row, None))) is not None:
        before = before._replace(agent=told)  # a file beside the session may have appeared since
    rows = Rows(
        row, title_of=title_reader(row), after=identity.records, taken=identity.ids,
        agent_of=lambda first: agent_of(row, first), before=before,
    )  # fmt: skip
    rows.know_payloads(set(identity.payloads))
    return rows


def _state(
    task: Task, opened: Opened, client: str, checkpoint: Checkpoint | None, ids: list[str], report: Report
) -> State:  # fmt: skip
    earlier = task.earlier
    return replace(
        observed(task.found, opened, client, checkpoint.cursor if checkpoint is not None else None),
        sessions=ids,
        checkpoint=checkpoint.as_json() if checkpoint is not None else None,
        records=earlier.records + report.records,
        problems=[*earlier.problems, *map(as_json, report.faults)],
        drift=dict(Counter(earlier.drift) + Counter(report.drift)),
    )
