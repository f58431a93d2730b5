"""The last record of a session, found before its records are read: what is copied of it ends there."""

from __future__ import annotations

from pond.codec.reader import BESIDE, SessionReader, SessionReading
from pond.codec.report import Report
from pond.lang.runtime import LISTED
from pond.model.bounds import MAX_TEXT
from pond.model.json_text import NotJson, decode
from pond.model.marks import AS, marks_of


def last_record(reader: SessionReader) -> str:
    """Return the id that the last record of a source gets when it is read; empty where it has none."""
    return _at_a_glance(reader) or _by_reading(reader)


def _at_a_glance(reader: SessionReader) -> str | None:
    """Return the id of the last line, where no line before it can have the same; None where nobody can tell so."""
    source = reader.source
    line = source.last_line()
    if line is None or len(line) > MAX_TEXT:
        return None
    try:
        record = decode(line, _ignore)
        context = SessionReading(reader.session, source, Report())
        context.line = line
        if type(record) is not dict:
            return None
        found: str = reader.adapter.module.read(record, context)[0]["id"]
    except NotJson:
        return None
    needle = line.strip() if context.derived() else f'"{found}"'.encode()
    return found if sum(1 for _ in zip(source.lines_with(needle), range(2), strict=False)) < 2 else None


def _by_reading(reader: SessionReader) -> str:
    again = SessionReader(reader.adapter, reader.source, Report(), reader.session["project"])
    last = ""
    for events in again.records():
        if marks_of(events[0]["options"]).get(AS) not in (BESIDE, LISTED):
            last = events[0]["id"]
    return last


def _ignore(_: str) -> None:
    """Duplicate keys are reported when the line is read in its turn."""
