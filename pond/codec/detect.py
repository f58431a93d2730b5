"""Which client wrote this? Decided from content, never from the file's name."""

from __future__ import annotations

from itertools import islice

from pond.codec.registry import CANONICAL, adapter, clients
from pond.codec.source import Source
from pond.model.json_text import Json, NotJson, decode_unproved

_LOOK_AT = 50


def detect(source: Source) -> str | None:
    """Return the client that wrote these records, `canonical`, or None; the first record that shows it decides."""
    for record in islice(source.first_values(), _LOOK_AT):
        if found := _client(record):
            return found
    for _, _, line in islice(source.lines(), min(len(source.first_lines()), _LOOK_AT), _LOOK_AT):
        try:
            found = _client(decode_unproved(line, lambda _: None))
        except NotJson:
            continue
        if found:
            return found
    return None


def _client(record: Json) -> str | None:
    if type(record) is not dict:
        return None
    if record.get("kind") in ("session", "message", "part") and type(record.get("options")) is dict:
        return CANONICAL
    return next((name for name in clients() if adapter(name).module.detect(record)), None)
