"""Carried records that are passed on as text: they are not decoded, so no duplicate key is lost."""

from __future__ import annotations

from types import ModuleType
from typing import BinaryIO

from pond.codec.reader import SessionReading, Taker
from pond.lang.runtime import CARRIED
from pond.model.instants import instant
from pond.model.json_text import MAX_DEPTH, JsonObject, encode
from pond.model.marks import AS, POND, SEQ

_TIME = len("2026-01-02T03:04:05.678Z")


def fits(record: JsonObject, module: ModuleType) -> bool:
    """Tell whether reading a carried record would find nothing to report."""
    time = record.get(module.CARRY_TIME)
    if time is not None and (type(time) is not str or instant(time) is None):
        return False
    own = record.get(module.CARRY_ID)
    return own is None or type(own) is str


def native_lines(reading: SessionReading, module: ModuleType, out: BinaryIO) -> Taker:
    """Return the function that writes a carried record back as its own line; a repeated record is read the slow way."""
    write, is_new = out.write, reading.is_new
    time_field, id_field = module.CARRY_TIME, module.CARRY_ID

    def take(record: JsonObject, line: bytes) -> bool:
        # The same as `fits`, without the call: most records of a session pass here.
        time = record.get(time_field)
        if time is not None and (type(time) is not str or instant(time) is None):
            return False
        if id_field is not None:
            own = record.get(id_field)
            if own is not None and (type(own) is not str or not is_new(own)):
                return False
        write(line)
        return True

    return take


def canonical_lines(reading: SessionReading, module: ModuleType, out: BinaryIO) -> Taker | None:
    """Return the function that writes a carried record's event around the record's own text.

    This is possible if only the time is taken from the record, comes first in it and is spelled as in canonical; and if
    the record is not nested more deeply than canonical text may be.
    """
    if not module.CARRY_TIME_ONLY:
        return None
    write, derive, field = out.write, reading.derive, module.CARRY_TIME
    start, most = f'{{"{field}":"'.encode(), 2 * MAX_DEPTH
    time, end = len(start), len(start) + _TIME
    after = end + len(b'",')
    head = b'{"kind":"message","role":"system","id":"'
    session = b'","session_id":' + encode(reading.session_id) + b',"timestamp":"'
    source = b'","content":"","options":{"source":{'
    marked, tail = f',"{POND}":{{"{SEQ}":', f',"{AS}":"{CARRIED}"}}}}}}\n'

    def take(record: JsonObject, line: bytes) -> bool:
        if line[:time] != start or line[end:after] != b'",':
            return False
        # For a duplicate field the record holds the last value, but the text of the first is written: they must be
        # equal.
        told, first = record[field], line[time:end]
        if type(told) is not str or instant(told) is None or told.encode() != first:
            return False
        if len(line) > most and line.count(b"[") + line.count(b"{") > MAX_DEPTH:  # a short one cannot be that deep
            return False
        message_id, marks = derive(record).encode(), f"{marked}{reading.seq}{tail}".encode()
        write(b"".join((head, message_id, session, first, source, line[after:-1], marks)))
        return True

    return take
