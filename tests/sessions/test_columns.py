"""Every field that an event may have has a column of its own, or goes where fields without one go."""

import json

import pytest

from pond.model._tables import MESSAGES as MESSAGE_FIELDS
from pond.model._tables import PARTS as PART_FIELDS
from pond.model._tables import SESSION as SESSION_FIELDS
from pond.model._tables import Fields
from pond.sessions.rows import Rows
from pond.sessions.tables import MESSAGES, SESSIONS
from pond.substrate.table import Table


@pytest.mark.rule("adapter-integrity-no-silent-drops")
@pytest.mark.parametrize(
    ("fields", "table"),
    [(SESSION_FIELDS, SESSIONS), *((fields, MESSAGES) for fields in MESSAGE_FIELDS.values())],
    ids=["session", *MESSAGE_FIELDS],
)
def test_a_session_or_message_has_a_column_for_each_field(fields: Fields, table: Table) -> None:
    must, may = fields
    assert {*must, *may} - {"kind"} <= set(table.schema.names)


@pytest.mark.rule("adapter-integrity-no-silent-drops")
@pytest.mark.parametrize("kind", PART_FIELDS)
def test_a_part_keeps_each_field(kind: str) -> None:
    must, may = PART_FIELDS[kind]
    values = {str: "x", bool: True, dict: {}, object: [1]}
    part = {name: values[type_] for name, type_ in {**must, **may}.items()} | {"kind": "part", "type": kind}
    session = {"kind": "session", "id": "s", "source_agent": "a", "project": "/p", "options": {}}
    message = {"kind": "message", "role": "user", "id": "x", "session_id": "s", "options": {}}
    rows = Rows(session)
    rows.take([message, part])
    (row,) = rows.flush()[1].to_pylist()
    stored = {*row, *json.loads(row["variant_data"])}
    assert {*must, *may} - {"kind"} <= stored
