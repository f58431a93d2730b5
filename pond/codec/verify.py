"""Proof on real files: source -> canonical text -> source, compared with what an independent reader sees.

The source side is read by the standard library's JSON reader with every trap switched on, not by the codec's own, so a
fault of the fast road cannot hide itself.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from pond.codec.batch import Job
from pond.codec.convert import Order, Session, open_input, write_canonical, write_native
from pond.codec.paths import beside
from pond.codec.registry import CANONICAL, adapter
from pond.codec.report import Report
from pond.codec.writer import SideFile
from pond.diagnostics.diagnostic import PondError
from pond.model.equal import first_difference, same
from pond.model.json_text import Json, NotJson, decode_strictly

_MOST_DIFFERENCES = 10
_GONE = object()
UNKNOWN = "unknown"  # the client of a file that no adapter recognises


@dataclass(slots=True)
class Verdict:
    """What verifying one file showed."""

    client: str = UNKNOWN
    records: int = 0
    equal: int = 0
    report: Report = field(default_factory=Report)


def verify_job(job: Job, client: str | None = None, project: str | None = None) -> Verdict:
    """Take one file through canonical and back and compare every record; differences are in the report."""
    verdict = Verdict()
    report = verdict.report
    report.files = 1
    try:
        with job.open() as file, tempfile.TemporaryFile() as middle, tempfile.TemporaryFile() as restored:
            source = open_input(file, job.name, job.path, Order(CANONICAL, client, project), report)
            verdict.client = source.client
            if source.client == CANONICAL:
                return verdict
            for session in source.sessions:
                write_canonical(session, middle)
            quiet = Report()
            side: list[SideFile] = []
            for session in _again(middle, job.name, quiet):
                side += write_native(session, restored, quiet, job.name).beside
            report.diagnostics += [d for d in quiet.diagnostics if d.severity == "error"]
            document = source.source.form == "document"
            _compare(job.name, _strict(file, document), _strict(restored, document), verdict)
            _compare_side(job, source.client, side, report)
    except PondError as error:
        report.diagnostics += error.diagnostics
    except OSError as error:
        report.error("source-unreadable", (error.strerror or str(error)).lower(), job.name)
    return verdict


def _again(middle: BinaryIO, name: str, report: Report) -> Iterator[Session]:
    return open_input(middle, name, None, Order(CANONICAL, CANONICAL), report).sessions


def _strict(file: BinaryIO, document: bool) -> Iterator[tuple[int, Json]]:
    """Yield (line, value) for every line that is JSON, as the standard library reads it; a document is one value."""
    file.seek(0)
    lines = [file.read()] if document else file
    for number, line in enumerate(lines, 1):
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if not text.strip():
            continue
        try:
            yield number, decode_strictly(text.strip(), lambda _: None)
        except NotJson:
            continue  # the reader reported it as a fault; there is nothing to compare


def _compare(
    name: str, source: Iterator[tuple[int, Json]], restored: Iterator[tuple[int, Json]], verdict: Verdict
) -> None:
    shown = 0
    for left, right in zip_longest(source, restored, fillvalue=(0, _GONE)):
        number, value = left
        verdict.records += value is not _GONE
        if value is not _GONE and right[1] is not _GONE and same(value, right[1]):
            verdict.equal += 1
            continue
        shown += 1
        if shown <= _MOST_DIFFERENCES:
            verdict.report.error("verify-different", _difference(value, right[1]), name, number)


def _difference(value: Json, restored: Json) -> str:
    if value is _GONE:
        return "a record came back that the source does not have"
    if restored is _GONE:
        return "the record did not come back"
    return first_difference(value, restored) or "the record differs"


def _compare_side(job: Job, client: str, restored: list[SideFile], report: Report) -> None:
    """Compare the files beside the session: JSON by value, everything else by byte."""
    if job.path is None:
        return
    back = {file.name: file.data for file in restored}
    for name, path in beside(job.path, adapter(client).module.BESIDE):
        data = _read(path)
        if name not in back:
            report.error("verify-different", "the file beside the session did not come back", str(path))
        elif data != back[name] and not _same_json(data, back[name]):
            report.error("verify-different", "the file beside the session came back changed", str(path))


def _read(path: Path) -> bytes:
    with open(os.fspath(path), "rb") as file:
        return file.read()


def _same_json(left: bytes, right: bytes) -> bool:
    try:
        return same(decode_strictly(left.strip(), lambda _: None), decode_strictly(right.strip(), lambda _: None))
    except NotJson:
        return False
