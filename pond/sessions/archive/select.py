"""Which sessions to put into an archive."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from pond.model.lineage import SPAWN
from pond.sessions.stored_text import to_stored
from pond.substrate.snapshot import Snapshot

_COLUMNS = ("id", "parent_session_id", "lineage_kind", "source_agent", "project")


@dataclass(frozen=True)
class Selection:
    """The conditions; all that are given must hold. Without any, every session is selected."""

    sessions: tuple[str, ...] = ()
    project: str | None = None  # this one, or a directory above it
    client: str | None = None
    since: int | None = None  # microseconds from 1970: it began at this time or later
    until: int | None = None  # it began before this time

    @property
    def is_everything(self) -> bool:
        return self == Selection()


def selected(sessions: Snapshot, selection: Selection, without: Collection[str]) -> set[str]:
    """Return the ids, as stored, of the matching sessions and of those that they spawned, at any depth."""
    chosen: set[str] = set()
    children: dict[str, list[str]] = {}
    wanted = set(map(to_stored, selection.sessions))
    for batch in sessions.described():
        times = batch["created_at"].cast(pa.int64()).to_pylist()
        columns = (batch[name].to_pylist() for name in _COLUMNS)
        for id, parent, kind, client, project, time in zip(*columns, times, strict=True):
            if may_belong(kind):
                children.setdefault(parent, []).append(id)
            if (
                (not wanted or id in wanted)
                and selection.client in (None, client)
                and (selection.project is None or _is_within(project, to_stored(selection.project)))
                and _in_time(time, selection)
            ):
                chosen.add(id)
    return with_children(chosen, children) - set(without)


def _in_time(time: int | None, selection: Selection) -> bool:
    if time is None:
        return selection.since is None and selection.until is None
    return (selection.since is None or time >= selection.since) and (selection.until is None or time < selection.until)


def may_belong(kind: str | None) -> bool:
    """Tell whether a session of this kind goes where its parent goes; one of an unknown kind does."""
    return kind in (None, SPAWN)


def _is_within(project: str, folder: str) -> bool:
    return project == folder or project.startswith(folder.rstrip("/") + "/")


def with_children(chosen: Iterable[str], children: Mapping[str, list[str]]) -> set[str]:
    """Return sessions and all their descendants, given the children of each."""
    found = set(chosen)
    waiting = list(found)
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in found]
        found.update(new)
        waiting += new
    return found
