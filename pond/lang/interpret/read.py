"""A record to canonical events, the slow way."""

from __future__ import annotations

from pond.lang.context import Reading
from pond.lang.fields import ROLES
from pond.lang.interpret.fields import check_known, convert, imply, keep_spelling
from pond.lang.interpret.parts import PartMaker, fit, read_list, said_of
from pond.lang.interpret.record_paths import get, holds, prune, put, take
from pond.lang.plan import CARRY, NO_FALLBACK, KindPlan, Plan, dotted
from pond.lang.runtime import MISSING, kind_of, repeat_event
from pond.model.json_text import JsonObject
from pond.model.marks import ABSENT, AS, ID, POND, SEQ, SPELLING, WITH


def select(plan: Plan, record: JsonObject, context: Reading) -> KindPlan:
    """Return the first kind whose literal and conditions fit and whose fact is true, otherwise the carrying kind."""
    name = get(record, plan.discriminator)
    for kind in plan.kinds:
        fits = name is MISSING if kind.literal is None else type(name) is str and name == kind.literal
        if fits and all(holds(c, record) for c in kind.conditions) and _is_given(kind, context):
            return kind
    return plan.otherwise


def _is_given(kind: KindPlan, context: Reading) -> bool:
    return kind.given is None or context.facts.get(kind.given) is True


def drift_name(plan: Plan, record: JsonObject) -> str | None:
    """Return the name of a carried record that no clause names; None if some clause does."""
    name = get(record, plan.discriminator)
    literal = name if type(name) is str else None
    for entry in plan.carried:
        if entry.literal == literal and all(holds(c, record) for c in entry.conditions):
            return None
    label = "untyped" if name is MISSING else str(name)
    for owner in plan.owners:
        if owner.literal == literal:
            for condition in owner.conditions:
                value = get(record, condition.keys)
                if type(value) is str:
                    return f"{label}/{value}"
    return label


def read(plan: Plan, record: JsonObject, context: Reading) -> list[JsonObject]:
    """Return the canonical events of one record: each Message followed by its Parts. The record is consumed."""
    kind = select(plan, record, context)
    if kind is not plan.otherwise:
        if bad := next((c for c in kind.containers if type(get(record, c)) is not dict), None):
            context.note("source-structure", f"$.{dotted(bad)}", "expected an object; the record is carried whole")
            kind = plan.otherwise
        elif bad_part := next((p for p in kind.parts if fit(p, record) is None), None):
            context.note("source-structure", "$", f"expected what a {bad_part.part} needs; the record is carried whole")
            kind = plan.otherwise
    elif (name := drift_name(plan, record)) is not None:
        context.drift("source-drift-kind", name, ())
    return _read_kind(plan, kind, record, context)


def _read_kind(plan: Plan, kind: KindPlan, record: JsonObject, context: Reading) -> list[JsonObject]:
    pond: JsonObject = {SEQ: context.seq, AS: kind.label}
    absent: list[str] = []
    spellings: JsonObject = {}
    message_id, repeat = _identity(kind, record, context, pond, absent)
    if repeat is not None:
        return repeat
    said = {table.name: said_of(table, record, context) for table in plan.spans}
    if kind.literal is not None:
        take(record, plan.discriminator)
    fields, options, timestamp = _message_fields(kind, record, context, absent, spellings)
    imply(kind.implied, record, context.session_id, context.project, absent)
    made: list[list[JsonObject]] = [[] for _ in kind.messages]
    maker = PartMaker(plan, kind, context, said)
    for part in kind.parts:
        found = fit(part, record)
        assert found is not None
        made[part.message] += maker.make(part, record, found, embedded=True)
    for rule in kind.lists:
        read_list(rule, record, maker, made, pond)
    rests = {}
    for keys, namespace in kind.rests:
        rest = get(record, keys)
        take(record, keys)
        check_known(kind.known.get(keys), rest, f"{kind.label}.{dotted(keys)}", context)
        if rest:
            rests[namespace] = rest
    for keys, names in kind.known.items():
        if kind.label != CARRY and keys not in {k for k, _ in kind.rests}:
            check_known(names, get(record, keys), ".".join((kind.label, *keys)), context)
    if absent:
        pond[ABSENT] = absent
    if spellings:
        pond[SPELLING] = spellings
    first_options: JsonObject = {**({"source": record} if record else {}), **options, **rests, POND: pond}
    return _messages(kind, message_id, timestamp, fields, first_options, made, context)


def _identity(
    kind: KindPlan, record: JsonObject, context: Reading, pond: JsonObject, absent: list[str]
) -> tuple[str, list[JsonObject] | None]:  # fmt: skip
    rule = kind.id_rule
    own = get(record, rule.source) if rule else MISSING
    if rule is None or type(own) is not str or not own:
        message_id = context.derive(record)
        if rule is not None:
            if own is MISSING:
                absent.append(dotted(rule.source))
            elif not (rule.optional and own in (None, "")):
                context.note("source-type", f"$.{dotted(rule.source)}", f"expected an id, found {kind_of(own)}")
        return message_id, None
    first = context.seen.setdefault(hash(own), context.place) == context.place
    found = own if first else context.identify(own, record)
    if found is None:
        return own, [repeat_event(own, context)]
    if found != own:
        pond[ID] = own
    take(record, rule.source)
    return found, None


def _message_fields(
    kind: KindPlan, record: JsonObject, context: Reading, absent: list[str], spellings: JsonObject
) -> tuple[JsonObject, JsonObject, str | None]:  # fmt: skip
    fields: JsonObject = {}
    options: JsonObject = {}
    timestamp = context.anchor
    for rule in kind.rules:
        if rule.targets == ("id",):
            continue
        value = get(record, rule.source)
        values = None if value is MISSING else convert(rule, value)
        if values is None:
            if value is not MISSING:
                if not (rule.optional and value is None):
                    what = f"expected {rule.accepts}, found {kind_of(value)}"
                    context.note("source-type", f"$.{dotted(rule.source)}", what)
            elif rule.targets == ("timestamp",) or (rule.conversion is not None and rule.fallback is not NO_FALLBACK):
                absent.append(dotted(rule.source))
            continue
        take(record, rule.source)
        prune(record, [rule.source]) if kind.label == CARRY else None
        keep_spelling(rule, value, values, spellings)
        for target, converted in zip(rule.targets, values, strict=True):
            if target == "timestamp":
                timestamp = converted
            elif target.startswith("options."):
                put(options, tuple(target.split(".")[1:]), converted)
            else:
                fields[target] = converted
    return fields, options, timestamp


def _messages(
    kind: KindPlan, message_id: str, timestamp: str | None, fields: JsonObject, options: JsonObject,
    made: list[list[JsonObject]], context: Reading,
) -> list[JsonObject]:  # fmt: skip
    """Return the messages that got Parts (the last listed if none did), with the record's own facts on the first."""
    used = [i for i, parts in enumerate(made) if parts] or [len(kind.messages) - 1]
    events: list[JsonObject] = []
    for index in used:
        role = ROLES[kind.messages[index]]
        name = message_id
        if index != used[0]:
            name = f"{message_id}+{role}"
            options = {POND: {SEQ: context.seq, WITH: True}}
        message: JsonObject = {"kind": "message", "role": role, "id": name, "session_id": context.session_id}
        if timestamp is not None:
            message["timestamp"] = timestamp
        if role == "system":
            message["content"] = fields.get("content", "")
        message["options"] = options
        events.append(message)
        for number, part in enumerate(made[index]):
            head = {"kind": "part", "id": f"{name}:{number}", "session_id": context.session_id, "message_id": name}
            events.append({**head, **part})
    return events
