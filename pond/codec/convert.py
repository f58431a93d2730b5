"""One input to one output: the pipeline behind `pond convert`, file by file."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pond.codec.carried import canonical_lines, native_lines
from pond.codec.detect import detect
from pond.codec.paths import captures, ignored, owner_of, plain_name
from pond.codec.reader import SessionReader, SessionReading, empty
from pond.codec.registry import CANONICAL, Adapter, adapter, clients
from pond.codec.report import Report
from pond.codec.source import LARGEST_DOCUMENT, LineSource, Source, may_be_document, open_document
from pond.codec.surprise import contained
from pond.codec.unpacked import Unpacked
from pond.codec.writer import NO_RECORD, SessionWriter, SideFile
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.model.compressed import SUFFIX
from pond.model.json_text import Json, JsonObject, NotJson, encode_line, encode_plain
from pond.model.marks import AS, FORM, MAP, marks_of

if TYPE_CHECKING:  # only a lake goes on where it stopped
    from pond.codec.canonical import CanonicalReader
    from pond.codec.resume import Mark, Resume

Groups = Iterator[list[JsonObject]]
Tick = Callable[[int], None]
_MOST_LISTED = 5  # names in one message
_TICK_EVERY = 0xFF  # a mask: progress is looked at once in 256 records


def _no_tick(done: int) -> None:
    """Nobody watches."""


def _no_mark() -> None:
    """Its input is read from the beginning each time."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session on its way: its row, its records' events, and how to get an earlier message again."""

    row: JsonObject
    groups: Groups
    recall: Callable[[str], list[JsonObject]]
    place: Callable[[], tuple[int, int]]  # offset and line of the record being read
    reading: SessionReading | None = None  # where the records are read from the client's own file
    back: bool = False  # they go back to the client they came from, unproved
    others: Callable[[str], Iterator[Session]] | None = None  # gives others of its store; without, `path` leads to them
    end: Callable[[], Written] | None = None  # asked when all is written; a session that goes to another client has it
    path: Path | None = None  # the file it stands in
    checked: bool = True  # its events come from a reader; canonical text may hold anything
    moved: Callable[[str], str] = str  # what becomes of its place, where its directory got another name
    mark: Callable[[], Mark | None] = _no_mark  # asked when all groups are read: where a later reading can go on

    @property
    def foreign(self) -> bool:
        """Tell whether the session is on its way to another client than its own."""
        return self.end is not None


@dataclass(frozen=True, slots=True)
class Written:
    """What there is to know of a session when its records are written."""

    beside: list[SideFile]  # files that belong beside it
    time: str = ""  # of the last message, where the file is to be dated so


@dataclass(frozen=True, slots=True)
class Input:
    """A recognised input: what wrote it, and its sessions."""

    client: str
    source: Source
    sessions: Iterator[Session]


@dataclass(frozen=True, slots=True)
class Order:
    """What the caller asks of every input."""

    to: str
    client: str | None = None
    project: str | None = None
    on_loss: str = "warn"
    keep_origin: bool = False
    paths: tuple[tuple[str, str], ...] = ()  # directories, and what they are to be called
    too_deep: dict[str, Diagnostic] = field(default_factory=dict)  # sessions whose family the target cannot hold
    marks: bool = False  # somebody will ask where a later reading can go on
    defer: bool = False  # a session that goes to another client has to wait: nobody knows its family yet


class Deferred(Exception):
    """A session goes to another client, and its family has to be known first."""


def open_input(
    file: BinaryIO,
    name: str,
    path: Path | None,
    order: Order,
    report: Report,
    resume: Resume | None = None,
    known: JsonObject | None = None,
) -> Input:
    """Recognise an open file and return its sessions, unread; raise SourceFault where it is nobody's.

    With `resume` there is one session, and its groups are those of the records after the mark. Taking the session or
    its groups may raise NeedsWhole: then open the file again without, and with a new report. `known` is the session
    as it is stored, where this file goes on with it.
    """
    source: Source = LineSource(file, name, path, compressed=isinstance(file, Unpacked))
    if isinstance(file, Unpacked) and file.fault is not None:
        report.diagnostics.append(file.fault)
    if path is not None and path.suffix == ".json":
        source = _as_document(file, name, path, report) or source
    if empty(source):
        raise SourceFault(Diagnostic("source-empty", "expected records, found none", Span(name, 1)))
    client = order.client or (resume.session_row["source_agent"] if resume is not None else detect(source))
    if client is None:
        source = _as_document(file, name, path, report) or source
        client = detect(source)
    if client is None:
        names = ", ".join([*clients(), CANONICAL])
        what = "no adapter recognises these records"
        raise SourceFault(Diagnostic("source-unrecognised", what, Span(name, 1), help=f"known are {names}"))
    if client == CANONICAL:
        from pond.codec.canonical import CanonicalReader  # a client's own files need none of it

        assert isinstance(source, LineSource)
        sessions = _canonical_sessions(CanonicalReader(source, report), report)
    else:
        sessions = _source_sessions(adapter(client), source, report, order, resume, known)
    return Input(client, source, _towards(order, sessions, report, name))


