"""One input to its output: opened, converted for the target, written. `docs/tour.md` has a diagram.

    a source -> open_input -> SessionStream -> towards -> SessionStream -> write_session -> its location, or staged

A session for another client is staged: only when all inputs are read is it known whether its family fits there.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from pond.codec.finding import FoundSource
from pond.codec.lines import plain_name
from pond.codec.opening import Input, open_input
from pond.codec.paths import own_location
from pond.codec.placing import CANONICAL_SUFFIX, as_written, layout, put_session
from pond.codec.registry import CANONICAL, adapter
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.session import SessionStream
from pond.codec.staging import Staged, stage_session
from pond.codec.surprise import contained
from pond.codec.writing import write_canonical
from pond.config.process import gc_paused
from pond.diagnostics.diagnostic import Diagnostic
from pond.model.marks import AS, MAP, marks_of


@dataclass(frozen=True, slots=True)
class Targets:
    """Where output goes: to its location in a directory, or, for canonical only, into a spool for a stream."""

    target: Path | None
    spool: Path
    stage: Path  # a folder on the target's file system, made when needed


@dataclass(slots=True)
class Waiting:
    """A session that waits until its family is known: what was written, and what to report then."""

    report: Report
    staged: Staged | None = None  # None if it could not be written


@dataclass(slots=True)
class ConvertedInput:
    """The result of one input."""

    report: Report
    waiting: list[Waiting] = field(default_factory=list)
    children: list[Path] = field(default_factory=list)  # of a single named file; they are converted too


def convert_input(job: FoundSource, request: ConversionRequest, to: Targets) -> ConvertedInput:
    """Convert one input; errors are in the report, or in that of the waiting session."""
    done = ConvertedInput(Report(files=1))
    # From the start: what is decoded to detect the client must be searched too.
    with gc_paused(), contained(done.report, job.name), job.open() as opened:
        _convert(open_input(opened, request, done.report), job, request, to, done)
    return done


def _convert(opened: Input, job: FoundSource, request: ConversionRequest, to: Targets, done: ConvertedInput) -> None:
    """Convert the sessions of an input, each with its own report: it may have to be withdrawn as a whole.

    A client's file is one session, so faults of its lines belong to it; the lines of a stream belong to no session.
    """
    stream = opened.client == CANONICAL
    reading = done.report if stream else Report()
    try:
        for number, session in enumerate(opened.read(reading)):
            own = Report() if stream else reading
            waiting = Waiting(own)
            with contained(own, job.name):  # one session must not stop the others of its stream
                ready = towards(request, session, own, job.name)
                waiting.staged = _write(
                    ready, _location(job, request, ready, opened.client, number), job, request, to, own
                )
            if own.members:
                done.waiting.append(waiting)
                _find_children(job, opened.client, own, done)
            elif stream:
                done.report.add(own)
    finally:
        if not stream and not done.waiting:
            done.report.add(reading)


def _find_children(job: FoundSource, client: str, own: Report, done: ConvertedInput) -> None:
    """Name the children of a single named file; a directory already includes them."""
    if job.path is not None and job.folder is None and not job.child:
        from pond.codec.lineage import children  # a quick start: most conversions are native

        with contained(done.report, job.name):
            done.children += children(job.path, client, own.members[0].id)


def settle(done: ConvertedInput, too_deep: dict[str, Diagnostic], target: Path | None) -> Report:
    """Put what waited at its location, or discard it with its family; return everything to report about the input."""
    report = done.report
    for waiting in done.waiting:
        fault = too_deep.get(waiting.report.members[0].id)
        if fault is not None:
            report.sessions += waiting.report.sessions
            report.diagnostics.append(fault)
            continue
        report.add(waiting.report)
        if waiting.staged is not None and target is not None:
            with contained(report, waiting.staged.name):
                waiting.staged.put(target, report)
    return report


def towards(request: ConversionRequest, session: SessionStream, report: Report, name: str) -> SessionStream:
    """Return a session in its target form: its own client's or another's; raise if that is not possible."""
    if request.paths:
        from pond.codec.relocate import relocated  # a quick start: few sessions move

        session = relocated(session, request.paths, report)
    if request.to == CANONICAL:
        return session
    if request.to == session.row["source_agent"]:
        marked, session = _marked(session)
        if marked:
            return session
    from pond.codec.foreign import retarget  # a quick start: most conversions are native

    return retarget(session, request, report, name)


def _marked(session: SessionStream) -> tuple[bool, SessionStream]:
    """Tell whether the events say which client records they were; if not, they are only a conversation.

    Only events that no reader made can lack this: canonical text from elsewhere, even after it was stored.
    """
    if session.origin.checked or MAP in marks_of(session.row["options"]):  # the mapping that read it
        return True, session
    groups = iter(session.groups)
    first = next(groups, None)
    if first is None:
        return True, session
    return AS in marks_of(first[0]["options"]), replace(session, groups=chain((first,), groups))


def _write(
    session: SessionStream, location: str, job: FoundSource, request: ConversionRequest, to: Targets, report: Report
) -> Staged | None:
    """Write a session at its location, or stage it if its family must be known first."""
    if to.target is None:
        with open(spooled(job, to.spool), "ab") as out:
            write_canonical(session, out)
        return None
    if session.member is not None:
        return stage_session(session, request, location, to.stage, report, job.name, job.date)
    put_session(session, request, to.target, to.target / location, report, job.name, job.date)
    return None


def spooled(job: FoundSource, spool: Path) -> Path:
    """Return where the canonical text of an input waits for its turn in a stream."""
    return spool / f"{job.number:09d}{CANONICAL_SUFFIX}"


def _location(job: FoundSource, request: ConversionRequest, session: SessionStream, client: str, number: int) -> str:
    """Return a session's location in the target: that of its input in the named directory, otherwise its layout's.

    Only the first session of a stream can take the stream's location, and only in its own client's form.
    """
    location = in_layout = layout(session, request)
    at_home = client in (CANONICAL, session.row["source_agent"]) and not session.foreign
    if at_home and job.folder is not None and job.path is not None and number == 0 and not job.key:
        here = plain_name(job.path.relative_to(job.folder).as_posix())
        if client != CANONICAL:
            location = here
        elif here.endswith(CANONICAL_SUFFIX):
            location = _renamed(here, in_layout, session, request)
        location = session.origin.moved(location)
    return as_written(location, request)


def _renamed(here: str, in_layout: str, session: SessionStream, request: ConversionRequest) -> str:
    """Return the location of a session from a canonical file: named like that file, if the client uses such names."""
    folder, slash, stem = here.removesuffix(CANONICAL_SUFFIX).rpartition("/")
    name: str | None = stem + os.path.splitext(in_layout)[1]
    if name is not None and request.to != CANONICAL:
        module = adapter(session.row["source_agent"]).module
        name = own_location(name, module.FILES, module.IGNORES)
    return in_layout if name is None else folder + slash + name
