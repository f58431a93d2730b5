"""Canonical events to a record, the slow way."""

from __future__ import annotations

from pond.lang.context import Writing
from pond.lang.conversions import CONVERSIONS, NO_SPELLING
from pond.lang.fields import PART_TYPES, ROLES
from pond.lang.interpret.record_paths import get, put
from pond.lang.plan import ITEM_KEY, NO_FALLBACK, ImpliedRule, KindPlan, ListPlan, PartPlan, Plan, Rule, dotted
from pond.lang.runtime import MISSING, Broken
from pond.model.json_text import Json, JsonObject
from pond.model.marks import ABSENT, AS, ID, JOINED, POND, SHAPE, SPELLING, WEAVE


def write(plan: Plan, events: list[JsonObject], context: Writing) -> JsonObject:
    """Return the source record from which `read` made these events. Consumes the events; raise Broken on nonsense."""
    messages: list[tuple[JsonObject, list[JsonObject]]] = []
    for event in events:
        if event["kind"] == "message":
            messages.append((event, []))
        else:
            messages[-1][1].append(event)
    first = messages[0][0]
    options = first["options"]
    pond = options.get(POND, {})
    kind = plan.kind(pond.get(AS))
    if kind is None:
        raise Broken(f"the mapping has no kind `{pond.get(AS)}`")
    record: JsonObject = options.get("source", {})
    absent = set(pond.get(ABSENT, ()))
    for keys, namespace in kind.rests:
        put(record, keys, options.get(namespace, {}))
    for keys in kind.containers:
        if get(record, keys) is MISSING:
            put(record, keys, {})
    if kind.literal is not None:
        put(record, plan.discriminator, kind.literal)
    spellings = pond.get(SPELLING, {})
    for rule in kind.rules:
        if get(record, rule.source) is not MISSING or dotted(rule.source) in absent:
            continue
        if rule.targets == ("id",):
            put(record, rule.source, pond.get(ID, first["id"]))
        else:
            _write_rule(rule, first, record, spellings)
    _write_implied(kind.implied, record, context, absent)
    blocks = {p.label: p for p in kind.all_parts}
    items = [_items(kind, blocks, parts, record, context) for _, parts in messages]
    roles = [message["role"] for message, _ in messages]
    by_role = dict(zip(roles, items, strict=True))
    queues = [by_role.get(ROLES[name], []) for name in kind.messages]
    for listed in kind.lists:
        _write_list(listed, queues, record, pond)
    return record


def _write_rule(rule: Rule, owner: JsonObject, record: JsonObject, spellings: JsonObject) -> None:
    spelling = spellings.get(dotted(rule.source), NO_SPELLING)
    values = []
    for target in rule.targets:
        value = get(owner, tuple(target.split(".")))
        if value is MISSING:
            return
        values.append(value)
    if rule.conversion is not None:
        write_back = CONVERSIONS[rule.conversion].write
        assert write_back is not None
        put(record, rule.source, write_back(tuple(values), spelling, rule.argument))
    elif (
        rule.fallback is NO_FALLBACK
        or spelling is not NO_SPELLING
        or type(values[0]) is not type(rule.fallback)
        or values[0] != rule.fallback
    ):
        put(record, rule.source, values[0])


def _write_implied(rules: tuple[ImpliedRule, ...], record: JsonObject, context: Writing, absent: set[str]) -> None:
    for rule in rules:
        if dotted(rule.source) not in absent and get(record, rule.source) is MISSING:
            sessions = {"id": context.session_id, "project": context.project}
            put(record, rule.source, sessions[rule.session_field] if rule.session_field else rule.value)


def _items(
    kind: KindPlan, blocks: dict[str, PartPlan], parts: list[JsonObject], record: JsonObject, context: Writing
) -> list[tuple[PartPlan, Json]]:  # fmt: skip
    """Return the list items of the Parts; Parts made from the record itself are written into it."""
    types = {value: name for name, value in PART_TYPES.items()}
    out: list[tuple[PartPlan, Json]] = []
    pending: list[JsonObject] = []
    for part in parts:
        if part["options"].get(POND, {}).get(JOINED):
            pending[-1]["text"] += part["text"]
        else:
            pending.append(part)
    for part in pending:
        options = part["options"]
        pond = options.get(POND, {})
        label = pond.get(AS) or kind.default_label(types[part["type"]])
        if label not in blocks:
            raise Broken(f"`{kind.label}` has no block `{label}`")
        block = blocks[label]
        embedded = block in kind.parts
        item = record if embedded else options.get("source", {})
        absent, spellings = set(pond.get(ABSENT, ())), pond.get(SPELLING, {})
        if not embedded:
            item[ITEM_KEY] = block.literal
        for rule in block.rules:
            if get(item, rule.source) is MISSING and dotted(rule.source) not in absent:
                _write_rule(rule, part, item, spellings)
        _write_implied(block.implied, item, context, absent)
        if not embedded:
            out.append((block, item))
    return out


def _write_list(
    rule: ListPlan, queues: list[list[tuple[PartPlan, Json]]], record: JsonObject, pond: JsonObject
) -> None:
    name = dotted(rule.source)
    weave = pond.get(WEAVE, {}).get(name)
    shape = pond.get(SHAPE, {}).get(name, rule.shapes[0])
    present = get(record, rule.source)
    if shape == "absent" or (weave is None and present is not MISSING):
        return
    mine = [[item for block, item in queue if block in rule.blocks] for queue in queues]
    if shape == "string":
        block = next(b for b in rule.blocks if b.literal == rule.string_block and not b.conditions)
        put(record, rule.source, get(mine[block.message][0], block.text_rule.source))
    elif weave is None:
        put(record, rule.source, [item for queue in mine for item in queue])
    else:
        sources = {str(i): iter(queue) for i, queue in enumerate(mine)} | {
            "r": iter(present if type(present) is list else [])
        }
        put(record, rule.source, [next(sources[origin]) for origin in weave])
