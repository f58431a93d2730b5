"""The fast look at an event says what the schema says."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pond._locate import schema_dir
from pond.model._tables import ALLOWED, MESSAGES, PARTS, SESSION, Fields
from pond.model.event_shape import misfit, shaped
from pond.model.json_text import encode_line
from tests.laws.corpus import fixture_files
from tests.laws.passage import read

SCHEMA: dict[str, Any] = json.loads((schema_dir() / "canonical.schema.json").read_text())
DEFINITIONS: dict[str, Any] = SCHEMA["$defs"]
_PARTS = [name for name, about in DEFINITIONS.items() if name.endswith("Part") and "properties" in about]
PART_TYPES = {DEFINITIONS[name]["properties"]["type"]["const"]: name for name in _PARTS}
NAMES = {"string": str, "boolean": bool, "object": dict}


def _type(definition: dict[str, Any]) -> type:
    """Return the Python type of a field; a reference leads to its definition."""
    if "$ref" in definition:
        name = definition["$ref"].rpartition("/")[2]
        return _type(DEFINITIONS[name]) if name != "JsonValue" else object
    return str if "oneOf" in definition else NAMES[definition["type"]]


@pytest.mark.parametrize(
    ("fields", "name", "apart"),
    [
        (SESSION, "Session", ()),
        (MESSAGES["system"], "SystemMessage", ()),
        # As events, these messages have their parts behind them and not inside.
        *[(MESSAGES[role], f"{role.title()}Message", ("content",)) for role in ("user", "assistant", "tool")],
        *[(PARTS[kind], name, ()) for kind, name in PART_TYPES.items()],
    ],
    ids=lambda value: value if type(value) is str else "",
)
def test_fields_are_those_of_the_schema(fields: Fields, name: str, apart: tuple[str, ...]) -> None:
    must, may = fields
    definition = DEFINITIONS[name]
    assert set(must) == set(definition["required"])
    known = {field: _type(about) for field, about in definition["properties"].items() if field not in apart}
    assert must | may == known


def test_every_part_of_the_schema_is_known() -> None:
    assert set(PARTS) == set(PART_TYPES)
    assert {kind for kinds in ALLOWED.values() for kind in kinds} == set(PARTS)


def test_what_readers_give_fits() -> None:
    for file in fixture_files():
        role = None
        for event in read(file.path, file.client).events:
            role = event["role"] if event["kind"] == "message" else role
            assert misfit(event, role) is None


SOUND = [
    {"kind": "session", "id": "s", "source_agent": "heron", "project": "/p", "options": {}},
    {"kind": "message", "role": "user", "id": "m", "session_id": "s", "timestamp": "2026-01-02T03:04:05.678Z",
     "options": {}},
    {"kind": "message", "role": "system", "id": "m", "session_id": "s", "content": "", "options": {}},
    {"kind": "part", "type": "text", "id": "p", "session_id": "s", "message_id": "m", "text": "t",
     "provenance": "conversational", "options": {}},
    {"kind": "part", "type": "file", "id": "p", "session_id": "s", "message_id": "m", "media_type": "a/b", "data": "",
     "provenance": "injected", "options": {}},
]  # fmt: skip
WRONG: tuple[Any, ...] = (None, "", "x", 1, 1.5, True, [], {}, "2026-13-02T03:04:05.678Z", "2026-01-02T03:04:05Z")


@pytest.mark.parametrize("event", SOUND, ids=lambda event: event.get("type") or event.get("role") or event["kind"])
def test_it_refuses_what_the_schema_refuses(event: dict[str, Any]) -> None:
    judge = Draft202012Validator({**SCHEMA, "$ref": "#/$defs/Event"})
    role = "user" if event["kind"] == "part" else None
    changed = [{k: v for k, v in event.items() if k != gone} for gone in event]
    changed += [{**event, name: value} for name in [*event, "surplus", "content"] for value in WRONG]
    for each in [event, *changed]:
        if type(each.get("content")) is list:
            continue  # a message that travels whole: the schema takes it, a stream of events does not
        assert (misfit(each, role) is None) == judge.is_valid(each), each
        found = shaped(encode_line(each))
        assert found is None or (found == each and judge.is_valid(each)), each


@pytest.mark.parametrize("event", SOUND[1:], ids=lambda event: event.get("type") or event.get("role"))
def test_what_pond_writes_is_shaped(event: dict[str, Any]) -> None:
    last = ("provenance", "options")
    spelled = {**{k: v for k, v in event.items() if k not in last}, **{k: event[k] for k in last if k in event}}
    head = ("kind", "role", "id", "session_id", "message_id", "type")
    spelled = {**{k: event[k] for k in head if k in event}, **spelled}
    assert shaped(encode_line(spelled)) == event
