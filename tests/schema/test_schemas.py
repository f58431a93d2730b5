"""The schemas keep the promises that are made about all of their types at once."""

import pytest

from codegen.emit_schema import canonical_bundle
from codegen.metamodel import (
    Const,
    EnumType,
    Field,
    ListOf,
    Model,
    ObjectType,
    Primitive,
    Ref,
    ScalarType,
    UnionType,
    read_model,
)
from tests.schema.examples import MODEL

CANONICAL: Model = read_model(canonical_bundle())
OBJECTS = list(CANONICAL.variants("Event"))
MESSAGES = list(CANONICAL.variants("Message"))
PARTS = list(CANONICAL.variants("Part"))
WIRE = [each for each in MODEL.definitions if each not in CANONICAL.definitions]


def _field(owner: ObjectType, name: str) -> Field:
    found = owner.field(name)
    assert found, f"{owner.name} has no `{name}`"
    return found


def _tags(objects: list[ObjectType], discriminator: str) -> list[str]:
    types = [_field(each, discriminator).type for each in objects]
    return [each.value for each in types if isinstance(each, Const)]


@pytest.mark.parametrize("owner", OBJECTS, ids=lambda each: each.name)
def test_a_canonical_object_is_closed_and_carries_its_options(owner: ObjectType) -> None:
    assert not owner.open
    assert _field(owner, "options") == Field("options", Ref("Options"), True, _field(owner, "options").description)
    options = CANONICAL["Options"]
    assert isinstance(options, ObjectType)
    assert options.open


@pytest.mark.rule("model-part-provenance")
@pytest.mark.parametrize("part", PARTS, ids=lambda each: each.name)
def test_a_part_has_an_address_and_a_provenance(part: ObjectType) -> None:
    for name, type_ in (("id", "PartId"), ("session_id", "SessionId"), ("message_id", "MessageId")):
        assert (_field(part, name).type, _field(part, name).required) == (Ref(type_), True)
    assert (_field(part, "provenance").type, _field(part, "provenance").required) == (Ref("Provenance"), True)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda each: each.name)
def test_a_message_has_an_address(message: ObjectType) -> None:
    for name, type_ in (("id", "MessageId"), ("session_id", "SessionId")):
        assert (_field(message, name).type, _field(message, name).required) == (Ref(type_), True)


@pytest.mark.rule("model-schema-honesty")
@pytest.mark.parametrize(
    ("type_", "field"),
    [
        ("Session", "created_at"),
        *((each.name, "timestamp") for each in MESSAGES),
        ("FilePart", "file_name"),
        ("ToolCallPart", "call_id"),
        ("ToolResultPart", "call_id"),
        ("ToolResultPart", "name"),
        ("ToolResultPart", "result"),
    ],
)
def test_what_a_source_may_lack_is_optional(type_: str, field: str) -> None:
    owner = CANONICAL[type_]
    assert isinstance(owner, ObjectType)
    assert not _field(owner, field).required


@pytest.mark.rule("model-parent-pointer-coherence")
def test_a_cut_point_needs_a_parent() -> None:
    session = CANONICAL["Session"]
    assert isinstance(session, ObjectType)
    assert session.needs == (("parent_message_id", "parent_session_id"), ("lineage_kind", "parent_session_id"))


@pytest.mark.rule("model-project-non-empty")
def test_a_session_has_a_project_and_a_client_with_names() -> None:
    session = CANONICAL["Session"]
    assert isinstance(session, ObjectType)
    for name in ("project", "source_agent"):
        field = _field(session, name)
        assert (field.type, field.required) == (Primitive("string", (("minLength", 1),)), True)


@pytest.mark.parametrize(
    ("message", "allowed"),
    [
        ("UserMessage", {"text", "file"}),
        (
            "AssistantMessage",
            {"text", "file", "reasoning", "tool_call", "tool_result", "tool_approval_request"},
        ),
        ("ToolMessage", {"tool_result", "tool_approval_response"}),
    ],
)
def test_a_role_allows_its_parts_only(message: str, allowed: set[str]) -> None:
    owner = CANONICAL[message]
    assert isinstance(owner, ObjectType)
    content = _field(owner, "content").type
    assert isinstance(content, ListOf)
    assert isinstance(content.item, Ref)
    assert set(_tags(list(CANONICAL.variants(content.item.name)), "type")) == allowed


@pytest.mark.parametrize(("enum", "union"), [("Role", "Message"), ("PartType", "Part")])
def test_the_enumerations_of_the_wire_repeat_the_tags_of_the_model(enum: str, union: str) -> None:
    values, tagged = MODEL[enum], CANONICAL[union]
    assert isinstance(values, EnumType)
    assert isinstance(tagged, UnionType)
    assert [each.value for each in values.values] == _tags(list(CANONICAL.variants(union)), tagged.discriminator)


@pytest.mark.parametrize("name", ["SessionId", "MessageId", "PartId"])
def test_an_id_is_a_type_of_its_own_and_not_empty(name: str) -> None:
    branded = CANONICAL[name]
    assert isinstance(branded, ScalarType)
    assert ("minLength", 1) in branded.type.limits


@pytest.mark.parametrize("owner", [each for each in WIRE if isinstance(each, ObjectType)], ids=lambda each: each.name)
def test_requests_are_closed_and_responses_can_grow(owner: ObjectType) -> None:
    asks = owner.name.endswith(("Request", "Filters", "Exclusions", "Address", "Change"))
    assert owner.open is not asks
    if owner.name.endswith("Request"):
        assert _field(owner, "protocol_version").required
        assert not _field(owner, "namespace").required
