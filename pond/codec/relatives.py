"""What an adapter knows beyond its mapping: how to read its client's log, find related sessions, write one."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from pond.codec.registry import Adapter, adapter, clients, part_of
from pond.model.json_text import JsonObject
from pond.model.lineage import FORK, SPAWN
from pond.model.marks import label_of
from pond.portable.lowering import Group
from pond.portable.outline import Outline, Recall, Record

SOME_AGENT = "subagent"  # the kind, where the client does not say


def lowering_of(owner: Adapter) -> ModuleType | None:
    """Return how to write a portable conversation for the client, if its adapter can."""
    return part_of(owner, "lowering")


def relatives_of(owner: Adapter) -> ModuleType | None:
    """Return what the adapter knows about its client's logs and about where related sessions are."""
    return part_of(owner, "outline")


def outline_of(row: JsonObject, recall: Recall | None = None) -> Outline:
    """Return a fresh outline for a session: its own client's, or that of a plain log if the client is unknown here."""
    origin = row["source_agent"]
    module = relatives_of(adapter(origin)) if origin in clients() else None
    kind: type[Outline] = module.OUTLINE if module is not None else Outline
    return kind(row, recall)


def title_reader(row: JsonObject) -> Callable[[JsonObject], str | None] | None:
    """Return the function that reads a session's title from the options of a carried record; None if there is none."""
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


def agent_of(row: JsonObject, first: Group | None) -> str | None:
    """Return the kind of agent whose session this is, in lower case; None if it was not spawned."""
    outline = opening(row, first)
    return (outline.kind.strip().lower() or SOME_AGENT) if outline.spawned else None


def lineage_of(row: JsonObject, first: Group | None) -> str:
    """Return how a session comes from its parent, where it does not say so: by its first record."""
    return SPAWN if opening(row, first).spawned else FORK


def opening(row: JsonObject, first: Group | None) -> Outline:
    """Return an outline that has seen a session's first record: enough to tell a subagent from a fork."""
    outline = outline_of(row)
    if first:
        options = first[0]["options"]
        source = options.get("source")
        outline.look(Record(first, label_of(options), source if type(source) is dict else {}, False, 0))
    return outline