def _towards(order: Order, sessions: Iterator[Session], report: Report, name: str) -> Iterator[Session]:
    for session in sessions:
        ready = None
        with contained(report, name, Deferred):  # the others of its stream go on
            ready = towards(order, session, report, name)
        if ready is not None:
            yield ready


def towards(order: Order, session: Session, report: Report, name: str) -> Session:
    """Return a session as what it is to be written as: its own client's, or another's; raise where that cannot be."""
    if order.paths:
        from pond.codec.relocate import relocated

        session = relocated(session, order.paths, report)
    if order.to == CANONICAL:
        return session
    if order.to == session.row["source_agent"]:
        marked, session = _marked(session)
        if marked:
            return session
    if order.defer:
        raise Deferred
    from pond.codec.foreign import retarget  # most conversions need none of it

    return retarget(session, order, report, name)


def _marked(session: Session) -> tuple[bool, Session]:
    """Tell whether the events say which of the client's records they were; else they are a conversation, and no more.

    Only events that no reader made can be without: canonical text of anybody, also when it was stored.
    """
    if session.checked or MAP in marks_of(session.row["options"]):  # the mapping that read it
        return True, session
    groups = iter(session.groups)
    first = next(groups, None)
    if first is None:
        return True, session
    return AS in marks_of(first[0]["options"]), replace(session, groups=chain((first,), groups))


def _as_document(file: BinaryIO, name: str, path: Path | None, report: Report) -> Source | None:
    shapes = {adapter(c).module.DOCUMENT for c in clients()} - {None}
    if not shapes or not may_be_document(file):
        return None
    file.seek(0)
    text = file.read(LARGEST_DOCUMENT + 1)
    if len(text) > LARGEST_DOCUMENT:
        what = f"one JSON document of more than {LARGEST_DOCUMENT >> 20} MB"
        raise SourceFault(Diagnostic("source-too-large", what, Span(name, 1)))
    return next((s for keys in sorted(shapes) if (s := open_document(text, keys, name, path, report))), None)


def _source_sessions(
    owner: Adapter, source: Source, report: Report, order: Order, resume: Resume | None, known: JsonObject | None
) -> Iterator[Session]:
    reader = _reader(owner, source, report, order, resume, known)
    report.sessions += 1
    if order.to == owner.client and source.form == "lines" and not order.paths:
        # Both faces meet here: what is written proves what was read, and one proof is enough.
        records, back = reader.records(back=True), True
    else:
        records, back = reader.records(), False
    yield Session(
        reader.session, records, reader.recall, reader.place, reader.context,
        back=back, path=source.path, mark=reader.mark,
    )  # fmt: skip


def _reader(
    owner: Adapter, source: Source, report: Report, order: Order, resume: Resume | None, known: JsonObject | None
) -> SessionReader:
    if resume is None:
        return SessionReader(owner, source, report, order.project, order.marks, known)
    from pond.codec.resume import ResumedReader

    return ResumedReader(owner, source, report, order.project, resume)


def _canonical_sessions(reader: CanonicalReader, report: Report) -> Iterator[Session]:
    for row, groups in reader.sessions():
        report.sessions += 1
        yield Session(row, groups, partial(reader.recall, row["id"]), reader.place, checked=False)


