"""Compares the rows of one case: which were added, removed, or got another key, and what they say now."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

from pond.golden.fields import changed_fields, excerpt
from pond.golden.findings import ChangedId, FieldChange, Flip, RowChanges, StoredRow
from pond.model.equal import same
from pond.model.json_text import JsonObject

_KEY_FIELDS = frozenset(("id", "session_id", "message_id"))
_PROVENANCES = ("conversational", "injected")

# A row's key and, if a golden has a duplicate key, which of the two it is.
_Key: TypeAlias = tuple[str, str, str, str, int]
_Rows: TypeAlias = dict[_Key, JsonObject]


class NotRows(ValueError):
    """The text is not a list of canonical events."""


def read_rows(content: bytes) -> list[JsonObject]:
    """Return the events of a canonical golden, or raise NotRows with the reason."""
    try:
        events = json.loads(content)
    except UnicodeDecodeError:
        raise NotRows("expected UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise NotRows(f"expected JSON: {error.msg[0].lower()}{error.msg[1:]} at line {error.lineno}") from None
    except (ValueError, RecursionError):
        raise NotRows("expected JSON of bounded depth and numbers") from None
    if type(events) is not list:
        raise NotRows("expected a list of events")
    for number, event in enumerate(events, start=1):
        if type(event) is not dict or not all(type(event.get(name)) is str for name in ("kind", "id")):
            raise NotRows(f"expected `kind` and `id` in event {number}")
    return events


def row_of(event: JsonObject) -> StoredRow:
    """Return the row as which an event is stored."""
    names = ("session_id", "message_id")
    session, message = (value if type(value := event.get(name)) is str else "" for name in names)
    what = event.get("role", event.get("type", ""))
    return StoredRow(event["kind"], event["id"], session, message, what if type(what) is str else "")


def compare_rows(before: Sequence[JsonObject], after: Sequence[JsonObject]) -> RowChanges:
    """Return what happened to the rows between two readings of one case."""
    old, new = _by_key(before), _by_key(after)
    kept = [key for key in old if key in new]
    moved = _same_content(_without(old, new), _without(new, old))
    alike = set(moved)
    moved |= _same_place(old, new, moved)
    changes = [_changes(old[key], new[key], frozenset()) for key in kept]
    changes += [_changes(old[key], new[moved[key]], _KEY_FIELDS) for key in old if key in moved]
    return RowChanges(
        before=len(before),
        after=len(after),
        added=_rows(_without(_without(new, old), moved.values())),
        removed=_rows(_without(_without(old, new), moved)),
        changed_ids=tuple(
            ChangedId(row_of(old[key]), row_of(new[moved[key]]), key in alike) for key in old if key in moved
        ),
        flips=tuple(flip for flips, _ in changes for flip in flips),
        fields=tuple(field for _, fields in changes for field in fields),
        reordered=kept != [key for key in new if key in old],
    )


def _by_key(events: Iterable[JsonObject]) -> _Rows:
    seen: Counter[tuple[str, str, str, str]] = Counter()
    rows: _Rows = {}
    for event in events:
        key = row_of(event).key
        rows[(*key, seen[key])] = event
        seen[key] += 1
    return rows


def _without(rows: _Rows, others: Iterable[_Key]) -> _Rows:
    left_out = set(others)
    return {key: event for key, event in rows.items() if key not in left_out}


def _rows(rows: _Rows) -> tuple[StoredRow, ...]:
    return tuple(row_of(event) for event in rows.values())


def _same_content(gone: _Rows, come: _Rows) -> dict[_Key, _Key]:
    """Pair rows with the same content and another key, in order."""
    offered: defaultdict[str, list[_Key]] = defaultdict(list)
    for key, event in reversed(come.items()):
        offered[_content(event)].append(key)
    return {key: offered[text].pop() for key, event in gone.items() if offered[text := _content(event)]}


def _content(event: JsonObject) -> str:
    return json.dumps({name: event[name] for name in event.keys() - _KEY_FIELDS}, sort_keys=True)


def _same_place(old: _Rows, new: _Rows, moved: dict[_Key, _Key]) -> dict[_Key, _Key]:
    """Pair the remaining rows of a kind, in order, if they are between the same neighbours on both sides."""
    back = {there: here for here, there in moved.items()}
    here, there = list(old), [back.get(key, key) for key in new]
    if all(key in old for key in there) or all(key in new or key in moved for key in here):
        return {}
    pairs: dict[_Key, _Key] = {}
    for _, first, end, other_first, other_end in SequenceMatcher(None, here, there).get_opcodes():
        offered: defaultdict[tuple[str, str], list[_Key]] = defaultdict(list)
        for key in reversed(there[other_first:other_end]):
            if key not in old:
                offered[_sort(new[key])].append(key)
        for key in here[first:end]:
            if key not in new and key not in moved and offered[_sort(old[key])]:
                pairs[key] = offered[_sort(old[key])].pop()
    return pairs


def _sort(event: JsonObject) -> tuple[str, str]:
    row = row_of(event)
    return row.kind, row.what


def _changes(before: JsonObject, after: JsonObject, ignored: frozenset[str]) -> tuple[list[Flip], list[FieldChange]]:
    if same(before, after):
        return [], []
    row, flips = row_of(after), []
    was, now = before.get("provenance"), after.get("provenance")
    if was != now and was in _PROVENANCES and now in _PROVENANCES:
        flips.append(Flip(row, was, now, excerpt(after)))
        ignored |= {"provenance"}
    return flips, [FieldChange(row, *change) for change in changed_fields(before, after, ignored)]
