"""A session of one client -> the same conversation as a session of another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from pond.lang.runtime import LISTED
from pond.model.json_text import JsonObject
from pond.model.marks import PATH, POND, REPEAT_OF, copied, label_of, marks_of
from pond.portable import origin
from pond.portable.conversation import Heading, Item, Title
from pond.portable.lift import EPOCH, Lift, SideText, nothing_beside
from pond.portable.loss import Losses
from pond.portable.lowering import Group, Lowering, as_uuid
from pond.portable.outline import Outline, Recall
from pond.portable.pairing import Pairing

_BESIDE = ("beside", LISTED)  # labels of what is in other files than the session's own
Reached = Callable[[], tuple[int, int]]


def moved_id(row: JsonObject, target: str, cut: str, parent: str | None) -> str:
    """Return the id of a session in another client: its own there, and the same for the same records.

    `cut` is the last record copied. A subagent's id depends on the new id of its `parent`: a parent that has grown
    since is another session there, with subagents of its own.
    """
    return as_uuid("moved", row["source_agent"], row["id"], target, cut, parent or "")


def heading_of(row: JsonObject, outline: Outline, id: str, parent: str | None) -> Heading:
    """Return what a target needs to know of a session before its first message; `parent` is who spawned it, there."""
    return Heading(
        id, row["id"], row["source_agent"], row["project"], row.get("created_at") or EPOCH, parent, parent is not None,
        outline.name,
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
    early: list[Group] = field(default_factory=list)  # titles before the first message


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation that the source kept inside the session's own file and the target keeps as a child session."""

    heading: Heading
    groups: list[Group]


class Foreign:
    """Streams a session's records in the target's dialect; `threads` are complete when the stream has ended."""

    def __init__(
        self, heading: Heading, session: JsonObject, outline: Outline, lowering: type[Lowering], losses: Losses,
        recall: Recall, reached: Reached, came_from: JsonObject, keep_origin: bool = False,
        beside: SideText = nothing_beside,
    ) -> None:  # fmt: skip
        self._outline, self._losses, self._lowering = outline, losses, lowering
        self._reached = reached
        self._session, self._recall = session, recall
        self._came_from, self._keep_origin = came_from, keep_origin
        self._copied: dict[str, tuple[str, str]] = {}  # messages of the source that are copies themselves
        self._main = self._road(heading)
        self._lift = Lift(session, outline, losses, recall, self._main.pairing, beside)
        self._threads: dict[str, _Road] = {}
        self.last_time = ""
        self._source_id = origin.whole(session["id"])
        self._first_id = ""  # of the original session inside the file

    def _road(self, heading: Heading) -> _Road:
        lowering = self._lowering(heading, self._losses)
        return _Road(heading, lowering, Pairing(self._losses, heading.source_agent), [])

    def records(self, own: Iterable[Group], before: Iterable[Group] = ()) -> Iterator[Group]:
        """Yield the target's records, each as its events; `before` is the beginning where another session holds it."""
        return chain(self._records(before), self._records(own, self._keep_origin), self._rest())

    def _records(self, groups: Iterable[Group], keep_origin: bool = False) -> Iterator[Group]:
        main, outline, reached, lift = self._main, self._outline, self._reached, self._lift.items
        passes, push, said = main.pairing.passes, main.pairing.push, main.lowering.said
        lower, stamped, note = self._lowered, self._stamped, self._note
        source_id = main.heading.source_id
        last_time = self.last_time
        for events in groups:
            if keep_origin:
                yield from self._aside(origin.of_record(self._whole(events)))
            head = events[0]
            source = head["options"].get("source")
            if type(source) is dict:
                if POND in source or head.get("session_id") != source_id:
                    note(events)
                if source.get("type") == origin.KIND and origin.payload_of(events) is not None:
                    continue  # says where the source itself came from
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
                    yield from stamped(said(item), item) if main.begun else self._begin(main, item)
                else:
                    for ready in push(item):
                        yield from lower(main, ready)

    def _note(self, events: Group) -> None:
        """Remember whose rows these were first, if they are not the source's own."""
        head = events[0]
        session_id = head.get("session_id")
        for event in events:
            if event["kind"] == "message":
                whose = copied(event["options"]) or copied(head["options"])
                if whose is None and type(session_id) is str and session_id != self._session["id"]:
                    whose = session_id, event["id"]
                if whose is not None:
                    self._copied[event["id"]] = whose

    def continued(self, groups: Iterator[Group], first_id: str, renamed: Callable[[Group], Group]) -> Iterator[Group]:
        """Yield the original events from the file, as they were; then what was added since, in the target's dialect.

        `first_id` is the session that they belong to. `renamed` gives them the names that it has here.
        """
        main, self._first_id = self._main, first_id
        main.begun = main.pairing.begun = True  # the client's own records are the opening
        told = [main.lowering.aside(self._came_from, self._lift.time)]
        for own, events in origin.split(groups, main.heading.id, self._losses):
            if own:
                main.lowering.follow(events)
                yield renamed(self._kept_apart(events))
                yield from told  # the client's own first record stays the first
                told = []
            else:
                yield from self._numbered(self._records([events]))
        yield from self._numbered(self._rest())

    def _kept_apart(self, events: Group) -> Group:
        """Return a record of the first session as a copy of it; files beside the session are no rows."""
        head = events[0]
        if label_of(head["options"]) in _BESIDE:
            return events
        return origin.stamp(events, self._first_id, head["id"])

    def _numbered(self, groups: Iterator[Group]) -> Iterator[Group]:
        for group in groups:
            self._main.lowering.number(group)
            yield group

    def _rest(self) -> Iterator[Group]:
        """Yield what follows the last record."""
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
        """Return a record's events; if it only repeats an earlier record, that record's events."""
        again = marks_of(events[0]["options"]).get(REPEAT_OF)
        return self._recall(again) if type(again) is str else events

    def _lowered(self, road: _Road, item: Item) -> list[Group]:
        return self._stamped(road.lowering.lower(item), item) if road.begun else self._begin(road, item)

    def _stamped(self, groups: list[Group], item: Item) -> list[Group]:
        """Let the records of an item say which message they were copied from."""
        known = self._copied.get(item.id) if self._copied else None
        mark = origin.mark(*known) if known is not None else origin.mark(self._source_id, item.id)
        for group in groups:
            source = group[0]["options"]["source"]
            source[POND] = {**mark, **source[POND]} if POND in source else mark
        return groups

    def _begin(self, road: _Road, item: Item) -> list[Group]:
        """Return the records of an item that may be the first."""
        if type(item) is Title:
            road.early += self._stamped(road.lowering.lower(item), item)
            return []
        opening = road.lowering.open(self._outline.branch)  # nobody resumes a session without a message
        groups = self._stamped(road.lowering.lower(item), item)
        if not groups:
            return []
        road.begun = True
        return [*opening, self._origin(road), *road.early, *groups]

    def _origin(self, road: _Road) -> Group:
        """Return the row that says where the session comes from, which its client skips."""
        told = self._came_from
        if self._keep_origin and road is self._main:
            told = told | origin.of_session(self._session)
        return road.lowering.aside(told, self._lift.time)

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
                as_uuid(main.id, source_id), source_id, agent, main.project, main.created_at, main.id, spawned=True,
                provider=main.provider,
            )  # fmt: skip
            road = self._threads[key] = self._road(heading)
        return road

    @property
    def begun(self) -> bool:
        """Tell whether there was any conversation."""
        return self._main.begun

    def threads(self) -> list[Thread]:
        """Return the conversations that were inside the session's own file."""
        return [Thread(road.heading, road.groups) for road in self._threads.values() if road.begun]
