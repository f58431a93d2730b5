"""A session on its way to another client: from a session's events to the same conversation in the target's dialect."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice
from types import ModuleType

from pond.codec.carried import fits
from pond.codec.convert import Order, Session, Written, open_input
from pond.codec.reader import SessionReading, Taker
from pond.codec.registry import CANONICAL, Adapter, adapter, clients, part_of
from pond.codec.report import Report, Resume
from pond.codec.source import open_regular
from pond.codec.unpacked import plain
from pond.codec.writer import SessionWriter, SideFile
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.model.json_text import JsonObject, encode_line
from pond.model.marks import label_of
from pond.portable import origin
from pond.portable.conversation import Heading
from pond.portable.foreign import Foreign, Thread, heading_of, row_of
from pond.portable.loss import CONTENT, KINDS, Losses
from pond.portable.lowering import Group
from pond.portable.outline import Outline, Recall, Record
from pond.portable.sound import sound, sound_session


def retarget(session: Session, order: Order, report: Report, name: str) -> Session:
    """Return the session as the target's own: its events in the target's dialect, its place in the target's layout."""
    target = adapter(order.to)
    module = lowering_of(target)
    if module is None:
        what = f"sessions of other clients cannot be written as {order.to}'s"
        raise SourceFault(Diagnostic("usage-foreign", what, rule="adapter-native-restore-lossless"))
    row = session.row if session.checked else sound_session(session.row)
    if row["id"] in order.too_deep:
        raise SourceFault(order.too_deep[row["id"]])
    losses = Losses(row["id"], name)
    report.losses.append(losses)
    outline = outline_of(row, session.recall)
    if session.reading is not None and not order.keep_origin:
        session.reading.carried = _passed_by(outline, adapter(row["source_agent"]).module, losses, session.reading)
    groups = iter(session.groups) if session.checked else sound(session.groups, losses)
    first = list(islice(groups, _OPENING))
    own = origin.session_in(first)
    if own is not None and own["source_agent"] == order.to:
        return _brought_back(session, own, chain(first, groups), module, losses)
    start = opening(row, first[0] if first else None)
    before = _beginning(session, start.base, losses, (row["id"],)) if start.base is not None else iter(())
    heading = heading_of(row, start)
    place = module.LOWERING.path_of(heading)
    way = Foreign(
        heading,
        row,
        outline,
        module.LOWERING,
        losses,
        session.recall,
        session.place,
        order.keep_origin,
    )
    if row["options"].get("source"):
        losses.count("side-file", "values of files beside the session")

    def end() -> Written:
        if not way.begun:
            what = f"session `{row['id']}` holds no conversation; nothing was written for it"
            raise SourceFault(Diagnostic("foreign-empty", what, Span(name, 1)))
        refuse_losses(losses, order, name)
        if not heading.spawned:
            report.resumes.append(Resume(order.to, module.LOWERING.home, place, module.LOWERING.resume(heading)))
        beside = [_child(thread, target, module, place, heading, report, name) for thread in way.threads()]
        return Written(beside, way.last_time)

    return replace(
        session,
        row=row_of(heading, order.to, place),
        groups=way.records(chain(first, groups), before),
        reading=None,
        end=end,
    )


def _passed_by(outline: Outline, module: ModuleType, losses: Losses, reading: SessionReading) -> Taker:
    """Return who names carried records that say nothing to another client, before events are made of them."""
    notices, overhears, record_left, inner = outline.notices, outline.overhears, losses.record, outline.inner
    is_new, id_field = reading.is_new, module.CARRY_ID

    def take(record: JsonObject, _: bytes) -> bool:
        if record.get("type") == origin.KIND or not fits(record, module):
            return False
        if notices(record):
            own = record.get(id_field)
            if not (own and is_new(own) and overhears(record, own)):
                return False
        record_left(record, inner)
        return True

    return take


_OPENING = 2  # records of a file that may begin a session that rides along


def _brought_back(
    session: Session, own: JsonObject, groups: Iterator[Group], module: ModuleType, losses: Losses
) -> Session:  # fmt: skip
    """Return a session that rode along in another client's file: natively what it was, then what was added since."""
    way = Foreign(
        heading_of(own, outline_of(own)), session.row, outline_of(session.row, session.recall), module.LOWERING, losses,
        session.recall, session.place,
    )  # fmt: skip
    return replace(session, row=own, groups=way.continued(groups), reading=None)


def lowering_of(owner: Adapter) -> ModuleType | None:
    """Return how the client is told a portable conversation, where its adapter says so."""
    return part_of(owner, "lowering")


