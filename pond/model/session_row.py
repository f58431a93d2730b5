"""A session row from text of any origin."""

from __future__ import annotations

from pond.model.json_text import JsonObject
from pond.model.marks import FORM, ID, MAP, PATH, POND


def is_session(event: JsonObject) -> bool:
    """Tell whether a session row holds what is needed to write it back."""
    options = event["options"]
    marks, source = options.get(POND, {}), options.get("source", {})
    return (
        all(type(event.get(name)) is str and event[name] for name in ("id", "project", "source_agent"))
        and type(marks) is dict
        and all(type(marks.get(name, "")) is str for name in (PATH, FORM, ID, MAP))
        and type(source) is dict
        and type(source.get("beside", {})) is dict
    )
