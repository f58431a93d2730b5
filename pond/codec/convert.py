"""One input to one output: the pipeline behind `pond convert`, file by file."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pond.codec.canonical import CanonicalReader
from pond.codec.carried import canonical_lines, native_lines
from pond.codec.detect import detect
from pond.codec.paths import captures, ignored
from pond.codec.reader import SessionReader, SessionReading, empty
from pond.codec.registry import CANONICAL, Adapter, adapter, clients
from pond.codec.report import Report
from pond.codec.source import LineSource, Source, open_document
from pond.codec.writer import NO_RECORD, SessionWriter, SideFile, side_files
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.model.json_text import Json, JsonObject, NotJson, encode_line, encode_plain

if TYPE_CHECKING:  # only a lake goes on where it stopped
    from pond.codec.resume import Mark, Resume

Groups = Iterator[list[JsonObject]]
Tick = Callable[[int], None]
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
    file: BinaryIO, name: str, path: Path | None, order: Order, report: Report, resume: Resume | None = None
) -> Input:
    """Recognise an open file and return its sessions, unread; raise SourceFault where it is nobody's.

    With `resume` there is one session, and its groups are those of the records after the mark. Taking the session or
    its groups may raise NeedsWhole: then open the file again without, and with a new report.
    """
    source: Source = LineSource(file, name, path)
    if path is not None and path.suffix == ".json":
        source = _as_document(file, name, path, report) or source
    if empty(source):
        raise SourceFault(Diagnostic("source-empty", "expected records, found none", Span(name, 1)))
    client = order.client or (resume.session_row["source_agent"] if resume is not None else detect(source))
    if client is None:
        source = _as_document(file, name, path, report) or source
        client = detect(source)
    if client is None:
        known = ", ".join([*clients(), CANONICAL])
        what, help = "no adapter recognises these records", f"name one of {known} with --from"
        raise SourceFault(Diagnostic("source-unrecognised", what, Span(name, 1), help=help))
    if client == CANONICAL:
        assert isinstance(source, LineSource)
        sessions = _canonical_sessions(CanonicalReader(source, report), report)
    else:
        sessions = _source_sessions(adapter(client), source, report, order, resume)
    return Input(client, source, _towards(order, sessions, report, name))


def _towards(order: Order, sessions: Iterator[Session], report: Report, name: str) -> Iterator[Session]:
    for session in sessions:
        yield towards(order, session, report, name)


def towards(order: Order, session: Session, report: Report, name: str) -> Session:
    """Return a session as what it is to be written as: its own client's, or another's; raise where that cannot be."""
    if order.paths:
        from pond.codec.relocate import relocated

        session = relocated(session, order.paths, report)
    if order.to in (CANONICAL, session.row["source_agent"]):
        return session
    if order.defer:
        raise Deferred
    from pond.codec.foreign import retarget  # most conversions need none of it

    return retarget(session, order, report, name)


def _as_document(file: BinaryIO, name: str, path: Path | None, report: Report) -> Source | None:
    shapes = {adapter(c).module.DOCUMENT for c in clients()} - {None}
    if not shapes:
        return None
    file.seek(0)
    if file.read(256).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
        return None
    file.seek(0)
    text = file.read()
    return next((s for keys in sorted(shapes) if (s := open_document(text, keys, name, path, report))), None)


def _source_sessions(
    owner: Adapter, source: Source, report: Report, order: Order, resume: Resume | None
) -> Iterator[Session]:
    reader = _reader(owner, source, report, order, resume)
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


def _reader(owner: Adapter, source: Source, report: Report, order: Order, resume: Resume | None) -> SessionReader:
    if resume is None:
        return SessionReader(owner, source, report, order.project, order.marks)
    from pond.codec.resume import ResumedReader

    return ResumedReader(owner, source, report, order.project, resume)


def _canonical_sessions(reader: CanonicalReader, report: Report) -> Iterator[Session]:
    for row, groups in reader.sessions():
        report.sessions += 1
        yield Session(row, _counted(groups, report), partial(reader.recall, row["id"]), reader.place, checked=False)


def _counted(groups: Groups, report: Report) -> Groups:
    for group in groups:
        report.records += 1
        yield group


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
    beside = side_files(session.row)
    writer = SessionWriter(owner, session.row, session.recall, report, name)
    form = session.row["options"].get("pond", {}).get("form")
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

    def unreadable(error: OSError) -> None:
        report.error("source-unreadable", (error.strerror or "unreadable").lower(), str(error.filename))

    for folder, names, files in os.walk(directory, onerror=unreadable):
        names.sort()
        for name in sorted(files):
            path = Path(folder, name)
            session = path.suffix == ".jsonl" and not ignored(path, ignores)
            if session or (path.suffix == ".json" and _is_document_name(path)):
                yield path


def _is_document_name(path: Path) -> bool:
    for client in clients():
        module = adapter(client).module
        named = tuple(p for p in module.FILES if p.endswith(".json") and p != "{file}.json")
        if module.DOCUMENT and named and len(captures(path, named)) > 2:
            return True
    return False
