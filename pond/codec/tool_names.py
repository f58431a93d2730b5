"""Tools that pond had to rename for a client that shows no foreign ones: canonical has their first names again.

A row that pond wrote says under `tools` of its `pond` member which calls it renamed. Reading gives the calls their
names back, so that they are found, counted and passed on by them. Writing the row natively spells what the row had.
"""

from __future__ import annotations

from pond.model.json_text import Json, JsonObject
from pond.model.marks import NAMED, POND, TOOLS, marks_of, written_by_pond


def names_back(events: list[JsonObject], record: JsonObject, calls: dict[str, str]) -> list[JsonObject]:
    """Return the events of a row with its calls under their first names; `calls` hears them, for the results."""
    told = record.get(POND)
    tools = told.get(TOOLS) if type(told) is dict else None
    if type(tools) is dict:
        for part in events:
            if part.get("type") == "tool_call" and (name := _first_name(part, tools)) is not None:
                part["options"] = {**part["options"], POND: {**marks_of(part["options"]), NAMED: part["name"]}}
                part["name"] = calls[part["call_id"]] = name
    return events


def _first_name(part: JsonObject, tools: JsonObject) -> str | None:
    call = part.get("call_id")
    name = tools.get(call) if type(call) is str else None
    return name if type(name) is str and name and name != part["name"] else None


def as_written(events: list[JsonObject]) -> list[JsonObject]:
    """Return the events of a record as its client has them; the same where pond renamed nothing."""
    if TOOLS not in written_by_pond(events[0]["options"]):
        return events
    return [_renamed(event) for event in events]


def _renamed(event: JsonObject) -> JsonObject:
    name: Json = marks_of(event["options"]).get(NAMED) if event.get("type") == "tool_call" else None
    if type(name) is not str:
        return event
    marks = {key: value for key, value in marks_of(event["options"]).items() if key != NAMED}
    options = {key: value for key, value in event["options"].items() if key != POND} | ({POND: marks} if marks else {})
    return {**event, "name": name, "options": options}
