"""`validate` finds what makes a stream incoherent, and finds nothing in a coherent one."""

from typing import Any

import pytest

from pond.lang.fields import PART_TYPES, ROLES, allowed_parts
from pond.model._tables import ALLOWED
from pond.model.json_text import JsonObject
from pond.model.validate import validate


def session(**more: Any) -> JsonObject:
    return {"kind": "session", "id": "s", "source_agent": "heron", "project": "/p", "options": {}, **more}


def message(role: str = "user", **more: Any) -> JsonObject:
    content = {"content": ""} if role == "system" else {}
    return {"kind": "message", "id": "m", "session_id": "s", "role": role, "options": {}, **content, **more}


def part(kind: str = "text", **more: Any) -> JsonObject:
    row = {"kind": "part", "id": "m:0", "session_id": "s", "message_id": "m", "type": kind, "options": {}}
    return {**row, **({"text": "t"} if kind == "text" else {}), "provenance": "injected", **more}


JOINED = {"pond": {"joined": True}}
COHERENT = [
    [session(), message(), part(), part(id="m:1", options=JOINED)],
    [session(parent_session_id="p", parent_message_id="pm")],
    [session(), message(), session(id="t"), message(session_id="t"), part(session_id="t")],
    [],
]


@pytest.mark.parametrize("events", COHERENT)
def test_a_coherent_stream_has_nothing_to_report(events: list[JsonObject]) -> None:
    assert validate(events) == []


@pytest.mark.parametrize(
    ("events", "path", "rule"),
    [
        pytest.param(
            [session(parent_message_id="pm")], "$[0].parent_message_id", "model-parent-pointer-coherence",
            marks=pytest.mark.rule("model-parent-pointer-coherence"),
        ),
        pytest.param(
            [session(project="")], "$[0].project", "model-project-non-empty",
            marks=pytest.mark.rule("model-project-non-empty"),
        ),
        ([session(source_agent="")], "$[0].source_agent", ""),
        ([session(parent_session_id=7)], "$[0].parent_session_id", ""),
        ([session(created_at=1775131200)], "$[0].created_at", ""),
        ([session(surplus=1)], "$[0].surplus", ""),
        ([session(options={"pond": 7})], "$[0].options", ""),
        ([session(), message(timestamp="yesterday")], "$[1].timestamp", ""),
        ([session(), message(surplus=1)], "$[1].surplus", ""),
        ([session(), message(), part(surplus=1)], "$[2].surplus", ""),
        ([session(id="")], "$[0].id", ""),
        ([session(), session()], "$[1].id", "adapter-integrity-dedup"),
        ([session(), message(id="")], "$[1].id", ""),
        ([session(), message(), message()], "$[2].id", "adapter-integrity-dedup"),
        ([session(), message("judge")], "$[1].role", ""),
        ([session(), message(session_id="other")], "$[1].session_id", "adapter-integrity-event-ordering"),
        ([message()], "$[0].session_id", "adapter-integrity-event-ordering"),
        ([session(), message(), part(id="")], "$[2].id", ""),
        ([session(), message(), part(), part()], "$[3].id", "adapter-integrity-dedup"),
        ([session(), message(), part(message_id="x")], "$[2].message_id", "adapter-integrity-event-ordering"),
        ([session(), part()], "$[1].message_id", "adapter-integrity-event-ordering"),
        ([session(), message(), message(id="n"), part()], "$[3].message_id", "adapter-integrity-event-ordering"),
        ([session(), message(), part(session_id="x")], "$[2].session_id", "adapter-integrity-event-ordering"),
        ([session(), message(), part(options=JOINED)], "$[2].options.pond.joined", "adapter-integrity-event-ordering"),
        pytest.param(
            [session(), message(), part(provenance=None)], "$[2].provenance", "model-part-provenance",
            marks=pytest.mark.rule("model-part-provenance"),
        ),
        ([session(), message(), part("tool_call")], "$[2].type", ""),
        ([session(), message("system"), part()], "$[2].type", ""),
        ([{"kind": "row"}], "$[0].kind", ""),
    ],
)  # fmt: skip
def test_an_incoherent_stream_is_told_of(events: list[JsonObject], path: str, rule: str) -> None:
    (found,) = validate(events)
    assert (found.code, found.path, found.rule) == ("canonical-broken", path, rule)


def test_every_fault_of_a_stream_is_told() -> None:
    events = [session(project=""), message("judge"), part(provenance="guess")]
    assert [found.path for found in validate(events)] == ["$[0].project", "$[1].role", "$[2].provenance"]


def test_roles_allow_what_the_schema_allows() -> None:
    by_schema = {role: {PART_TYPES[part] for part in allowed_parts(name)} for name, role in ROLES.items()}
    assert {role: set(parts) for role, parts in ALLOWED.items()} == by_schema
