"""Parts, made the slow way: which rules fit, how a text is cut, how list items keep their positions."""

from __future__ import annotations

from typing import NamedTuple

from pond.lang.context import Reading
from pond.lang.fields import PART_TYPES
from pond.lang.interpret.fields import check_known, convert, imply, keep_spelling
from pond.lang.interpret.record_paths import get, holds, prune, put, take
from pond.lang.plan import ITEM_KEY, NO_FALLBACK, Keys, KindPlan, ListPlan, PartPlan, Plan, Rule, SpanPlan, dotted
from pond.lang.runtime import MISSING, kind_of
from pond.lang.spans import INJECTED
from pond.model.json_text import Json, JsonObject
from pond.model.marks import ABSENT, AS, JOINED, POND, SHAPE, SPELLING, WEAVE

Found = tuple[Rule, Json, tuple[Json, ...]]  # a rule, the source value, the canonical values


def fit(part: PartPlan, item: JsonObject) -> dict[Keys, Found] | None:
    """Return the claims that fit `item`, or None if a required one does not (then it is not such a Part)."""
    found: dict[Keys, Found] = {}
    for rule in part.rules:
        value = get(item, rule.source)
        values = None if value is MISSING else convert(rule, value)
        if values is not None:
            found[rule.source] = (rule, value, values)
        elif rule.required:
            return None
    return found


class TextFacts(NamedTuple):
    """What a record says about its texts, as a span table asks."""

    whole: bool  # all of them are injected
    typed: bool  # a person typed them
    labels: list[tuple[Json, tuple[str, ...]]]  # a list of labels, and those that do not make a text injected


def said_of(table: SpanPlan, record: JsonObject, context: Reading) -> TextFacts:
    """Ask a record, before anything is removed from it, whose texts it holds."""
    given = any(context.facts.get(name) is True for name in table.given)
    whole = given or any(holds(c, record) for c in table.conditions)
    labels = [(get(record, keys), others) for keys, others in table.labelled]
    return TextFacts(whole, any(holds(c, record) for c in table.typed), labels)


class PartMaker:
    """Makes the Parts of one record, in order, numbering them per message."""

    def __init__(self, plan: Plan, kind: KindPlan, context: Reading, said: dict[str, TextFacts]) -> None:
        self.plan, self.kind, self.context, self.said = plan, kind, context, said
        self.item_number: tuple[int, int] | None = None  # of the item in its list, and how many there are
        self.tables = {table.name: table.markers() for table in plan.spans}

    def make(
        self, part: PartPlan, item: JsonObject, found: dict[Keys, Found], *, embedded: bool = False
    ) -> list[JsonObject]:  # fmt: skip
        """Return the Part of `item`, or several if spans cut its text. `embedded`: the item is the record."""
        pond: JsonObject = {}
        absent: list[str] = []
        spellings: JsonObject = {}
        body: JsonObject = {"type": PART_TYPES[part.part]}
        options: JsonObject = {}
        if self.kind.default_label(part.part) != part.label:
            pond[AS] = part.label
        for rule in part.rules:
            if rule.source not in found:
                value = get(item, rule.source)
                if value is not MISSING and not (rule.optional and value is None):
                    note = f"expected {rule.accepts}, found {kind_of(value)}"
                    self.context.note("source-type", f"$.{dotted(rule.source)}", note)
                if rule.fallback is not NO_FALLBACK:
                    body[rule.targets[0]] = rule.fallback
                continue
            _, value, values = found[rule.source]
            take(item, rule.source)
            keep_spelling(rule, value, values, spellings)
            for target, converted in zip(rule.targets, values, strict=True):
                if target.startswith("options."):
                    put(options, tuple(target.split(".")[1:]), converted)
                else:
                    body[target] = converted
        body.update(part.constants)
        imply(part.implied, item, self.context.session_id, self.context.project, absent)
        self._facts(part, body)
        if not embedded:
            prune(item, [r.source for r in part.rules if r.source in found])
            check_known(part.known.get(()), item, f"{self.kind.label}/{part.label}", self.context)
            if item:
                options["source"] = item
        if absent:
            pond[ABSENT] = absent
        if spellings:
            pond[SPELLING] = spellings
        if pond:
            options[POND] = pond
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
        said = self.said[part.spans]
        if said.whole or self._is_labelled(said):
            return [{**body, "provenance": INJECTED, "options": options}]
        runs = self.tables[part.spans].split(body["text"], said.typed)
        parts = [{**body, "text": text, "provenance": provenance, "options": options} for provenance, text in runs[:1]]
        for provenance, text in runs[1:]:
            joined: JsonObject = {POND: {JOINED: True}}
            parts.append({"type": "text", "text": text, "provenance": provenance, "options": joined})
        return parts

    def _is_labelled(self, said: TextFacts) -> bool:
        """Tell whether a label makes the item the harness's; a list of another length labels nothing."""
        if self.item_number is None:
            return False
        index, count = self.item_number
        for labels, others in said.labels:
            if type(labels) is list and len(labels) == count:
                label = labels[index]
                if type(label) is str and label not in others:
                    return True
        return False


def read_list(
    rule: ListPlan, record: JsonObject, maker: PartMaker, made: list[list[JsonObject]], pond: JsonObject
) -> None:  # fmt: skip
    value = get(record, rule.source)
    name = dotted(rule.source)
    if value is MISSING:
        pond.setdefault(SHAPE, {})[name] = "absent"
    elif type(value) is str and "string" in rule.shapes:
        block = next(b for b in rule.blocks if b.literal == rule.string_block and not b.conditions)
        take(record, rule.source)
        item: JsonObject = {}
        put(item, block.text_rule.source, value)
        found = fit(block, item)
        assert found is not None
        maker.item_number = (0, 1)
        made[block.message] += maker.make(block, item, found)
        if rule.shapes[0] != "string":
            pond.setdefault(SHAPE, {})[name] = "string"
    elif type(value) is list and "list" in rule.shapes:
        take(record, rule.source)
        weave, left = "", []
        for index, item in enumerate(value):
            maker.item_number = (index, len(value))
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
            pond.setdefault(WEAVE, {})[name] = weave
        if left:
            put(record, rule.source, left)
        if rule.shapes[0] != "list":
            pond.setdefault(SHAPE, {})[name] = "list"
    elif value is not None:
        maker.context.note("source-type", f"$.{name}", f"expected {' or '.join(rule.shapes)}, found {kind_of(value)}")


def _choose(rule: ListPlan, item: Json, maker: PartMaker) -> tuple[PartPlan, dict[Keys, Found]] | None:
    if type(item) is not dict or type(item.get(ITEM_KEY)) is not str:
        maker.context.drift("source-drift-kind", f"{maker.kind.label}/{kind_of(item)}", ())
        return None
    for part in rule.blocks:
        if part.literal == item[ITEM_KEY] and all(holds(c, item) for c in part.conditions):
            found = fit(part, item)
            if found is not None:
                return part, found
    if item[ITEM_KEY] not in dict(rule.left):
        maker.context.drift("source-drift-kind", f"{maker.kind.label}/{item[ITEM_KEY]}", ())
    return None
