"""Which client wrote this? Decided from content, never from the file's name."""

from __future__ import annotations

from pond.codec.registry import CANONICAL, adapter, clients
from pond.codec.source import Source
from pond.model.json_text import NotJson, decode

_LOOK_AT = 50


def detect(source: Source) -> str | None:
    """Return the client whose records these are, `canonical`, or None; the first record that tells decides."""
    modules = [(name, adapter(name).module) for name in clients()]
    for count, (_, _, line) in enumerate(source.lines()):
        if count >= _LOOK_AT:
            break
        try:
            record = decode(line, lambda _: None)
        except NotJson:
            continue
        if type(record) is not dict:
            continue
        if record.get("kind") in ("session", "message", "part") and type(record.get("options")) is dict:
            return CANONICAL
        for name, module in modules:
            if module.detect(record):
                return name
    return None
