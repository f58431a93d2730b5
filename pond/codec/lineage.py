"""Families of sessions: a parent's children come along, and a family too deep for the target stays whole, unwritten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pond.codec.convert import Order, open_input
from pond.codec.foreign import lowering_of, opening, relatives_of
from pond.codec.registry import CANONICAL, adapter
from pond.codec.report import Report
from pond.codec.source import LineSource, open_regular
from pond.codec.surprise import contained
from pond.codec.unpacked import plain
from pond.diagnostics.diagnostic import Diagnostic
from pond.diagnostics.span import Span
from pond.model.json_text import JsonObject, NotJson, decode_unproved


@dataclass(frozen=True, slots=True)
class Member:
    """A session of a family: its id, its parent's, whether that parent spawned it, and the file it stands in."""

    id: str
    parent: str | None
    spawned: bool
    name: str


def children(path: Path, client: str) -> list[Path]:
    """Return the files of a session's children, where its client's layout tells."""
    module = relatives_of(adapter(client)) if client != CANONICAL else None
    found: list[Path] = []
    for member in members(path, client) if module is not None else ():
        found += module.children(path, member.id) if module is not None else []
    return found


def members(path: Path, client: str) -> Iterator[Member]:
    """Yield the sessions of a file; what cannot be read is said when it is converted."""
    with contained(Report(), str(path)), plain(open_regular(path), str(path)) as file:
        if client == CANONICAL:
            yield from stream_members(LineSource(file, str(path), path))
            return
        for session in open_input(file, str(path), path, Order(CANONICAL, client), Report()).sessions:
            yield member(session.row, next(iter(session.groups), None), str(path))


def member(row: JsonObject, first: list[JsonObject] | None, name: str) -> Member:
    """Return a session as a member of its family; its first record tells a subagent from a fork."""
    parent = row.get("parent_session_id")
    return Member(row["id"], parent if type(parent) is str else None, opening(row, first).spawned, name)


def stream_members(source: LineSource) -> Iterator[Member]:
    """Yield the sessions of a canonical stream. A row does not tell a subagent from a fork: both count."""
    for line in source.lines_with(b'"session"'):
        try:
            row = decode_unproved(line, _ignore)
        except NotJson:
            continue
        if type(row) is dict and row.get("kind") == "session" and type(row.get("id")) is str:
            parent = row.get("parent_session_id")
            yield Member(row["id"], parent if type(parent) is str else None, parent is not None, source.name)


def _ignore(_: str) -> None:
    """Duplicate keys are reported when the line is read in its turn."""


def too_deep(family: Iterable[Member], target: str) -> dict[str, Diagnostic]:
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


def _line_of(member: Member, known: dict[str, Member]) -> tuple[list[str], bool]:
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


def _whole_families(found: dict[str, Diagnostic], known: dict[str, Member]) -> dict[str, Diagnostic]:
    """Return the same for all descendants: no part of such a family is written."""
    grown = bool(found)
    while grown:
        grown = False
        for member in known.values():
            if member.id not in found and member.spawned and member.parent in found:
                found[member.id] = found[member.parent]
                grown = True
    return found
