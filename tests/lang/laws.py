"""What must hold for any record under any mapping; each law raises AssertionError with the record that breaks it."""

import re
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pond._locate import schema_dir
from pond.lang.context import Writing
from pond.lang.fields import PART_TYPES, ROLES, allowed_parts, fields_of
from pond.lang.runtime import Broken, repeat_event
from pond.model.equal import first_difference, same
from pond.model.json_text import Json, JsonObject, decode, decode_strictly, encode
from tests.lang.engines import PROJECT, SESSION, Engines, Listener

_TYPES = {"string": str, "boolean": bool, "timestamp": str}
_MESSAGE_OF = {role: name for name, role in ROLES.items()}
PART_OF = {kind: name for name, kind in PART_TYPES.items()}
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(\d{3})?Z", re.ASCII)


class Session:
    """A run of records through both engines, each with a memory of its own."""

    def __init__(self, engines: Engines) -> None:
        self.engines = engines
        self.slow, self.fast, self.again = Listener(), Listener(), Listener()

    def examine(self, record: JsonObject, *, schema: bool = False) -> None:
        """Read and write `record` in every way there is, and compare."""
        slow, fast, again = self.slow, self.fast, self.again
        events = self.engines.read(slow.next(record), slow)
        compiled = self.engines.compiled_read(fast.next(record), fast)
        assert same(events, compiled), f"compiled differs: {first_difference(events, compiled)}\n{record!r}"
        assert sorted(slow.heard) == sorted(fast.heard), f"compiled says otherwise of {record!r}"
        text = encode(compiled)
        assert encode(self.engines.compiled_read(again.next(record), again)) == text, f"not deterministic: {record!r}"
        well_formed(events)
        if schema:
            valid(events)
        slow.heard.clear()
        fast.heard.clear()
        if events[0]["options"]["pond"]["as"] == "repeat":
            self._repeated(events, compiled)
        else:
            self._restored(record, events, compiled, text)

    def _restored(self, record: JsonObject, events: list[JsonObject], compiled: list[JsonObject], text: bytes) -> None:
        """Native restore is value-equal (adapter-native-restore-lossless), from memory and from text."""
        reread = from_text(text)
        assert same(reread, events), f"changed by text: {first_difference(events, reread)}"
        for written in (
            self.engines.write(events, Writing(SESSION, PROJECT)),
            self.engines.compiled_write(compiled, Writing(SESSION, PROJECT)),
            self.engines.compiled_write(reread, Writing(SESSION, PROJECT)),
        ):
            assert same(written, record), f"not restored: {first_difference(record, written)}\n{record!r}"

    def _repeated(self, events: list[JsonObject], compiled: list[JsonObject]) -> None:
        """Only the codec can write a repeat: it holds the record that is repeated."""
        own = events[0]["options"]["pond"]["repeat_of"]
        assert events == [repeat_event(own, self.slow)]
        with pytest.raises(Broken):
            self.engines.write(events, Writing(SESSION, PROJECT))
        with pytest.raises(Broken):
            self.engines.compiled_write(compiled, Writing(SESSION, PROJECT))


def from_text(text: bytes) -> Any:
    """Return the value of JSON text that pond wrote itself: no key can be there twice."""

    def twice(key: str) -> None:
        raise AssertionError(f"key {key!r} written twice")

    return decode(text, twice)


def well_formed(events: list[JsonObject]) -> None:
    """Check by hand what the schema says of events, and what it cannot: that each Message precedes its own Parts."""
    message, allowed, number = None, frozenset[str](), 0
    for event in events:
        assert event["session_id"] == SESSION
        if event["kind"] == "message":
            name = _MESSAGE_OF[event["role"]]
            message, allowed, number = event, allowed_parts(name), 0
            assert event["id"]
            assert event is events[0] or event["options"]["pond"]["with"] is True
        else:
            assert message is not None
            name = PART_OF[event["type"]]
            assert event["message_id"] == message["id"]
            assert event["id"] == f"{message['id']}:{number}"
            assert name in allowed, f"{name} in a {message['role']} message"
            assert event["provenance"] in ("conversational", "injected")
            number += 1
        _fields(name, event)
    assert len({e["id"] for e in events}) == len(events)


def _fields(name: str, event: JsonObject) -> None:
    known = fields_of(name)
    assert event.keys() <= known.keys(), f"{name} has {event.keys() - known.keys()}"
    for field, about in known.items():
        if field not in event:
            assert not about.required, f"{name} lacks {field}"
        elif about.type in _TYPES:
            assert type(event[field]) is _TYPES[about.type], f"{name}.{field} is {event[field]!r}"
            assert about.type != "timestamp" or _TIMESTAMP.fullmatch(event[field]), event[field]


@cache
def _validator() -> Draft202012Validator:
    schema: Json = decode_strictly((schema_dir() / "canonical.schema.json").read_bytes(), lambda key: None)
    return Draft202012Validator(schema)


def valid(events: list[JsonObject]) -> None:
    """Check events against the published schema: slow, so for a few of them only."""
    for event in events:
        _validator().validate(event)
