"""Which sessions an archive is to hold."""

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
    """What is asked for; whatever is given must hold. Nothing given means every session."""

    sessions: tuple[str, ...] = ()
    project: str | None = None  # this one, or a directory it lies in
    client: str | None = None
    since: int | None = None  # microseconds since 1970

    @property
    def is_everything(self) -> bool:
        return self == Selection()


def selected(sessions: Snapshot, selection: Selection, without: Collection[str]) -> set[str]:
    """Return the ids, as stored, of the sessions that fit, and of those that they spawned, at any depth."""
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
                and (selection.since is None or (time is not None and time >= selection.since))
            ):
                chosen.add(id)
    return with_children(chosen, children) - set(without)


def may_belong(kind: str | None) -> bool:
    """Tell whether a session of this kind goes where its parent goes; one that nothing is known of goes along."""
    return kind in (None, SPAWN)


def _is_within(project: str, folder: str) -> bool:
    return project == folder or project.startswith(folder.rstrip("/") + "/")


def with_children(chosen: Iterable[str], children: Mapping[str, list[str]]) -> set[str]:
    """Return sessions and all that descend from them, given who has which children."""
    found = set(chosen)
    waiting = list(found)
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in found]
        found.update(new)
        waiting += new
    return found
