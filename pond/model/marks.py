"""The marks that pond leaves for itself in `options.pond`: what writing back needs and no field of an event says.

The schema describes each (`PondMarks`). Code that reads or writes one uses the names below; generated code spells them
out.
"""

from __future__ import annotations

from typing import Final

from pond.model.json_text import Json, JsonObject

POND: Final = "pond"  # their key in an object's options

# of a session
MAP: Final = "map"
FORM: Final = "form"
PATH: Final = "path"
PROJECT_FROM: Final = "project_from"
ID: Final = "id"  # also of a message: the client's id, if pond had to use another

MOVED: Final = "moved"  # where a session that pond wrote for another client comes from

# of a message
SEQ: Final = "seq"
AS: Final = "as"  # also of a part
WITH: Final = "with"
AGAIN: Final = "again"
REPEAT_OF: Final = "repeat_of"
FILE: Final = "file"
AFTER: Final = "after"  # of a message that pond wrote itself
SHAPE: Final = "shape"
WEAVE: Final = "weave"
ABSENT: Final = "absent"  # also of a part
SPELLING: Final = "spelling"  # also of a part and of a session

# of a part
JOINED: Final = "joined"
NAMED: Final = "named"  # of a tool call: its name in the client's own record, where pond gave that another

# what pond writes into another client's file: rows of this kind, and a member of any other row
ORIGIN: Final = "pond_origin"
COPIED, DISPLAY, TOOLS = "copied", "display", "tools"  # in that member

_NONE: JsonObject = {}  # used if there are no marks; never written to


def marks_of(options: Json) -> JsonObject:
    """Return the marks in an object's options; a shared empty object, which must not be changed, if there are none."""
    found = options.get(POND) if type(options) is dict else None
    return found if type(found) is dict else _NONE


def label_of(options: Json) -> str:
    """Return the kind or block of a mapping that an event belongs to; empty if nothing says so."""
    label = marks_of(options).get(AS)
    return label if type(label) is str else ""


def written_by_pond(options: Json) -> JsonObject:
    """Return what pond noted in a row that it wrote for another client; an empty object where it wrote nothing."""
    source = options.get("source") if type(options) is dict else None
    found = source.get(POND) if type(source) is dict else None
    return found if type(found) is dict else _NONE


def copied(options: Json) -> tuple[str, str] | None:
    """Return the session and the message that a row was copied from, first of all; None for any other row."""
    found = written_by_pond(options).get(COPIED)
    if type(found) is list and len(found) == 2 and type(found[0]) is str and type(found[1]) is str and all(found):
        return found[0], found[1]
    return None


def is_display(options: Json) -> bool:
    """Tell whether pond wrote a row for the screen alone: another row holds what it shows."""
    return written_by_pond(options).get(DISPLAY) is True


def continues_record(event: JsonObject) -> bool:
    """Tell whether a message comes from the same source record as the message before it."""
    return marks_of(event.get("options")).get(WITH) is True


def continues_part(part: JsonObject) -> bool:
    """Tell whether a part continues the source value of the part before it."""
    return marks_of(part.get("options")).get(JOINED) is True


def says_again(options: Json) -> bool:
    """Tell whether a message only repeats a prompt of an earlier one."""
    return marks_of(options).get(AGAIN) is True
