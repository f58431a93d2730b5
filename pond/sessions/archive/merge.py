"""Rows of a checked archive into a lake: what is not stored yet, in the order that keeps every crash harmless."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from pond.model.json_text import decode_stored, encode
from pond.model.marks import ID, POND, marks_of
from pond.sessions import ledger, vectors
from pond.sessions.archive.payloads import Payloads
from pond.sessions.archive.select import may_belong, with_children
from pond.sessions.stored_text import from_stored
from pond.sessions.tables import MESSAGES, PARTS, SESSIONS
from pond.sessions.writing import message_ids
from pond.substrate import predicate, read, write
from pond.substrate.snapshot import Snapshot
from pond.substrate.store import Store
from pond.substrate.table import Table

Step = Callable[[int], None]

_ROWS, _BYTES = 20_000, 32 << 20  # in one commit
_AT_ONCE = 500  # ids in one query
_FAMILY = ("id", "parent_session_id", "lineage_kind")


@dataclass
class MergePlan:
    """Which sessions of an archive are to be merged; ids as stored."""

    taken: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # names of sessions in the lake, if they are renamed
    erased: list[str] = field(default_factory=list)  # erased from the lake earlier
    returned: list[str] = field(default_factory=list)  # erased earlier, and wanted back


def plan(archive: Store, lake: Store, bring_back: bool) -> MergePlan:
    """Return what to do with each session of the archive."""
    made = MergePlan()
    noted = ledger.notes(lake, ledger.ERASED).keys()
    erased = noted if bring_back or not noted else _with_children(archive, noted)
    for batch in read.batches(archive, SESSIONS, ["id"]):
        for id in batch["id"].to_pylist():
            if id in erased and not bring_back:
                made.erased.append(id)
            else:
                made.taken.append(id)
                made.returned += [id] * (id in noted)
    return made


def _with_children(archive: Store, erased: Iterable[str]) -> set[str]:
    """Return the erased sessions with their children in the archive: erasing did not know about those children."""
    children: dict[str, list[str]] = {}
    for batch in read.batches(archive, SESSIONS, _FAMILY):
        for id, parent, kind in zip(*(batch[name].to_pylist() for name in _FAMILY), strict=True):
            if may_belong(kind):
                children.setdefault(parent, []).append(id)
    return with_children(erased, children)


def merge(archive: Store, lake: Store, made: MergePlan, step: Step, dry: bool) -> dict[str, int]:
    """Store the rows that are not stored yet; return how many of each table there were.

    All parts come first and the sessions last: a stored message has all its parts, and a session all its messages. The
    next run finds what an interrupted run has stored by its keys. `dry` only counts.
    """
    taken = pa.array(made.taken, pa.string())
    counts: dict[str, int] = {}
    payloads = Payloads(archive, lake, made.names)
    for own, unstored in ((PARTS, _new_parts), (MESSAGES, _new_messages), (SESSIONS, _new_sessions)):
        table = vectors.with_vectors(archive, own)
        if own is MESSAGES and not dry:
            table = vectors.brought(lake, table)
        counts[table.name] = 0
        for rows in _portions(_taken(archive, table, taken, made.names, step), table):
            new = unstored(lake, rows)
            if own is PARTS and not dry:
                new = payloads.completed(new)
            counts[table.name] += new.num_rows if dry else write.insert(lake, table, new)
    return counts


def _taken(
    archive: Store, table: Table, taken: pa.Array, names: Mapping[str, str], step: Step
) -> Iterator[pa.RecordBatch]:
    for batch in Snapshot(archive, table).batches():
        rows = batch.filter(pc.is_in(batch[table.keys[0]], value_set=taken))
        if table.name == MESSAGES.name:
            rows = vectors.with_honest_marks(_underived(rows))
        yield _renamed(rows, table, names) if names else rows
        step(batch.num_rows)


def _underived(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return messages as ones that must be derived again: the lake may hold other messages of their turns."""
    for name in ("terms", "labels", "agent", "rules", "searched"):
        field = rows.schema.field(name)
        rows = rows.set_column(rows.schema.get_field_index(name), field, pa.nulls(rows.num_rows, field.type))
    return rows


def _renamed(rows: pa.RecordBatch, table: Table, names: Mapping[str, str]) -> pa.RecordBatch:
    """Return rows with the names that their sessions and their parents have in the lake."""
    if table is SESSIONS:
        options = [
            _with_own(text, id) if id in names else text
            for id, text in zip(rows["id"].to_pylist(), rows["options"].to_pylist(), strict=True)
        ]
        rows = _with(rows, "options", options)
        rows = _with(rows, "parent_session_id", [names.get(id, id) for id in rows["parent_session_id"].to_pylist()])
    return _with(rows, table.keys[0], [names.get(id, id) for id in rows[table.keys[0]].to_pylist()])


def _with(rows: pa.RecordBatch, column: str, values: list[str | None]) -> pa.RecordBatch:
    index = rows.schema.get_field_index(column)
    return rows.set_column(index, rows.schema.field(index), pa.array(values, pa.string()))


def _with_own(options: str, id: str) -> str:
    """Return a session's options with the id that its client gave it."""
    value = decode_stored(options)
    value[POND] = {ID: from_stored(id), **marks_of(value)}
    return encode(value).decode()


def _portions(batches: Iterable[pa.RecordBatch], table: Table) -> Iterator[pa.Table]:
    """Yield the rows in portions of one commit each."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if waiting and (rows + batch.num_rows > _ROWS or size + batch.nbytes > _BYTES):
            yield pa.Table.from_batches(waiting, table.schema)
            waiting, rows, size = [], 0, 0
        waiting += [batch] if batch.num_rows else []
        rows, size = rows + batch.num_rows, size + batch.nbytes
    if waiting:
        yield pa.Table.from_batches(waiting, table.schema)


def _new_parts(lake: Store, rows: pa.Table) -> pa.Table:
    """Return the parts of messages that are not stored: a stored message is complete."""
    stored = message_ids(lake, pc.unique(rows["session_id"]).to_pylist())
    pairs = zip(rows["session_id"].to_pylist(), rows["message_id"].to_pylist(), strict=True)
    rows = rows.filter(pa.array([id not in stored.get(session, ()) for session, id in pairs], pa.bool_()))
    return _without_stored(lake, PARTS, rows)  # those that an interrupted run has stored


def _new_messages(lake: Store, rows: pa.Table) -> pa.Table:
    return _without_stored(lake, MESSAGES, rows)


def _new_sessions(lake: Store, rows: pa.Table) -> pa.Table:
    return _without_stored(lake, SESSIONS, rows)


def _without_stored(lake: Store, table: Table, rows: pa.Table) -> pa.Table:
    """Return the rows whose keys are not stored: an empty batch needs no commit."""
    groups = pc.unique(rows[table.keys[0]]).to_pylist()
    stored: set[tuple[str, ...]] = set()
    for start in range(0, len(groups), _AT_ONCE):
        where = predicate.one_of(table.keys[0], groups[start : start + _AT_ONCE])
        stored |= set(_keys(table, read.rows(lake, table, table.keys, where)))
    return rows.filter(pa.array([key not in stored for key in _keys(table, rows)], pa.bool_())) if stored else rows


def _keys(table: Table, rows: pa.Table) -> Iterator[tuple[str, ...]]:
    return zip(*(rows[name].to_pylist() for name in table.keys), strict=True)
