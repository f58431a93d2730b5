"""A session for another client: from its events to the same conversation in the target's dialect."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from types import ModuleType

from pond.codec.carried import fits
from pond.codec.lineage import is_spawned, member
from pond.codec.reader import SessionReading, Taker
from pond.codec.registry import Adapter, adapter
from pond.codec.relatives import lowering_of, opening, outline_of
from pond.codec.renamed import Renamed
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.session import SessionOrigin, SessionStream, Written
from pond.codec.writer import SessionWriter, SideFile
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.model.json_text import JsonObject, encode_line
from pond.model.lineage import KIND, PARENT, SPAWN
from pond.portable import origin
from pond.portable.conversation import Heading
from pond.portable.foreign import Foreign, Thread, heading_of, moved_id, row_of
from pond.portable.inserted import came_from
from pond.portable.lift import SideText
from pond.portable.loss import CONTENT, KINDS, Losses
from pond.portable.lowering import Group
from pond.portable.outline import Outline
from pond.portable.shown import is_display
from pond.portable.sound import sound, sound_session


def retarget(session: SessionStream, request: ConversionRequest, report: Report, name: str) -> SessionStream:
    """Return the session in the target's form: events in its dialect, a location in its layout."""
    target = adapter(request.to)
    module = lowering_of(target)
    if module is None:
        what = f"sessions of other clients cannot be written as {request.to}'s"
        raise SourceFault(Diagnostic("usage-foreign", what, rule="adapter-native-restore-lossless"))
    asked = session.origin
    row = session.row if asked.checked else sound_session(session.row)
    losses = Losses(row["id"], name)
    report.losses.append(losses)
    outline = outline_of(row, asked.recall)
    cut = asked.cut()  # before the records are read: it is part of the id that they are written under
    if asked.reading is not None and not request.keep_origin:
        asked.reading.carried = _passed_by(outline, adapter(row["source_agent"]).module, losses, asked.reading)
    groups = iter(session.groups) if asked.checked else sound(session.groups, losses)
    first = list(islice(groups, _OPENING))
    start = opening(row, first[0] if first else None)
    kin = member(row, start, name, asked.checked)
    report.members.append(kin)
    session = replace(session, member=kin)
    own = origin.session_in(first)
    parent = _parent_there(row, is_spawned(row, start), asked, request.to)
    new_id = moved_id(row, request.to, cut, parent)
    if own is not None and own["source_agent"] == request.to:
        return _brought_back(session, own, chain(first, groups), module, losses, cut, new_id, parent)
    before = _beginning(session, start.base, losses, (row["id"],)) if start.base is not None else iter(())
    heading = heading_of(row, start, new_id, parent)
    note = came_from(heading.source_agent, heading.source_id) if request.note and not heading.spawned else ""
    heading = replace(heading, note=note, provider=request.provider)
    way = Foreign(
        heading, row, outline, module.LOWERING, losses, asked.recall, asked.reached,
        origin.of_move(row, cut, start.base[0] if start.base is not None else None), request.keep_origin,
        _texts_beside(asked),
    )  # fmt: skip
    if row["options"].get("source"):
        losses.count("side-file", "values of files beside the session")
    location = module.LOWERING.path_of(heading)
    return replace(
        session,
        row=row_of(heading, request.to, location),
        groups=way.records(chain(first, groups), before),
        leaving=_Leaving(way, heading, location, target, module, losses, request, report, name),
    )


def _parent_there(
    row: JsonObject, spawned: bool, asked: SessionOrigin, target: str, below: frozenset[str] = frozenset()
) -> str | None:
    """Return the id that the session which spawned this one gets in the target; None where nobody did."""
    parent = row.get(PARENT)
    if not spawned or type(parent) is not str or parent in below:
        return None
    kin = asked.kin(parent)
    if kin is None:  # its file is not here to ask: a later conversion with the file makes another session of it
        return moved_id({"source_agent": row["source_agent"], "id": parent}, target, "", None)
    above, cut = kin
    told = _parent_there(above, above.get(KIND) == SPAWN, asked, target, below | {row["id"]})
    return moved_id(above, target, cut, told)


