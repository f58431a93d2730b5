"""A session row from text that anybody may have written."""

from __future__ import annotations

from pond.model.json_text import JsonObject


def is_session(event: JsonObject) -> bool:
    """Tell whether a session row holds what writing it back relies on."""
    options = event["options"]
    pond, source = options.get("pond", {}), options.get("source", {})
    return (
        all(type(event.get(name)) is str and event[name] for name in ("id", "project", "source_agent"))
        and type(pond) is dict
        and all(type(pond.get(name, "")) is str for name in ("path", "form", "id", "map"))
        and type(source) is dict
        and type(source.get("beside", {})) is dict
    )
