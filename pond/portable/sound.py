"""Canonical text may hold anything. What a lowering relies on is checked here, once, and every fault is named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from pond.model.json_text import Json, JsonObject
from pond.model.marks import AS, POND, marks_of
from pond.portable.loss import Losses
from pond.portable.lowering import Group

_SHORTEST_TIME = len("2026-01-02T03:04:05Z")


def is_time(value: Json) -> bool:
    """Tell whether a value is a time as canonical spells it."""
    if type(value) is not str or len(value) < _SHORTEST_TIME or value[10] != "T" or not value.isascii():
        return False
    try:
        return datetime.fromisoformat(value).year > 0
    except ValueError:
        return False


def sound_session(row: JsonObject) -> JsonObject:
    """Return the session without a start that is no time."""
    if "created_at" in row and not is_time(row["created_at"]):
        row = {name: value for name, value in row.items() if name != "created_at"}
    return row


def sound(groups: Iterable[Group], losses: Losses) -> Iterator[Group]:
    """Yield the events with ids that are texts and unique, times that are times, and labels that are texts."""
    seen: set[int] = set()
    for group in groups:
        events = [event for event in group if _has_id(event, losses)]
        if not events or events[0]["kind"] != "message":
            continue
        for event in events:
            if "timestamp" in event and not is_time(event["timestamp"]):
                losses.add("broken", event["id"], what="timestamp")
                del event["timestamp"]
            _rename_repeated(event, seen, losses)
            _without_odd_label(event, losses)
        yield events


def _has_id(event: JsonObject, losses: Losses) -> bool:
    if type(event.get("id")) is str and event["id"]:
        return True
    losses.add("broken", str(event.get("message_id", "")), what=f"{event['kind']} without an id")
    return False


def _without_odd_label(event: JsonObject, losses: Losses) -> None:
    """Take out a label that is no text: labels are looked up."""
    marks = marks_of(event["options"])
    if type(marks.get(AS, "")) is not str:
        losses.add("broken", str(event["id" if event["kind"] == "message" else "message_id"]), what="label")
        event["options"][POND] = {name: value for name, value in marks.items() if name != AS}


def _rename_repeated(event: JsonObject, seen: set[int], losses: Losses) -> None:
    own = event["id"]
    number = 2
    while hash((event["kind"], event["id"])) in seen:
        event["id"] = f"{own}~{number}"
        number += 1
    seen.add(hash((event["kind"], event["id"])))
    if event["id"] != own:
        losses.add("broken", own, what="an id that stands twice")
