"""Session files: read them as events, write events as files, convert, compare."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

from pond.codec.continuing import resumable
from pond.codec.finding import FoundSource
from pond.codec.opening import open_input
from pond.codec.placing import CANONICAL_SUFFIX
from pond.codec.registry import CANONICAL
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.model.json_text import encode_line
from pond.operations.convert import ConvertRequest, check
from pond.operations.convert import convert as run_convert
from pond.operations.verify import Verified, VerifyRequest
from pond.operations.verify import verify as run_verify

if TYPE_CHECKING:
    from pond.portable.loss import Loss
    from pond.types import Event

AnyPath = str | os.PathLike[str]
OnLoss = Literal["warn", "raise", "ignore"]
_NOBODYS = ("source-unrecognised", "source-empty")


class Events:
    """The canonical events of a file, read on demand: each session, its messages, and their parts.

    After reading, `faults` has what is wrong with single records; all others are still yielded.
    """

    def __init__(self, path: AnyPath, client: str | None = None, project: str | None = None) -> None:
        self.path: Path = Path(path)
        self._request = ConversionRequest(CANONICAL, client, project)
        check(self._request)
        self.client: str | None = client
        self._report = Report()

    @property
    def faults(self) -> list[Diagnostic]:
        """What was reported so far."""
        return list(self._report.faults)

    def __iter__(self) -> Iterator[Event]:
        """Read the file from its start; raise SourceFault if it cannot be read at all."""
        self._report = Report()
        with FoundSource(self.path, str(self.path)).open() as opened:
            source = open_input(opened, self._request, self._report)
            self.client = source.client
            for session in source.sessions:
                yield cast("Event", session.row)
                for events in session.groups:
                    yield from cast("list[Event]", events)


def read(path: AnyPath, *, client: str | None = None, project: str | None = None) -> Events:
    """Return the canonical events of a session file; the client is detected unless it is named."""
    return Events(path, client, project)


def detect(path: AnyPath) -> str | None:
    """Return the client that wrote a session file, `canonical`, or None; raise SourceFault if it cannot be read."""
    with FoundSource(Path(path), str(path)).open() as opened:
        try:
            return open_input(opened, ConversionRequest(CANONICAL), Report()).client
        except SourceFault as fault:
            if fault.diagnostics[0].code in _NOBODYS:
                return None
            raise


class Conversion:
    """What a conversion wrote and what it could not keep."""

    def __init__(self, report: Report, data: bytes | None, output: Path | None) -> None:
        self.report: Report = report
        self.data: bytes | None = data
        self.output: Path | None = output

    @property
    def losses(self) -> list[Loss]:
        """Every value that did not reach the target, with its reason."""
        return [loss for losses in self.report.losses for loss in losses.all()]

    @property
    def faults(self) -> list[Diagnostic]:
        """What is wrong with the source, or could not be written."""
        return list(self.report.faults)

    @property
    def sessions(self) -> int:
        """How many sessions were read."""
        return self.report.sessions

    @property
    def resume(self) -> list[str]:
        """The command that continues each session in the client it was written for."""
        return [each.command for each in resumable(self.report.resumes)]


def convert(
    source: AnyPath,
    *,
    to: str,
    output: AnyPath | None = None,
    client: str | None = None,
    project: str | None = None,
    on_loss: OnLoss = "warn",
    keep_origin: bool = False,
    map_paths: Mapping[str, str] | None = None,
    note: bool = True,
) -> Conversion:
    """Convert a session file, or a folder of them, for a client or to canonical events.

    Without `output` the result is in `data`; several sessions of a client need a directory. With `on_loss="raise"` a
    session that would lose conversation is not written, and the fault says so.
    """
    order = ConversionRequest(to, client, project, on_loss, keep_origin, tuple((map_paths or {}).items()), note)
    out = io.BytesIO()
    target = None if output is None else os.fspath(output)
    done = run_convert(ConvertRequest([os.fspath(source)], order, target, processes=1), out)
    if done.missing:
        raise SourceFault(*done.report.diagnostics)
    return Conversion(done.report, None if target else out.getvalue(), None if target is None else Path(target))


def write(events: Iterable[Event], output: AnyPath, *, to: str | None = None) -> Conversion:
    """Write canonical events as session files in a directory, for each session's own client or another one."""
    target, report = os.path.join(os.fspath(output), ""), Report()
    with tempfile.TemporaryDirectory(prefix="pond-") as folder:
        for client, text in _spooled(events, Path(folder)).items():
            report.add(convert(text, to=to or client, client=CANONICAL, output=target).report)
    return Conversion(report, None, Path(output))


def _spooled(events: Iterable[Event], folder: Path) -> dict[str, Path]:
    """Return canonical text of the sessions, by client."""
    found: dict[str, Path] = {}
    client = ""
    with ExitStack() as opened:
        files: dict[str, BinaryIO] = {}
        for event in events:
            if event["kind"] == "session":
                client = event["source_agent"]
            if client not in files:
                found[client] = folder / f"{len(files)}{CANONICAL_SUFFIX}"
                files[client] = opened.enter_context(open(found[client], "wb"))
            files[client].write(encode_line(event))
    return found


def verify(
    *paths: AnyPath, client: str | None = None, project: str | None = None, through_lake: bool = False, seed: int = 0
) -> Verified:
    """Compare session files with what comes back from canonical, or from a scratch lake into which they grow."""
    steps = 3 if through_lake else None
    return run_verify(VerifyRequest([os.fspath(path) for path in paths], client, project, steps, seed))