@dataclass(frozen=True, slots=True)
class _Leaving:
    """What to report and write when all records of a session are in another client's form."""

    way: Foreign
    heading: Heading
    location: str
    target: Adapter
    module: ModuleType
    losses: Losses
    request: ConversionRequest
    report: Report
    name: str

    @property
    def spawned(self) -> bool:
        return self.heading.spawned

    def end(self) -> Written:
        if not self.way.begun:
            what = f"session `{self.losses.session}` holds no conversation; nothing was written for it"
            raise SourceFault(Diagnostic("foreign-empty", what, Span(self.name, 1)))
        refuse_losses(self.losses, self.request, self.name)
        return Written([self._child(thread) for thread in self.way.threads()], self.way.last_time)

    def _child(self, thread: Thread) -> SideFile:
        """Return the file of a conversation that was inside its parent's."""
        row = row_of(thread.heading, self.target.client, "")
        writer = SessionWriter(self.target, row, _nothing_earlier, self.report, self.name)
        values = writer.records(iter(thread.groups))
        data = b"".join(encode_line(value) for value in values if type(value) is not SideFile)
        return SideFile(beside_name(self.module.LOWERING.path_of(thread.heading), self.location, self.heading), data)


def _passed_by(outline: Outline, module: ModuleType, losses: Losses, reading: SessionReading) -> Taker:
    """Return the function that reports carried records which mean nothing to another client, before events are made."""
    notices, overhears, record_left, inner = outline.notices, outline.overhears, losses.record, outline.inner
    is_new, id_field = reading.is_new, module.CARRY_ID

    def take(record: JsonObject, _: bytes) -> bool:
        if record.get("type") == origin.KIND or not fits(record, module):
            return False
        if is_display(record):
            return True
        if notices(record):
            own = record.get(id_field)
            if not (own and is_new(own) and overhears(record, own)):
                return False
        record_left(record, inner)
        return True

    return take


def _texts_beside(asked: SessionOrigin) -> SideText:
    """Return a function that gives the text of a file beside the session; bytes that are not text give None."""

    def text(name: str) -> str | None:
        data = asked.beside(name)
        try:
            return data.decode("utf-8") if data is not None else None
        except UnicodeDecodeError:
            return None

    return text


_OPENING = 2  # records of a file that may begin a session that is carried inside


def _brought_back(
    session: SessionStream, own: JsonObject, groups: Iterator[Group], module: ModuleType, losses: Losses, cut: str,
    new_id: str, parent: str | None,
) -> SessionStream:  # fmt: skip
    """Return a session that was carried inside another client's file: its native records, then what was added since.

    It is a session of its own again: its ids are new, and so is what names them. All other values are the first's.
    """
    asked = session.origin
    back = Renamed(own, new_id, parent)
    way = Foreign(
        heading_of(back.row, outline_of(back.row), back.row["id"], parent), session.row,
        outline_of(session.row, asked.recall), module.LOWERING, losses, asked.recall, asked.reached,
        origin.of_move(session.row, cut),
    )  # fmt: skip
    return replace(session, row=back.row, groups=way.continued(groups, own["id"], back.events))


def refuse_losses(losses: Losses, request: ConversionRequest, name: str) -> None:
    """Raise if the caller wants no conversation lost and some is."""
    if request.on_loss != "raise":
        return
    lost = [loss for loss in losses.all() if KINDS[loss.kind][0] == CONTENT]
    if lost:
        what = f"{len(lost)} losses of content, the first: {KINDS[lost[0].kind][1]} ({lost[0].message or lost[0].what})"
        raise SourceFault(Diagnostic("foreign-loss", what, Span(name, 1)))


def beside_name(child: str, location: str, parent: Heading) -> str:
    """Return a child's path relative to its parent's file; `{stem}` is that file's own name."""
    here = posixpath.relpath(child, posixpath.dirname(location))
    return here.replace(f"{parent.id}/", "{stem}/", 1) if here.startswith(f"{parent.id}/") else here


def _nothing_earlier(_: str) -> list[JsonObject]:
    return []


def _beginning(
    session: SessionStream, base: tuple[str, int], losses: Losses, after: tuple[str, ...]
) -> Iterator[Group]:
    """Yield the records of the session that holds the beginning, up to where the sessions `after` it continue."""
    base_id, end = base
    found = False
    for parent in session.origin.others(base_id) if base_id not in after else ():
        found = True
        groups = iter(parent.groups) if parent.origin.checked else sound(parent.groups, losses)
        first = list(islice(groups, 1))
        start = opening(parent.row, first[0] if first else None)
        if start.base is not None:
            yield from _up_to(_beginning(parent, start.base, losses, (*after, base_id)), end, start)
        yield from _up_to(chain(first, groups), end, start)
    if not found:
        losses.add("beginning-missing", base_id, what=base_id)


def _up_to(groups: Iterator[Group], end: int, outline: Outline) -> Iterator[Group]:
    for group in groups:
        residue = group[0]["options"].get("source")
        number = outline.number_of(residue) if type(residue) is dict else None
        if number is not None and number >= end:
            return
        yield group
