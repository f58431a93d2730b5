"""A session of one client -> the same conversation as a session of another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from pond.model.json_text import JsonObject
from pond.model.marks import PATH, POND, REPEAT_OF, marks_of
from pond.portable import origin
from pond.portable.conversation import Heading, Item, Title
from pond.portable.lift import EPOCH, Lift, SideText, nothing_beside
from pond.portable.loss import Losses
from pond.portable.lowering import Group, Lowering, as_uuid
from pond.portable.outline import Outline, Recall
from pond.portable.pairing import Pairing

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
Reached = Callable[[], tuple[int, int]]


def target_id(source_agent: str, session_id: str) -> str:
    """Return the id a session gets in every target: its own where that is a UUID, else one made from it."""
    return session_id if _UUID.fullmatch(session_id) else as_uuid(source_agent, session_id)


def heading_of(row: JsonObject, outline: Outline) -> Heading:
    """Return what a target needs to know of a session before its first message."""
    agent, parent = row["source_agent"], row.get("parent_session_id")
    return Heading(
        target_id(agent, row["id"]), row["id"], agent, row["project"], row.get("created_at") or EPOCH,
        target_id(agent, parent) if type(parent) is str and parent else None, outline.spawned, outline.name,
    )  # fmt: skip


def row_of(heading: Heading, target: str, path: str) -> JsonObject:
    """Return the session row in the target's dialect."""
    return {
        "kind": "session", "id": heading.id, "source_agent": target, "project": heading.project,
        "created_at": heading.created_at, "options": {POND: {PATH: path}},
    }  # fmt: skip


@dataclass(slots=True)
class _Road:
    """One conversation's way through pairing and lowering."""

    heading: Heading
    lowering: Lowering
    pairing: Pairing
    groups: list[Group]  # of a thread: all that is to be written
    begun: bool = False
    early: list[Group] = field(default_factory=list)  # titles that stand before the first message


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation that the source kept inside the session's own file and the target keeps as a child session."""

    heading: Heading
    groups: list[Group]


class Foreign:
    """Streams a session's records in the target's dialect; `threads` are complete when the stream has ended."""

    def __init__(
        self, heading: Heading, session: JsonObject, outline: Outline, lowering: type[Lowering], losses: Losses,
        recall: Recall, reached: Reached, keep_origin: bool = False, beside: SideText = nothing_beside,
    ) -> None:  # fmt: skip
        self._outline, self._losses, self._lowering = outline, losses, lowering
        self._reached = reached
        self._session, self._recall = session, recall
        self._keep_origin = keep_origin
        self._main = self._road(heading)
        self._lift = Lift(session, outline, losses, recall, self._main.pairing, beside)
        self._threads: dict[str, _Road] = {}
        self.last_time = ""

    def _road(self, heading: Heading) -> _Road:
        lowering = self._lowering(heading, self._losses)
        return _Road(heading, lowering, Pairing(self._losses, heading.source_agent), [])

    def records(self, own: Iterable[Group], before: Iterable[Group] = ()) -> Iterator[Group]:
        """Yield the target's records, each as its events; `before` is the beginning where another session holds it."""
        return chain(self._records(before), self._records(own, self._keep_origin), self._rest())

    def _records(self, groups: Iterable[Group], keep_origin: bool = False) -> Iterator[Group]:
        main, outline, reached, lift = self._main, self._outline, self._reached, self._lift.items
        passes, push, said = main.pairing.passes, main.pairing.push, main.lowering.said
        last_time = self.last_time
        if keep_origin:
            yield from self._aside(origin.of_session(self._session))
        for events in groups:
            if keep_origin:
                yield from self._aside(origin.of_record(self._whole(events)))
            items = lift(events, reached()[1])
            if not items:
                continue
            if items[-1].time > last_time:
                last_time = self.last_time = items[-1].time
            if outline.thread is not None:
                self._beside(outline.thread, items)
                continue
            for item in items:
                if passes(item):
                    yield from said(item) if main.begun else self._begin(main, item)
                else:
                    for ready in push(item):
                        yield from self._lowered(main, ready)

    def continued(self, groups: Iterator[Group]) -> Iterator[Group]:
        """Yield the events that rode along, as they were; then what was added since, in the target's dialect."""
        main = self._main
        main.begun = main.pairing.begun = True  # the client's own records are the opening
        for own, events in origin.split(groups, main.heading.source_id, self._losses):
            if own:
                main.lowering.follow(events)
                yield events
            else:
                yield from self._numbered(self._records([events]))
        yield from self._numbered(self._rest())

    def _numbered(self, groups: Iterator[Group]) -> Iterator[Group]:
        for group in groups:
            self._main.lowering.number(group)
            yield group

    def _rest(self) -> Iterator[Group]:
        """Yield what stands after the last record."""
        main = self._main
        for item in self._lift.end():
            for ready in main.pairing.push(item):
                yield from self._lowered(main, ready)
        for ready in main.pairing.end():
            yield from self._lowered(main, ready)
        if main.begun:
            yield from main.lowering.close()
        for road in self._threads.values():
            for ready in road.pairing.end():
                road.groups += self._lowered(road, ready)
            if road.begun:
                road.groups += road.lowering.close()
        if self._keep_origin:
            yield from self._aside(origin.END)

    def _aside(self, payload: JsonObject) -> list[Group]:
        main = self._main
        group = main.lowering.aside(payload, self._lift.time)
        if main.begun:
            return [group]
        main.early.append(group)
        return []

    def _whole(self, events: Group) -> Group:
        """Return a record's events; of one that only repeats an earlier record, that one's."""
        again = marks_of(events[0]["options"]).get(REPEAT_OF)
        return self._recall(again) if type(again) is str else events

    def _lowered(self, road: _Road, item: Item) -> list[Group]:
        return road.lowering.lower(item) if road.begun else self._begin(road, item)

    def _begin(self, road: _Road, item: Item) -> list[Group]:
        """Return the records of an item that may be the first."""
        if type(item) is Title:
            road.early += road.lowering.lower(item)
            return []
        opening = road.lowering.open(self._outline.branch)  # nobody is asked to resume a session without a message
        groups = road.lowering.lower(item)
        if not groups:
            return []
        road.begun = True
        return [*opening, *road.early, *groups]

    def _beside(self, key: str, items: list[Item]) -> None:
        """Take items of a conversation inside the session's own file."""
        road = self._thread(key)
        for item in items:
            for ready in road.pairing.push(item):
                road.groups += self._lowered(road, ready)

    def _thread(self, key: str) -> _Road:
        road = self._threads.get(key)
        if road is None:
            main = self._main.heading
            agent, source_id = main.source_agent, f"{main.source_id}/{key}"
            heading = Heading(
                target_id(agent, source_id), source_id, agent, main.project, main.created_at, main.id, spawned=True,
                provider=main.provider,
            )  # fmt: skip
            road = self._threads[key] = self._road(heading)
        return road

    @property
    def begun(self) -> bool:
        """Tell whether there was any conversation."""
        return self._main.begun

    def threads(self) -> list[Thread]:
        """Return the conversations that lay inside the session's own file."""
        return [Thread(road.heading, road.groups) for road in self._threads.values() if road.begun]