# --- output ----------------------------------------------------------------------------------------------------------


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the cycle collector: events are trees, freed as they go, and looking for cycles among them only costs."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def write_canonical(session: Session, out: BinaryIO, progress: Tick = _no_tick) -> None:
    """Write a session as canonical JSONL: the row, then every message followed by its parts."""
    write = out.write
    write(encode_line(session.row))
    if session.reading is not None:
        session.reading.carried = canonical_lines(session.reading, adapter(session.row["source_agent"]).module, out)
    with uncollected():
        for number, events in enumerate(session.groups):
            for event in events:
                write(encode_line(event))
            if not number & _TICK_EVERY:
                progress(session.place()[0])


def write_native(
    session: Session, out: BinaryIO, report: Report, name: str, progress: Tick = _no_tick
) -> Written:  # fmt: skip
    """Write a session's records as its client has them; return what belongs beside them."""
    owner = adapter(session.row["source_agent"])
    writer = SessionWriter(owner, session.row, session.recall, report, name)
    beside = writer.side_files()
    form = marks_of(session.row["options"]).get(FORM)
    if form == "document":
        out.write(_document(writer.records(session.groups), owner, beside, name))
        return Written(beside)
    write, record_of, back = out.write, writer.record, session.reading if session.back else None
    if back is not None:
        back.carried = native_lines(back, owner.module, out)
    with uncollected():
        for number, events in enumerate(session.groups):
            if type(value := record_of(events)) is SideFile:
                beside.append(value)
            elif value is not NO_RECORD:
                try:
                    text = encode_plain(value)
                    if back is not None and (text is None or len(text) != len(back.line)):
                        back.prove()  # as long as its line, no key can have stood in it twice
                    write(encode_line(value) if text is None else text)
                except NotJson as error:
                    report.error(error.code, str(error), name, session.place()[1])
            if not number & _TICK_EVERY:
                progress(session.place()[0])
    return session.end() if session.end is not None else Written(beside)


def _document(values: Iterator[Json | SideFile], owner: Adapter, beside: list[SideFile], name: str) -> bytes:
    """Return the one JSON document that a session of this form is."""
    items: list[Json] = []
    for value in values:
        if isinstance(value, SideFile):
            beside.append(value)
        else:
            items.append(value)
    if owner.module.DOCUMENT is None or not items or type(items[0]) is not dict:
        raise SourceFault(
            Diagnostic("canonical-broken", "the session has no head to make a document of", Span(name, 1))
        )
    head, *rest = items
    head[owner.module.DOCUMENT[1]] = rest
    return encode_line(head)


def find_files(directory: Path, report: Report) -> Iterator[Path]:
    """Yield the session files of a store, sorted; report what cannot be looked at. Links are not followed."""
    ignores = {k: v for c in clients() for k, v in adapter(c).module.IGNORES.items()}
    parts = {pattern for c in clients() for pattern in adapter(c).module.BESIDE}

    def unreadable(error: OSError) -> None:
        report.error("source-unreadable", (error.strerror or "unreadable").lower(), str(error.filename))

    for folder, names, files in os.walk(directory, onerror=unreadable):
        names.sort()
        for name in sorted(files):
            path = Path(folder, name)
            session = path.suffix == ".jsonl" and not ignored(path, ignores)
            if (
                session
                or (path.suffix == ".json" and _is_document_name(path))
                or (path.suffix == SUFFIX and _stands_for_itself(path))
            ):
                yield path
        if files and (owner := owner_of(folder, parts)) is not None and not os.path.lexists(owner):
            what = f"the session of these files, `{os.path.basename(owner)}`, is not there: {_listed(files)}"
            report.error("source-orphan", what, folder)


def _listed(names: list[str]) -> str:
    shown = ", ".join(sorted(names)[:_MOST_LISTED])
    return shown + (f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else "")


def _stands_for_itself(path: Path) -> bool:
    """Tell whether a compressed file is a session: by a name of its client's, and not beside the same file unpacked."""
    unpacked = plain_name(str(path))
    if unpacked == str(path) or os.path.lexists(unpacked):
        return False
    names = (tuple(p for p in adapter(c).module.FILES if not p.endswith("{file}.jsonl")) for c in clients())
    return any(len(captures(path, named)) > 2 for named in names)


def _is_document_name(path: Path) -> bool:
    for client in clients():
        module = adapter(client).module
        named = tuple(p for p in module.FILES if p.endswith(".json") and p != "{file}.json")
        if module.DOCUMENT and named and len(captures(path, named)) > 2:
            return True
    return False
