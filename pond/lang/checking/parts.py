"""Parts: their types, provenance, one-way fields and lists."""

from __future__ import annotations

from collections.abc import Iterable

from pond.lang import ast
from pond.lang.checking.rules import RuleChecker
from pond.lang.checking.words import claimed_paths, condition_of, containers_of, label_of, labelled, nearest, unique
from pond.lang.fields import FALLBACKS, PART_TYPES, Field, allowed_parts, fields_of
from pond.lang.plan import ITEM_KEY, Condition, FactRule, Keys, ListPlan, PartPlan


class PartChecker(RuleChecker):
    """Checks what Parts are made from."""

    def _list(self, rule: ast.Parts, kind: ast.Kind, labels: set[str]) -> ListPlan:
        blocks: list[PartPlan] = []
        always: list[tuple[str, set[Condition]]] = []  # blocks that accept every item under their conditions
        for block in rule.blocks:
            made = self._part(block.type, block.provenance, block.items, kind, [(ITEM_KEY,)])
            conditions = tuple(map(condition_of, block.when))
            for value in block.names:
                literal = str(value.value)
                if made is None:
                    continue
                if any(name == literal and when <= set(conditions) for name, when in always):
                    self.fault("map-unreachable", f"`{literal}` is already taken", value.span)
                elif any(v.value == literal for v in block.names[: block.names.index(value)]):
                    self.fault("map-duplicate", f"`{literal}` is listed twice", value.span)
                if not any(r.required for r in made.rules):
                    always.append((literal, set(conditions)))
                label = unique(label_of(literal or "untyped", block.when), labels)
                blocks.append(labelled(made, label, literal, conditions, value.span.line))
        kinds = [s.kind for s in rule.shapes]
        if len(set(kinds)) != len(kinds):
            self.fault("map-shape", "each of `list` and `string` can be listed once", rule.shapes[-1].span)
        string_block = next((str(s.block.value) for s in rule.shapes if s.block), None)
        if string_block is not None:
            target = next((b for b in blocks if b.literal == string_block and not b.conditions), None)
            needed = [(r.targets, r.conversion) for r in target.rules if r.required] if target else []
            if needed != [(("text",), None)]:
                at = next(s for s in rule.shapes if s.block)
                self.fault(
                    "map-shape",
                    f"a bare string needs a block `{string_block}` whose one required claim is its text, as it is",
                    at.span,
                )
        left: dict[str, str] = {}
        for value, why in ((value, clause.because) for clause in rule.left for value in clause.names):
            literal = str(value.value)
            if literal in left:
                self.fault("map-duplicate", f"`{literal}` is listed twice", value.span)
            if any(name == literal and not when for name, when in always):
                self.fault("map-unreachable", f"`{literal}` is already taken", value.span)
            left[literal] = why
        return ListPlan(rule.source.keys, tuple(kinds), string_block, tuple(blocks), tuple(left.items()))

    def _part(
        self, kind_of: ast.PartType, provenance: ast.Provenance | None, items: tuple[ast.Item, ...], kind: ast.Kind,
        taken: list[Keys],
    ) -> PartPlan | None:  # fmt: skip
        part = kind_of.part.text
        if part not in PART_TYPES:
            self.fault(
                "map-unknown-type", f"there is no part type `{part}`", kind_of.part.span, nearest(part, PART_TYPES)
            )
            return None
        message = self._message_of(kind_of, kind)
        if provenance is None:
            self.fault(
                "map-provenance-required", f"`{part}` needs `conversational`, `injected` or `by TABLE` here",
                kind_of.part.span, rule="adapter-provenance-required",
            )  # fmt: skip
        elif provenance.table is not None and provenance.table.text not in self.tables:
            self.fault(
                "map-unknown-spans",
                f"there is no span table `{provenance.table.text}`",
                provenance.table.span,
                nearest(provenance.table.text, self.tables),
            )
        elif provenance.table is not None and part != "TextPart":
            self.fault("map-unknown-spans", f"only a TextPart can be cut by spans, not a {part}", provenance.table.span)
        rules = self._rules(items, part)
        implied = self._implied(items)
        facts, constants = self._one_way(items, part)
        self._belongs(items)
        self._no_overlap(list(claimed_paths(items)), taken)
        filled = {t for r in rules for t in r.targets} | {f.target for f in facts} | {name for name, _ in constants}
        claims = {n.text for i in items if isinstance(i, ast.Claim) for n in i.targets}
        self._filled_once(items, claims)
        # A faulty line is one mistake: the field that it meant to fill is not also reported as missing.
        stated = claims | {i.target.text for i in items if isinstance(i, ast.Lookup | ast.Generic)}
        faulty = any(not name.startswith("options.") and name not in filled for name in stated)
        for name, field in fields_of(part).items():
            if field.required and not field.positional and name not in filled and not faulty:
                help = "add `executed_by client` or `executed_by provider`" if name == "provider_executed" else ""
                self.fault(
                    "map-required-unfilled",
                    f"`{part}` needs `{name}`, and no rule fills it",
                    kind_of.part.span,
                    help,
                    "model-schema-honesty",
                )
        how = provenance.how if provenance and provenance.how != "spans" else None
        table = provenance.table.text if provenance and provenance.table else None
        claimed = [r.source for r in rules] + [r.source for r in implied]
        known = self._known(items, containers_of(claimed), part, claimed)
        return PartPlan(
            "", part, message, how, table, tuple(rules), tuple(implied), tuple(facts), tuple(constants), known
        )

    def _belongs(self, items: Iterable[ast.Item]) -> None:
        for item in items:
            if isinstance(item, ast.Part | ast.Parts | ast.RestOf):
                span = item.type.part.span if isinstance(item, ast.Part) else item.source.span
                self.fault("map-syntax", "`part`, `parts` and `rest` belong to a record kind, not inside a Part", span)

    def _filled_once(self, items: Iterable[ast.Item], filled: set[str]) -> None:
        """Refuse a one-way value for a field that already has one, and a lookup by a field that has none."""
        filled = set(filled)
        for item in items:
            match item:
                case ast.Lookup(target=target) | ast.Generic(target=target):
                    name = target.text
                case ast.ExecutedBy(who=target):
                    name = "provider_executed"
                case _:
                    continue
            if name in filled:
                self.fault("map-duplicate", f"`{name}` is filled twice", target.span)
            if (
                isinstance(item, ast.Lookup)
                and item.how == "call"
                and item.argument.text == "call_id"
                and "call_id" not in filled
            ):
                self.fault("map-lookup", "`call(call_id)` needs a rule that fills `call_id`", item.argument.span)
            filled.add(name)

    def _message_of(self, kind_of: ast.PartType, kind: ast.Kind) -> int:
        names = [n.text for n in kind.messages]
        if kind_of.message is None:
            if len(names) > 1:
                fitting = next((n for n in names if kind_of.part.text in allowed_parts(n)), names[0])
                self.fault(
                    "map-message-unclear", f"`{kind_of.part.text}` must say which message it belongs to",
                    kind_of.part.span, f"write `{fitting}.{kind_of.part.text}`",
                )  # fmt: skip
                return 0
            index = 0
        elif kind_of.message.text in names:
            index = names.index(kind_of.message.text)
        else:
            self.fault(
                "map-unknown-type",
                f"this kind fills no `{kind_of.message.text}`",
                kind_of.message.span,
                nearest(kind_of.message.text, names),
            )
            return 0
        allowed = allowed_parts(names[index])
        if names[index] != "SystemMessage" and kind_of.part.text not in allowed:
            self.fault(
                "map-part-not-allowed",
                f"`{names[index]}` does not allow `{kind_of.part.text}`",
                kind_of.part.span,
                "it allows " + ", ".join(sorted(allowed)),
            )
        return index

    def _one_way(self, items: Iterable[ast.Item], part: str) -> tuple[list[FactRule], list[tuple[str, object]]]:
        known = fields_of(part)
        facts: list[FactRule] = []
        constants: list[tuple[str, object]] = []
        for item in items:
            match item:
                case ast.Lookup(target=target, how="literal", argument=argument):
                    self._literal(argument.span)
                case ast.Lookup(target=target, how=how, argument=argument):
                    if target.text not in known or known[target.text].positional:
                        self._unknown_target(part, target, known)
                    elif how == "call" and argument.text != "call_id":
                        self.fault("map-lookup", f"`call` looks up `call_id`, found `{argument.text}`", argument.span)
                    elif how == "fact":
                        self._fact(argument)
                    self._absence(part, target, known, constants)
                    facts.append(FactRule(target.text, "call" if how == "call" else "fact", argument.text))
                case ast.Generic(target=target):
                    if (part, target.text) not in FALLBACKS or target.text == "content":
                        self.fault(
                            "map-literal-source",
                            f"the spec names no generic value for `{target.text}`",
                            target.span,
                            rule="model-no-synthesis",
                        )
                    else:
                        constants.append((target.text, FALLBACKS[part, target.text]))
                case ast.ExecutedBy(who=who):
                    if part != "ToolCallPart" or who.text not in ("client", "provider"):
                        self.fault(
                            "map-unknown-target", "expected `executed_by client|provider` in a ToolCallPart", who.span
                        )
                    constants.append(("provider_executed", who.text == "provider"))
                case _:
                    pass
        return facts, constants

    def _absence(
        self, part: str, target: ast.Name, known: dict[str, Field], constants: list[tuple[str, object]]
    ) -> None:
        """Make sure that a field filled by a lookup may be absent: the lookup can miss."""
        if (part, target.text) in FALLBACKS:
            constants.append((target.text, FALLBACKS[part, target.text]))
        elif target.text in known and known[target.text].required:
            self.fault(
                "map-required-unfilled", f"`{part}` requires `{target.text}`, and a lookup can miss", target.span,
                rule="model-schema-honesty",
            )  # fmt: skip