def relatives_of(owner: Adapter) -> ModuleType | None:
    """Return what the adapter knows of its client's logs and of where relatives lie."""
    return part_of(owner, "outline")


def outline_of(row: JsonObject, recall: Recall | None = None) -> Outline:
    """Return a fresh outline for a session: its own client's, or a plain log's where the client is unknown here."""
    origin = row["source_agent"]
    module = relatives_of(adapter(origin)) if origin in clients() else None
    kind: type[Outline] = module.OUTLINE if module is not None else Outline
    return kind(row, recall)


def title_reader(row: JsonObject) -> Callable[[JsonObject], str | None] | None:
    """Return what reads a session's title from the options of a carried record; None where nobody can."""
    origin = row["source_agent"]
    module = relatives_of(adapter(origin)) if origin in clients() else None
    if module is None:
        return None
    title_of = module.OUTLINE.title_of

    def read(options: JsonObject) -> str | None:
        source = options.get("source")
        found: str | None = title_of(source) if type(source) is dict else None
        return found

    return read


def opening(row: JsonObject, first: Group | None) -> Outline:
    """Return an outline that has seen a session's first record: enough to tell a subagent from a fork."""
    outline = outline_of(row)
    if first:
        options = first[0]["options"]
        source = options.get("source")
        label = label_of(options)
        outline.look(Record(first, label, source if type(source) is dict else {}, False, 0))
    return outline


def refuse_losses(losses: Losses, order: Order, name: str) -> None:
    """Raise where the caller wants no conversation lost and some is."""
    if order.on_loss != "raise":
        return
    lost = [loss for loss in losses.all() if KINDS[loss.kind][0] == CONTENT]
    if lost:
        what = f"{len(lost)} losses of content, the first: {KINDS[lost[0].kind][1]} ({lost[0].message or lost[0].what})"
        raise SourceFault(Diagnostic("foreign-loss", what, Span(name, 1)))


def _child(
    thread: Thread, target: Adapter, module: ModuleType, place: str, parent: Heading, report: Report, name: str
) -> SideFile:  # fmt: skip
    """Return the file of a conversation that lay inside its parent's."""
    row = row_of(thread.heading, target.client, "")
    writer = SessionWriter(target, row, _nothing_earlier, report, name)
    data = b"".join(encode_line(value) for value in writer.records(iter(thread.groups)) if type(value) is not SideFile)
    here = beside_name(module.LOWERING.path_of(thread.heading), place, parent)
    return SideFile(here, data)


def beside_name(child: str, place: str, parent: Heading) -> str:
    """Return a child's path as seen from its parent's file; `{stem}` stands for that file's own name."""
    here = posixpath.relpath(child, posixpath.dirname(place))
    return here.replace(f"{parent.id}/", "{stem}/", 1) if here.startswith(f"{parent.id}/") else here


def _nothing_earlier(_: str) -> list[JsonObject]:
    return []


def _beginning(session: Session, base: tuple[str, int], losses: Losses, after: tuple[str, ...]) -> Iterator[Group]:
    """Yield the records of the session that holds the beginning, up to where the sessions `after` it go on."""
    base_id, end = base
    found = False
    for parent in others_of(session, base_id) if base_id not in after else ():
        found = True
        groups = iter(parent.groups) if parent.checked else sound(parent.groups, losses)
        first = list(islice(groups, 1))
        start = opening(parent.row, first[0] if first else None)
        if start.base is not None:
            yield from _up_to(_beginning(parent, start.base, losses, (*after, base_id)), end, start)
        yield from _up_to(chain(first, groups), end, start)
    if not found:
        losses.add("beginning-missing", base_id, what=base_id)


def others_of(session: Session, session_id: str) -> Iterator[Session]:
    """Yield the session with this id from the store that a session comes from, where it is there."""
    if session.others is not None:
        yield from session.others(session_id)
        return
    client = session.row["source_agent"]
    module = relatives_of(adapter(client)) if session.path is not None else None
    path = module.beginning(session.path, session_id) if module is not None else None
    if path is not None:
        with plain(open_regular(path), str(path)) as file:
            yield from open_input(file, str(path), path, Order(CANONICAL, client), Report()).sessions


def _up_to(groups: Iterator[Group], end: int, outline: Outline) -> Iterator[Group]:
    for group in groups:
        residue = group[0]["options"].get("source")
        number = outline.number_of(residue) if type(residue) is dict else None
        if number is not None and number >= end:
            return
        yield group
