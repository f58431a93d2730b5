"""The meaning of a mapping, spelled out slowly: the oracle that the compiled functions are tested against."""

from __future__ import annotations

from pond.lang.context import Reading, Writing
from pond.lang.conversions import CONVERSIONS, NO_MARK
from pond.lang.plan import (
    CARRY,
    ITEM_KEY,
    NO_FALLBACK,
    PART_TYPES,
    ROLES,
    Condition,
    ImpliedRule,
    Keys,
    KindPlan,
    ListPlan,
    PartPlan,
    Plan,
    Rule,
    dotted,
)
from pond.lang.runtime import MISSING, Broken, repeat_event
from pond.lang.runtime import kind_of as _kind
from pond.lang.spans import INJECTED
from pond.model.json_text import Json, JsonObject

Found = tuple[Rule, Json, tuple[Json, ...]]  # a rule, the source value, the canonical values


# --- paths -----------------------------------------------------------------------------------------------------------


def get(record: Json, keys: Keys) -> Json:
    """Return the value at `keys`, or MISSING."""
    for key in keys:
        if type(record) is not dict or key not in record:
            return MISSING
        record = record[key]
    return record


def take(record: JsonObject, keys: Keys) -> None:
    """Remove the value at `keys`; objects the path leads through stay, even empty."""
    for key in keys[:-1]:
        record = record[key]
    del record[keys[-1]]


def put(record: JsonObject, keys: Keys, value: Json) -> None:
    """Set the value at `keys`, making the objects on the way."""
    for key in keys[:-1]:
        record = record.setdefault(key, {})
        if type(record) is not dict:
            raise Broken(f"expected an object at `{dotted(keys)}`")
    record[keys[-1]] = value


def prune(record: JsonObject, paths: list[Keys]) -> None:
    """Remove the objects that claims have emptied: writing those claims back makes them again."""
    for keys in sorted({p[:n] for p in paths for n in range(1, len(p))}, key=len, reverse=True):
        if get(record, keys) == {}:
            take(record, keys)


def holds(condition: Condition, record: JsonObject) -> bool:
    """Answer a test; true is not 1, and a path through something that is no object is absent."""
    value = get(record, condition.keys)
    match condition.op:
        case "has":
            return value is not MISSING
        case "no":
            return value is MISSING
        case _:
            return any(type(value) is type(v) and value == v for v in condition.values)


# --- reading ---------------------------------------------------------------------------------------------------------


def select(plan: Plan, record: JsonObject) -> KindPlan:
    """Return the first kind whose literal and conditions fit, else the carrying kind."""
    name = get(record, plan.discriminator)
    for kind in plan.kinds:
        fits = name is MISSING if kind.literal is None else type(name) is str and name == kind.literal
        if fits and all(holds(c, record) for c in kind.conditions):
            return kind
    return plan.otherwise


def drift_name(plan: Plan, record: JsonObject) -> str | None:
    """Return what to call a carried record nobody named; None where some clause names it."""
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
    """Return the canonical events of one record: each Message followed by its Parts. The record is used up."""
    kind = select(plan, record)
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
    pond: JsonObject = {"seq": context.seq, "as": kind.label}
    absent: list[str] = []
    spelling: JsonObject = {}
    message_id, repeat = _identity(kind, record, context, pond, absent)
    if repeat is not None:
        return repeat
    whole = {table.name: any(holds(c, record) for c in table.conditions) for table in plan.spans}
    if kind.literal is not None:
        take(record, plan.discriminator)
    fields, options, timestamp = _message_fields(kind, record, context, absent, spelling)
    _imply(kind.implied, record, context.session_id, context.project, absent)
    made: list[list[JsonObject]] = [[] for _ in kind.messages]
    maker = _PartMaker(plan, kind, context, whole)
    for part in kind.parts:
        found = fit(part, record)
        assert found is not None
        made[part.message] += maker.make(part, record, found, embedded=True)
    for rule in kind.lists:
        _read_list(rule, record, maker, made, pond)
    rests = {}
    for keys, namespace in kind.rests:
        rest = get(record, keys)
        take(record, keys)
        _check_known(kind.known.get(keys), rest, f"{kind.label}.{dotted(keys)}", context)
        if rest:
            rests[namespace] = rest
    for keys, names in kind.known.items():
        if kind.label != CARRY and keys not in {k for k, _ in kind.rests}:
            _check_known(names, get(record, keys), ".".join((kind.label, *keys)), context)
    if absent:
        pond["absent"] = absent
    if spelling:
        pond["spelling"] = spelling
    first_options: JsonObject = {**({"source": record} if record else {}), **options, **rests, "pond": pond}
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
                context.note("source-type", f"$.{dotted(rule.source)}", f"expected an id, found {_kind(own)}")
        return message_id, None
    first = context.seen.setdefault(hash(own), context.place) == context.place
    found = own if first else context.identify(own, record)
    if found is None:
        return own, [repeat_event(own, context)]
    if found != own:
        pond["id"] = own
    take(record, rule.source)
    return found, None


