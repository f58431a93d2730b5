"""Turns an open source into an input: which client wrote it, and its sessions, unread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pond.codec.detect import detect
from pond.codec.finding import FoundSource
from pond.codec.lines import LineSource
from pond.codec.reader import SessionReader, empty
from pond.codec.registry import CANONICAL, adapter, clients
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.session import SessionOrigin, SessionStream
from pond.codec.source import Opened, Source
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.model.json_text import JsonObject

if TYPE_CHECKING:  # a client's own files need neither
    from pond.codec.canonical import CanonicalReader
    from pond.codec.resume import Checkpoint, Continuation


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How a client's own records are read."""

    project: str | None = None  # for a session whose source names none
    back_to: str | None = None  # the client for which they are written, record by record, while they are read
    checkpointed: bool = False  # the caller will ask where a later reading can continue
    continuation: Continuation | None = None  # an earlier reading ended here
    known: JsonObject | None = None  # the stored session, if this source continues it


@dataclass(frozen=True, slots=True)
class Input:
    """A recognised input: which client wrote it, and its sessions."""

    client: str
    source: Source
    how: ReadingOptions
    report: Report

    @property
    def sessions(self) -> Iterator[SessionStream]:
        """The sessions, unread; faults of their records go into the input's report."""
        return self.read(self.report)

    def read(self, report: Report) -> Iterator[SessionStream]:
        """Yield the sessions, unread; faults of their records go into `report`."""
        return self._of_stream(report) if self.client == CANONICAL else self._of_client(report)

    def _of_stream(self, report: Report) -> Iterator[SessionStream]:
        from pond.codec.canonical import CanonicalReader  # a quick start: a client's own files need none of it

        assert isinstance(self.source, LineSource)
        reader = CanonicalReader(self.source, report)
        for row, groups in reader.sessions():
            report.sessions += 1
            yield SessionStream(row, groups, StreamOrigin(reader, row["id"]))

    def _of_client(self, report: Report) -> Iterator[SessionStream]:
        reader = self._reader(report)
        report.sessions += 1
        # Reading and writing meet here: the output proves what was read, and one proof is enough.
        back = self.how.back_to == self.client and self.source.form == "lines"
        yield SessionStream(reader.session, reader.records(back=back), ClientOrigin(reader, back))

    def _reader(self, report: Report) -> SessionReader:
        owner, how = adapter(self.client), self.how
        if how.continuation is None:
            return SessionReader(owner, self.source, report, how.project, how.checkpointed, how.known)
        from pond.codec.resume import ResumedReader  # a quick start: only a lake continues where it stopped

        return ResumedReader(owner, self.source, report, how.project, how.continuation)


class ClientOrigin(SessionOrigin):
    """A session in a client's own form."""

    def __init__(self, reader: SessionReader, back: bool) -> None:
        self._reader, self.back = reader, back
        self.reading = reader.context
        self.reached = reader.reached

    def recall(self, message_id: str) -> list[JsonObject]:
        return self._reader.recall(message_id)

    def others(self, session_id: str) -> Iterator[SessionStream]:
        from pond.codec.relatives import relatives_of  # a quick start: most sessions hold their beginning

        owner, path = self._reader.adapter, self._reader.source.path
        module = relatives_of(owner) if path is not None else None
        there = module.beginning(path, session_id) if module is not None else None
        if there is not None:
            with FoundSource(there, str(there)).open() as opened:
                yield from open_input(opened, ConversionRequest(CANONICAL, owner.client), Report()).sessions

    def cut(self) -> str:
        from pond.codec.cut import last_record  # a quick start: most conversions are native

        return last_record(self._reader)

    def beside(self, name: str) -> bytes | None:
        return self._reader.file_beside(name)

    def checkpoint(self) -> Checkpoint | None:
        from pond.codec.resume import checkpoint_of  # a quick start: only a lake continues where it stopped

        return checkpoint_of(self._reader)


class StreamOrigin(SessionOrigin):
    """A session in canonical text."""

    checked = False

    def __init__(self, reader: CanonicalReader, session_id: str) -> None:
        self._reader, self._id = reader, session_id
        self.reached = reader.reached

    def recall(self, message_id: str) -> list[JsonObject]:
        return self._reader.recall(self._id, message_id)

    def cut(self) -> str:
        kin = self.kin(self._id)
        return kin[1] if kin is not None else ""

    def kin(self, session_id: str) -> tuple[JsonObject, str] | None:
        return self._reader.ends().get(session_id)


def open_input(
    opened: Opened,
    request: ConversionRequest,
    report: Report,
    continuation: Continuation | None = None,
    known: JsonObject | None = None,
    *,
    checkpointed: bool = False,
) -> Input:
    """Recognise an open source and return its sessions, unread; raise SourceFault if no client wrote it.

    With `continuation` there is one session, and its groups are those of the records after the checkpoint. Taking the
    session or its groups may raise NeedsWhole: then call this again without it and with a new report. `known` is the
    stored session, if this source continues it.
    """
    client = request.client or opened.client
    if client is None and continuation is not None:
        client = continuation.session_row["source_agent"]
    back_to = request.to if not request.paths else None
    for source in opened.sources(report):
        if empty(source):
            raise SourceFault(Diagnostic("source-empty", "the file has no records", Span(opened.name, 1)))
        if (whose := client or detect(source)) is not None:
            options = ReadingOptions(request.project, back_to, checkpointed, continuation, known)
            return Input(whose, source, options, report)
    what = "no known client writes such records"
    help = f"known are {', '.join([*clients(), CANONICAL])}"
    raise SourceFault(Diagnostic("source-unrecognised", what, Span(opened.name, 1), help=help))
