"""What pond says about a row that it writes for another client, in a member of the row that every client ignores.

Rows that are there for the screen only are marked, and a tool that got another name keeps its own here.
"""

from __future__ import annotations

from pond.model.json_text import Json, JsonObject
from pond.model.marks import POND

_DISPLAY, _TOOLS = "display", "tools"
DISPLAY: JsonObject = {_DISPLAY: True}  # the member of a row that is shown but not sent
_NONE: JsonObject = {}


def renamed(tools: dict[str, str]) -> JsonObject:
    """Return the member of a row whose calls got other names: call id -> the name in the source."""
    return {_TOOLS: tools}


def is_display(row: Json) -> bool:
    """Tell whether a row is there for the screen only."""
    held = row.get(POND) if type(row) is dict else None
    return type(held) is dict and held.get(_DISPLAY) is True


def source_names(row: Json) -> JsonObject:
    """Return the names that the calls of a row had in the source, by call id."""
    held = row.get(POND) if type(row) is dict else None
    tools = held.get(_TOOLS) if type(held) is dict else None
    return tools if type(tools) is dict else _NONE
