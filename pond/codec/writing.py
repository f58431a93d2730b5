"""Writes a session's records: as canonical text, in its own client's form, or in another client's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import BinaryIO

from pond.codec.carried import canonical_lines, native_lines
from pond.codec.continuing import advice, can_continue
from pond.codec.forms import whole_form
from pond.codec.reader import SessionReading
from pond.codec.registry import CANONICAL, adapter
from pond.codec.report import Report
from pond.codec.session import SessionStream, Written
from pond.codec.writer import NO_RECORD, SessionWriter, SideFile
from pond.config.process import gc_paused
from pond.model.json_text import Json, NotJson, encode_line, encode_plain

Tick = Callable[[int], None]
_TICK_EVERY = 0xFF  # a mask: progress is checked once every 256 records


def _no_tick(done: int) -> None:
    """Do nothing: nobody watches."""


def write_session(
    session: SessionStream, to: str, out: BinaryIO, report: Report, name: str, progress: Tick = _no_tick
) -> Written:  # fmt: skip
    """Write a session in the target's form; return what belongs beside it."""
    if to == CANONICAL:
        write_canonical(session, out, progress)
        return Written([])
    alone, session = can_continue(session)
    written = (write_foreign if session.foreign else write_native)(session, out, report, name, progress)
    return replace(written, resume=advice(session, written)) if alone else written


def write_canonical(session: SessionStream, out: BinaryIO, progress: Tick = _no_tick) -> None:
    """Write a session as canonical JSONL: the row, then every message followed by its parts."""
    write, origin = out.write, session.origin
    write(encode_line(session.row))
    if origin.reading is not None:
        origin.reading.carried = canonical_lines(origin.reading, adapter(session.row["source_agent"]).module, out)
    with gc_paused():
        for number, events in enumerate(session.groups):
            for event in events:
                write(encode_line(event))
            if not number & _TICK_EVERY:
                progress(origin.reached()[0])


def write_native(
    session: SessionStream, out: BinaryIO, report: Report, name: str, progress: Tick = _no_tick
) -> Written:  # fmt: skip
    """Write a session's records in its client's form; return what belongs beside them."""
    owner = adapter(session.row["source_agent"])
    writer = SessionWriter(owner, session.row, session.origin.recall, report, name)
    beside = writer.side_files()
    if (whole := whole_form(session.row, owner)) is not None:
        out.write(whole(_without(beside, writer.records(session.groups)), name))
        return Written(beside)
    back = session.origin.reading if session.origin.back else None
    if back is not None:
        back.carried = native_lines(back, owner.module, out)
    _write_lines(session, writer, out, report, name, progress, beside, back)
    return Written(beside)


def write_foreign(
    session: SessionStream, out: BinaryIO, report: Report, name: str, progress: Tick = _no_tick
) -> Written:  # fmt: skip
    """Write a session's records in another client's form; raise SourceFault if there are none or too much is lost."""
    assert session.leaving is not None
    writer = SessionWriter(adapter(session.row["source_agent"]), session.row, session.origin.recall, report, name)
    listed: list[SideFile] = []
    _write_lines(session, writer, out, report, name, progress, listed, None)
    written = session.leaving.end()
    return replace(written, beside=[*written.beside, *listed])


def _write_lines(
    session: SessionStream, writer: SessionWriter, out: BinaryIO, report: Report, name: str, progress: Tick,
    beside: list[SideFile], back: SessionReading | None,
) -> None:  # fmt: skip
    """Write one line for each record; files among them go `beside`.

    A record on its way `back` is proved if its line is not as long as the one it was read from.
    """
    write, record_of, reached = out.write, writer.record, session.origin.reached
    with gc_paused():
        for number, events in enumerate(session.groups):
            if type(value := record_of(events)) is SideFile:
                beside.append(value)
            elif value is not NO_RECORD:
                try:
                    text = encode_plain(value)
                    if back is not None and (text is None or len(text) != len(back.line)):
                        back.prove()  # as long as its line: it cannot have had a duplicate key
                    write(encode_line(value) if text is None else text)
                except NotJson as error:
                    report.error(error.code, str(error), name, reached()[1])
            if not number & _TICK_EVERY:
                progress(reached()[0])


def _without(beside: list[SideFile], values: Iterator[Json | SideFile]) -> Iterator[Json]:
    """Yield the records among what was written; files among them go `beside`."""
    for value in values:
        if isinstance(value, SideFile):
            beside.append(value)
        else:
            yield value
