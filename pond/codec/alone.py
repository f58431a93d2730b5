"""One input that a caller named, written to one file or stream: its session, and the children that belong to it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pond.codec.convert import ConvertedInput, Targets, convert_input, towards
from pond.codec.finding import FoundSource
from pond.codec.opening import Input, open_input
from pond.codec.placing import safe_beside
from pond.codec.registry import CANONICAL
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.session import SessionStream
from pond.codec.surprise import contained
from pond.diagnostics.diagnostic import SourceFault

if TYPE_CHECKING:  # most conversions are native
    from pond.codec.lineage import FamilyMember


class Alone:
    """Converts one named input. With a `stage` its children are converted too; without, they are only looked at."""

    def __init__(self, job: FoundSource, request: ConversionRequest, stage: Path | None) -> None:
        self._job, self._request, self._stage = job, request, stage
        self._children: list[FoundSource] = []
        self._converted: list[ConvertedInput] = []
        self._members: list[FamilyMember] = []

    def sessions(self, opened: Input, report: Report) -> Iterator[SessionStream]:
        """Yield the sessions of the input in their target form; report those that cannot have one."""
        for session in opened.sessions:
            ready: SessionStream | None = None
            with contained(report, self._job.name):  # the other sessions of its stream continue
                ready = self._admitted(session, opened.client, report)
            if ready is not None:
                yield ready

    def _admitted(self, session: SessionStream, client: str, report: Report) -> SessionStream:
        """Return a session in its target form; raise SourceFault if its family is too deep for the target."""
        before = len(report.losses)
        ready = towards(self._request, session, report, self._job.name)
        if ready.member is None:
            return ready
        from pond.codec.lineage import too_deep  # a quick start: most conversions are native

        with contained(report, self._job.name):
            self._look_for_children(client, ready.member.id)
        family = [*self._members, ready.member]
        fault = too_deep(family, self._request.to).get(ready.member.id)
        if fault is None:
            return ready
        del report.losses[before:]  # nothing of it is written
        raise SourceFault(fault)

    def _look_for_children(self, client: str, session_id: str) -> None:
        from pond.codec.lineage import children  # a quick start, as above

        if self._job.path is None or not self._job.path.is_file():
            return
        paths = children(self._job.path, client, session_id)
        self._children = [FoundSource(path, str(path), number=n, child=True) for n, path in enumerate(paths, 1)]
        for child in self._children:
            if self._stage is None:
                self._members += _members(child, client)
            else:
                done = convert_input(child, self._request, Targets(self._stage, self._stage, self._stage))
                self._members += [member for waiting in done.waiting for member in waiting.report.members]
                self._converted.append(done)

    def bring_children(self, output: Path | None, report: Report) -> None:
        """Put the children beside the session's file; name those that a stream cannot hold.

        They only follow a session that was written and can be continued.
        """
        if not report.resumes:
            return
        location = report.resumes[0].location
        for child in self._children if output is None else ():
            report.losses[0].add("children-left-out", "", what=child.name)
        for done in self._converted if output is not None else ():
            for waiting in done.waiting:
                done.report.add(waiting.report)
                if waiting.staged is not None and output is not None:
                    with contained(done.report, waiting.staged.name):
                        beside = safe_beside(output, _seen_from(location, waiting.staged.location))
                        waiting.staged.put_at(beside, done.report)
            report.add(done.report)


def _seen_from(parent: str, child: str) -> str:
    """Return a child's location relative to its parent's; `{stem}` is the parent's own name, which may be new."""
    here = posixpath.relpath(child, posixpath.dirname(parent))
    stem = posixpath.splitext(posixpath.basename(parent))[0]
    return here.replace(f"{stem}/", "{stem}/", 1)


def _members(child: FoundSource, client: str) -> list[FamilyMember]:
    """Return the sessions of a child's file, which will not be written; what cannot be read is left out."""
    from pond.codec.lineage import member  # a quick start: only a stream asks
    from pond.codec.relatives import opening

    found: list[FamilyMember] = []
    with contained(Report(), child.name), child.open() as opened:
        for session in open_input(opened, ConversionRequest(CANONICAL, client), Report()).sessions:
            found.append(member(session.row, opening(session.row, next(iter(session.groups), None)), child.name))
    return found