def _message_fields(
    kind: KindPlan, record: JsonObject, context: Reading, absent: list[str], spelling: JsonObject
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
                    what = f"expected {rule.accepts}, found {_kind(value)}"
                    context.note("source-type", f"$.{dotted(rule.source)}", what)
            elif rule.targets == ("timestamp",) or (rule.conversion is not None and rule.fallback is not NO_FALLBACK):
                absent.append(dotted(rule.source))
            continue
        take(record, rule.source)
        prune(record, [rule.source]) if kind.label == CARRY else None
        _keep_spelling(rule, value, values, spelling)
        for target, converted in zip(rule.targets, values, strict=True):
            if target == "timestamp":
                timestamp = converted
            elif target.startswith("options."):
                put(options, tuple(target.split(".")[1:]), converted)
            else:
                fields[target] = converted
    return fields, options, timestamp


def convert(rule: Rule, value: Json) -> tuple[Json, ...] | None:
    """Return the canonical values of a source value, or None where it does not fit the rule."""
    if rule.conversion is not None:
        return CONVERSIONS[rule.conversion].read(value, rule.argument)
    wanted = {"string": str, "boolean": bool}.get(rule.accepts)
    return (value,) if wanted is None or type(value) is wanted else None


def _keep_spelling(rule: Rule, value: Json, values: tuple[Json, ...], spelling: JsonObject) -> None:
    if rule.conversion is not None:
        mark = CONVERSIONS[rule.conversion].mark(value, values, rule.argument)
        if mark is not NO_MARK:
            spelling[dotted(rule.source)] = mark
    elif rule.fallback is not NO_FALLBACK and type(value) is type(rule.fallback) and value == rule.fallback:
        spelling[dotted(rule.source)] = value  # the writer leaves out what equals the fallback


def _imply(
    rules: tuple[ImpliedRule, ...], record: JsonObject, session_id: str, project: str, absent: list[str]
) -> None:
    for rule in rules:
        value = get(record, rule.source)
        if value is MISSING:
            absent.append(dotted(rule.source))
            continue
        expected = {"id": session_id, "project": project}[rule.session_field] if rule.session_field else rule.value
        if type(value) is type(expected) and value == expected:
            take(record, rule.source)


def _check_known(names: frozenset[str] | None, record: Json, where: str, context: Reading) -> None:
    if names is not None and type(record) is dict and not record.keys() <= names:
        context.drift("source-drift-field", where, [k for k in record if k not in names])


# --- parts -----------------------------------------------------------------------------------------------------------


def fit(part: PartPlan, item: JsonObject) -> dict[Keys, Found] | None:
    """Return the claims that fit `item`, or None where a required one does not (then it is no such Part)."""
    found: dict[Keys, Found] = {}
    for rule in part.rules:
        value = get(item, rule.source)
        values = None if value is MISSING else convert(rule, value)
        if values is not None:
            found[rule.source] = (rule, value, values)
        elif rule.required:
            return None
    return found


class _PartMaker:
    """Makes the Parts of one record, in order, numbering them per message."""

    def __init__(self, plan: Plan, kind: KindPlan, context: Reading, whole: dict[str, bool]) -> None:
        self.plan, self.kind, self.context, self.whole = plan, kind, context, whole
        self.tables = {table.name: table.markers() for table in plan.spans}

    def make(
        self, part: PartPlan, item: JsonObject, found: dict[Keys, Found], *, embedded: bool = False
    ) -> list[JsonObject]:  # fmt: skip
        """Return the Part of `item`, or several where spans cut its text. `embedded`: the item is the record."""
        pond: JsonObject = {}
        absent: list[str] = []
        spelling: JsonObject = {}
        body: JsonObject = {"type": PART_TYPES[part.part]}
        options: JsonObject = {}
        if self.kind.default_label(part.part) != part.label:
            pond["as"] = part.label
        for rule in part.rules:
            if rule.source not in found:
                value = get(item, rule.source)
                if value is not MISSING and not (rule.optional and value is None):
                    note = f"expected {rule.accepts}, found {_kind(value)}"
                    self.context.note("source-type", f"$.{dotted(rule.source)}", note)
                if rule.fallback is not NO_FALLBACK:
                    body[rule.targets[0]] = rule.fallback
                continue
            _, value, values = found[rule.source]
            take(item, rule.source)
            _keep_spelling(rule, value, values, spelling)
            for target, converted in zip(rule.targets, values, strict=True):
                if target.startswith("options."):
                    put(options, tuple(target.split(".")[1:]), converted)
                else:
                    body[target] = converted
        body.update(part.constants)
        _imply(part.implied, item, self.context.session_id, self.context.project, absent)
        self._facts(part, body)
        if not embedded:
            prune(item, [r.source for r in part.rules if r.source in found])
            _check_known(part.known.get(()), item, f"{self.kind.label}/{part.label}", self.context)
            if item:
                options["source"] = item
        if absent:
            pond["absent"] = absent
        if spelling:
            pond["spelling"] = spelling
        if pond:
            options["pond"] = pond
        return self._cut(part, body, options)

    def _facts(self, part: PartPlan, body: JsonObject) -> None:
        for fact in part.facts:
            if fact.how == "call":
                call = body.get("call_id")
                value = self.context.calls.get(call, MISSING) if type(call) is str else MISSING
            else:
                value = self.context.facts.get(fact.argument, MISSING)
            if value is not MISSING:
                body[fact.target] = value
        if part.part == "ToolCallPart" and type(body.get("call_id")) is str:
            self.context.calls[body["call_id"]] = body["name"]

    def _cut(self, part: PartPlan, body: JsonObject, options: JsonObject) -> list[JsonObject]:
        if part.spans is None:
            return [{**body, "provenance": part.provenance, "options": options}]
        if self.whole[part.spans]:
            return [{**body, "provenance": INJECTED, "options": options}]
        runs = self.tables[part.spans].split(body["text"])
        parts = [{**body, "text": text, "provenance": provenance, "options": options} for provenance, text in runs[:1]]
        for provenance, text in runs[1:]:
            joined: JsonObject = {"pond": {"joined": True}}
            parts.append({"type": "text", "text": text, "provenance": provenance, "options": joined})
        return parts


def _read_list(
    rule: ListPlan, record: JsonObject, maker: _PartMaker, made: list[list[JsonObject]], pond: JsonObject
) -> None:  # fmt: skip
    value = get(record, rule.source)
    name = dotted(rule.source)
    if value is MISSING:
        pond.setdefault("shape", {})[name] = "absent"
    elif type(value) is str and "string" in rule.shapes:
        block = next(b for b in rule.blocks if b.literal == rule.string_block and not b.conditions)
        take(record, rule.source)
        item: JsonObject = {}
        put(item, block.text_rule.source, value)
        found = fit(block, item)
        assert found is not None
        made[block.message] += maker.make(block, item, found)
        if rule.shapes[0] != "string":
            pond.setdefault("shape", {})[name] = "string"
    elif type(value) is list and "list" in rule.shapes:
        take(record, rule.source)
        weave, left = "", []
        for item in value:
            block_found = _choose(rule, item, maker)
            if block_found is None:
                weave += "r"
                left.append(item)
            else:
                part, found = block_found
                del item[ITEM_KEY]
                made[part.message] += maker.make(part, item, found)
                weave += str(part.message)
        if "r" in weave or weave != "".join(sorted(weave)):
            pond.setdefault("weave", {})[name] = weave
        if left:
            put(record, rule.source, left)
        if rule.shapes[0] != "list":
            pond.setdefault("shape", {})[name] = "list"
    elif value is not None:
        maker.context.note("source-type", f"$.{name}", f"expected {' or '.join(rule.shapes)}, found {_kind(value)}")


def _choose(rule: ListPlan, item: Json, maker: _PartMaker) -> tuple[PartPlan, dict[Keys, Found]] | None:
    if type(item) is not dict or type(item.get(ITEM_KEY)) is not str:
        maker.context.drift("source-drift-kind", f"{maker.kind.label}/{_kind(item)}", ())
        return None
    for part in rule.blocks:
        if part.literal == item[ITEM_KEY] and all(holds(c, item) for c in part.conditions):
            found = fit(part, item)
            if found is not None:
                return part, found
    maker.context.drift("source-drift-kind", f"{maker.kind.label}/{item[ITEM_KEY]}", ())
    return None


def _messages(
    kind: KindPlan, message_id: str, timestamp: str | None, fields: JsonObject, options: JsonObject,
    made: list[list[JsonObject]], context: Reading,
) -> list[JsonObject]:  # fmt: skip
    """Return the messages that got Parts (the last listed where none did), the record's own facts on the first."""
    used = [i for i, parts in enumerate(made) if parts] or [len(kind.messages) - 1]
    events: list[JsonObject] = []
    for index in used:
        role = ROLES[kind.messages[index]]
        name = message_id
        if index != used[0]:
            name = f"{message_id}+{role}"
            options = {"pond": {"seq": context.seq, "with": True}}
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


# --- writing ---------------------------------------------------------------------------------------------------------


def write(plan: Plan, events: list[JsonObject], context: Writing) -> JsonObject:
    """Return the source record that `read` took these events from. The events are used up; raise Broken on nonsense."""
    messages: list[tuple[JsonObject, list[JsonObject]]] = []
    for event in events:
        if event["kind"] == "message":
            messages.append((event, []))
        else:
            messages[-1][1].append(event)
    first = messages[0][0]
    options = first["options"]
    pond = options.get("pond", {})
    kind = plan.kind(pond.get("as"))
    if kind is None:
        raise Broken(f"the mapping has no kind `{pond.get('as')}`")
    record: JsonObject = options.get("source", {})
    absent = set(pond.get("absent", ()))
    for keys, namespace in kind.rests:
        put(record, keys, options.get(namespace, {}))
    for keys in kind.containers:
        if get(record, keys) is MISSING:
            put(record, keys, {})
    if kind.literal is not None:
        put(record, plan.discriminator, kind.literal)
    spelling = pond.get("spelling", {})
    for rule in kind.rules:
        if get(record, rule.source) is not MISSING or dotted(rule.source) in absent:
            continue
        if rule.targets == ("id",):
            put(record, rule.source, pond.get("id", first["id"]))
        else:
            _write_rule(rule, first, record, spelling)
    _write_implied(kind.implied, record, context, absent)
    blocks = {p.label: p for p in kind.all_parts}
    items = [_items(kind, blocks, parts, record, context) for _, parts in messages]
    roles = [message["role"] for message, _ in messages]
    by_role = dict(zip(roles, items, strict=True))
    queues = [by_role.get(ROLES[name], []) for name in kind.messages]
    for listed in kind.lists:
        _write_list(listed, queues, record, pond)
    return record


def _write_rule(rule: Rule, owner: JsonObject, record: JsonObject, spelling: JsonObject) -> None:
    mark = spelling.get(dotted(rule.source), NO_MARK)
    values = []
    for target in rule.targets:
        value = get(owner, tuple(target.split(".")))
        if value is MISSING:
            return
        values.append(value)
    if rule.conversion is not None:
        write_back = CONVERSIONS[rule.conversion].write
        assert write_back is not None
        put(record, rule.source, write_back(tuple(values), mark, rule.argument))
    elif (
        rule.fallback is NO_FALLBACK
        or mark is not NO_MARK
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
    """Return the list items the Parts stand for; Parts made from the record itself are written into it."""
    types = {value: name for name, value in PART_TYPES.items()}
    out: list[tuple[PartPlan, Json]] = []
    pending: list[JsonObject] = []
    for part in parts:
        if part["options"].get("pond", {}).get("joined"):
            pending[-1]["text"] += part["text"]
        else:
            pending.append(part)
    for part in pending:
        options = part["options"]
        pond = options.get("pond", {})
        label = pond.get("as") or kind.default_label(types[part["type"]])
        if label not in blocks:
            raise Broken(f"`{kind.label}` has no block `{label}`")
        block = blocks[label]
        embedded = block in kind.parts
        item = record if embedded else options.get("source", {})
        absent, spelling = set(pond.get("absent", ())), pond.get("spelling", {})
        if not embedded:
            item[ITEM_KEY] = block.literal
        for rule in block.rules:
            if get(item, rule.source) is MISSING and dotted(rule.source) not in absent:
                _write_rule(rule, part, item, spelling)
        _write_implied(block.implied, item, context, absent)
        if not embedded:
            out.append((block, item))
    return out


def _write_list(
    rule: ListPlan, queues: list[list[tuple[PartPlan, Json]]], record: JsonObject, pond: JsonObject
) -> None:
    name = dotted(rule.source)
    weave = pond.get("weave", {}).get(name)
    shape = pond.get("shape", {}).get(name, rule.shapes[0])
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
