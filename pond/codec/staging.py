"""Sessions that are written but not in their places yet: files on the same file system, without a final name.

A session for another client stays here until every input is read: only then is its family known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pond.codec.continuing import ResumeAdvice
from pond.codec.output import HeldFile, release
from pond.codec.placing import (
    date_file,
    inside,
    layout,
    list_session,
    note_resume,
    refuse_empty,
    safe_beside,
    seconds,
)  # fmt: skip
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.session import SessionStream
from pond.codec.writer import SideFile
from pond.codec.writing import write_session


@dataclass(frozen=True, slots=True)
class Staged:
    """One session's files, and where they belong."""

    name: str  # of its input
    location: str  # below the target
    file: Path
    beside: list[tuple[str, Path]]
    listed: list[SideFile]  # lines for a list that the client keeps of its sessions
    in_layout: str
    date: float | None
    resume: ResumeAdvice | None

    def put(self, target: Path, report: Report) -> None:
        """Give the files their names; raise SourceFault if another file has one of them."""
        location = target / self.location
        self.put_at(inside(target, location), report)
        note_resume(self.resume, self.location, report)

    def put_at(self, location: Path, report: Report) -> None:
        """Give the session file the name `location`, and those beside it theirs."""
        release(self.file, location)
        for name, file in self.beside:
            release(file, safe_beside(location, name))
        if self.listed:
            list_session(location, self.listed, self.in_layout, report)
        date_file(location, self.date)


def stage_session(
    session: SessionStream, request: ConversionRequest, location: str, stage: Path, report: Report, name: str,
    dated: Callable[[], float | None],
) -> Staged:  # fmt: skip
    """Write a session, and what belongs beside it, into the folder `stage`."""
    with HeldFile(stage, location) as (out, file):
        written = write_session(session, request.to, out, report, name)
        refuse_empty(out, session.row["id"], name)
    beside = []
    for extra in written.beside:
        if not extra.shared:
            with HeldFile(stage, location) as (out, other):
                out.write(extra.data)
            beside.append((extra.name, other))
    listed = [extra for extra in written.beside if extra.shared]
    date = seconds(written.time) if session.foreign else dated()
    return Staged(name, location, file, beside, listed, layout(session, request), date, written.resume)
