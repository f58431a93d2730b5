"""Families of sessions: children follow their parent, and a family too deep for the target is not written at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pond.codec.registry import CANONICAL, adapter
from pond.codec.relatives import lowering_of, relatives_of
from pond.diagnostics.diagnostic import Diagnostic
from pond.diagnostics.span import Span
from pond.model.json_text import JsonObject
from pond.model.lineage import KIND, PARENT, SPAWN
from pond.portable.outline import Outline


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """A session of a family: its id, its parent's id, whether that parent spawned it, and its file."""

    id: str
    parent: str | None
    spawned: bool
    name: str


def children(path: Path, client: str, session_id: str) -> list[Path]:
    """Return the files of a session's children, if its client's layout shows them."""
    module = relatives_of(adapter(client)) if client != CANONICAL else None
    found: list[Path] = module.children(path, session_id) if module is not None else []
    return found


def member(row: JsonObject, start: Outline, name: str, checked: bool = True) -> FamilyMember:
    """Return a session as a member of its family; where it does not say how it came to it, its first record does.

    Canonical text need not come from a reader: there every child counts that does not say what it is.
    """
    parent = row.get(PARENT)
    known = parent if type(parent) is str else None
    return FamilyMember(row["id"], known, is_spawned(row, start, checked), name)


def is_spawned(row: JsonObject, start: Outline, checked: bool = True) -> bool:
    """Tell whether a session's parent spawned it, given an outline that has seen its first record."""
    if KIND in row:
        return bool(row[KIND] == SPAWN)
    return start.spawned if checked else row.get(PARENT) is not None


def too_deep(family: Iterable[FamilyMember], target: str) -> dict[str, Diagnostic]:
    """Return, by session id, why a session cannot be written: some descendant nests deeper than the target can hold."""
    module = lowering_of(adapter(target))
    deepest = module.LOWERING.deepest if module is not None else 0
    known = {member.id: member for member in family}
    found: dict[str, Diagnostic] = {}
    for member in known.values():
        line, circle = _line_of(member, known)
        if circle or len(line) - 1 > deepest:
            depth = f"session `{member.id}` lies {len(line) - 1} subagents deep; {target} holds {deepest}"
            what = f"session `{member.id}` is its own ancestor" if circle else depth
            rule = "adapter-lineage-complete-restore"
            fault = Diagnostic("foreign-too-deep", what, Span(member.name, 1), rule=rule)
            found |= {session_id: fault for session_id in line if session_id not in found}
    return _whole_families(found, known)


def _line_of(member: FamilyMember, known: dict[str, FamilyMember]) -> tuple[list[str], bool]:
    """Return a session and the chain of those that spawned it, and whether the chain is a circle."""
    line = [member.id]
    while member.spawned and member.parent is not None:
        if member.parent in line:
            return line, True
        line.append(member.parent)
        if member.parent not in known:
            break
        member = known[member.parent]
    return line, False


def _whole_families(found: dict[str, Diagnostic], known: dict[str, FamilyMember]) -> dict[str, Diagnostic]:
    """Return the same for all descendants: no part of such a family is written."""
    grown = bool(found)
    while grown:
        grown = False
        for member in known.values():
            if member.id not in found and member.spawned and member.parent in found:
                found[member.id] = found[member.parent]
                grown = True
    return found
