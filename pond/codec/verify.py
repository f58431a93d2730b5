"""Proof on real files: source -> canonical text -> source, compared with what an independent reader sees.

The source side is read by the standard library's JSON reader with every check switched on, not by the codec's own, so a
fault of the fast reader cannot hide itself.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, cast

from pond.codec.client_store import OpenSession, sessions_in
from pond.codec.detect import detect
from pond.codec.document import DOCUMENT
from pond.codec.finding import FoundSource
from pond.codec.openfile import OpenFile
from pond.codec.opening import Input, open_input
from pond.codec.paths import beside
from pond.codec.registry import CANONICAL, adapter, clients
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.session import SessionStream
from pond.codec.source import Opened
from pond.codec.surprise import contained
from pond.codec.writer import SideFile
from pond.codec.writing import write_canonical, write_native
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


def verify_job(job: FoundSource, client: str | None = None, project: str | None = None) -> Verdict:
    """Convert one file to canonical and back and compare every record; differences are in the report."""
    verdict = Verdict()
    report = verdict.report
    report.files = 1
    with contained(report, job.name), job.open() as opened:
        _verify(job, opened, ConversionRequest(CANONICAL, client, project), verdict)
    return verdict


def _verify(job: FoundSource, opened: Opened, request: ConversionRequest, verdict: Verdict) -> None:
    report = verdict.report
    source = open_input(opened, request, report)
    verdict.client = source.client
    if source.client == CANONICAL:
        return
    with tempfile.TemporaryFile() as middle, tempfile.NamedTemporaryFile(prefix="pond-") as restored:
        for session in source.sessions:
            write_canonical(session, middle)
        quiet = Report()
        side: list[SideFile] = []
        for session in _again(middle, job.name, quiet):
            side += write_native(session, cast(BinaryIO, restored), quiet, job.name).beside
        report.diagnostics += [d for d in quiet.diagnostics if d.severity == "error"]
        restored.flush()
        with _opened_again(restored.name, source) as back:
            _compare(job.name, _strict(opened, source.source.form), _strict(back, source.source.form), verdict)
        _compare_side(job.path, source.client, side, report)


def _opened_again(path: str, source: Input) -> Opened:
    """Return what was restored, open: a file, or the one session of a store."""
    if source.source.key:
        ((key, _),) = sessions_in(source.client, Path(path))
        return OpenSession(source.client, Path(path), key, path)
    return OpenFile(open(path, "rb"), path, None)


def compare(path: Path, verdict: Verdict, restored: BinaryIO, side: list[SideFile], *, further: bool) -> None:
    """Compare a file, and those beside it, with what was restored; if `further`, the restored one may be longer."""
    with contained(verdict.report, str(path)), FoundSource(path, str(path)).open() as opened:
        form = _form(opened)
        left, right = _strict(opened, form), _strict(OpenFile(restored, str(path), None), form)
        _compare(str(path), left, right, verdict, further=further)
        _compare_side(path, verdict.client, side, verdict.report)


def _form(opened: Opened) -> str:
    """Return the form of the records that a client recognises; the likeliest if none does."""
    sources = [*opened.sources(Report())]
    return next((source for source in sources if detect(source) is not None), sources[0]).form


def _again(middle: BinaryIO, name: str, report: Report) -> Iterator[SessionStream]:
    return open_input(OpenFile(middle, name, None), ConversionRequest(CANONICAL, CANONICAL), report).sessions


def _strict(opened: Opened, form: str) -> Iterator[tuple[int, Json]]:
    """Yield (line, value) for every line that is JSON, as the standard library reads it; a document is one value."""
    for number, line in enumerate(_texts(opened, form), 1):
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if not text.strip():
            continue
        try:
            yield number, decode_strictly(text.strip(), lambda _: None)
        except NotJson:
            continue  # the reader reported it as a fault; there is nothing to compare


def _texts(opened: Opened, form: str) -> Iterator[bytes]:
    """Yield the text of each record without the engine's readers; for a store only its own module can read it."""
    if isinstance(opened, OpenFile):
        opened.file.seek(0)
        yield from [opened.file.read()] if form == DOCUMENT else opened.file
        return
    for source in opened.sources(Report()):
        yield from (line for _, _, line in source.lines())


def _compare(
    name: str, source: Iterator[tuple[int, Json]], restored: Iterator[tuple[int, Json]], verdict: Verdict, *,
    further: bool = False,
) -> None:  # fmt: skip
    shown = 0
    for left, right in zip_longest(source, restored, fillvalue=(0, _GONE)):
        number, value = left
        if value is _GONE and further:
            return
        verdict.records += value is not _GONE
        if value is not _GONE and right[1] is not _GONE and same(value, right[1]):
            verdict.equal += 1
            continue
        shown += 1
        if shown <= _MOST_DIFFERENCES:
            verdict.report.error("verify-different", _difference(value, right[1]), name, number)


def _difference(value: Json, restored: Json) -> str:
    if value is _GONE:
        return "a restored record is not in the source"
    if restored is _GONE:
        return "the record was not restored"
    return first_difference(value, restored) or "the record differs"


def _compare_side(path: Path | None, client: str, restored: list[SideFile], report: Report) -> None:
    """Compare the files beside the session: JSON by value, everything else by byte."""
    if path is None or client not in clients():
        return
    back = {file.name: file.data for file in restored if not file.shared}
    lines = [decode_strictly(file.data.strip(), lambda _: None) for file in restored if file.shared]
    owner = adapter(client)
    if not same(lines, [*owner.listed(path)]):
        report.error("verify-different", f"what `{owner.list_name}` says of it came back changed", str(path))
    for name, other in beside(path, owner.module.BESIDE):
        data = _read(other)
        if name not in back:
            report.error("verify-different", "the file beside the session was not restored", str(other))
        elif data != back[name] and not _same_json(data, back[name]):
            report.error("verify-different", "the file beside the session was restored with changes", str(other))


def _read(path: Path) -> bytes:
    with open(os.fspath(path), "rb") as file:
        return file.read()


def _same_json(left: bytes, right: bytes) -> bool:
    try:
        return same(decode_strictly(left.strip(), lambda _: None), decode_strictly(right.strip(), lambda _: None))
    except NotJson:
        return False
