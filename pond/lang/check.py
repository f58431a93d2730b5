"""Mapping + schema -> Plan, or diagnostics. Everything the language makes impossible is refused here."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pond.diagnostics.diagnostic import Diagnostic, MappingError
from pond.diagnostics.span import Span
from pond.lang import ast
from pond.lang.conversions import CONVERSIONS
from pond.lang.fields import FALLBACKS, Field, allowed_parts, fields_of
from pond.lang.plan import (
    CARRY,
    ITEM_KEY,
    NO_FALLBACK,
    PART_TYPES,
    ROLES,
    CarriedPlan,
    Condition,
    FactRule,
    ImpliedRule,
    Keys,
    KindPlan,
    ListPlan,
    OriginPlan,
    PartPlan,
    Plan,
    Rule,
    SpanPlan,
    dotted,
)
from pond.lang.runtime import REPEAT

MOST_ERRORS = 20
_KNOWN: TypeAlias = dict[Keys, frozenset[str]]
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_ITEM_WORDS = {"part", "generic", "executed_by", "keeps"}  # keys so named must be quoted
_HOLE = re.compile(r"\{([^{}]+)\}")


def check(mapping: ast.Mapping) -> Plan:
    """Return the plan of `mapping`; raise MappingError with every fault found, in source order."""
    checker = _Checker(mapping)
    plan = checker.plan()
    if checker.faults:
        # A kind with several names is looked at once for each; a mistake in it is still one mistake.
        found = dict.fromkeys(checker.faults)
        faults = sorted(found, key=lambda d: (d.span.line, d.span.column) if d.span else (0, 0))
        raise MappingError(*faults[:MOST_ERRORS])
    return plan


class _Checker:
    def __init__(self, mapping: ast.Mapping) -> None:
        self.mapping = mapping
        self.faults: list[Diagnostic] = []
        self.tables = {table.name.text for table in mapping.spans}
        self.because: list[tuple[str, str, str]] = []
        clauses: list[ast.Kind | ast.Carries] = [*mapping.kinds, *mapping.carries]
        kinds = [(str(v.value), clause.when) for clause in clauses for v in clause.names]
        kinds += [("untyped", kind.when) for kind in mapping.kinds if not kind.names]
        # A kind can be spoken of by its name, or by its label where only some records of that name are meant.
        self.kind_names = {name for name, _ in kinds} | {_label(name, when) for name, when in kinds}

    def fault(self, code: str, message: str, span: Span, help: str = "", rule: str = "") -> None:
        self.faults.append(Diagnostic(code, message, span, help=help, rule=rule))

    # --- the whole file ---------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        m = self.mapping
        top = m.client.span
        if m.records is None:
            self.fault("map-syntax", "expected `records by KEY`, found none", top)
        if m.rest is None:
            self.fault(
                "map-rest-missing", "there is no `rest <-> options.source`", top,
                "every field no rule claims goes there", "model-lossless-projection",
            )  # fmt: skip
        elif m.rest.text != "options.source":
            self.fault("map-unknown-target", f"expected `options.source`, found `{m.rest.text}`", m.rest.span)
        otherwise = m.otherwise
        if otherwise is None:
            self.fault(
                "map-otherwise-missing", "there is no `otherwise carry { … }`", top,
                "a record kind nobody has seen must be kept", "model-lossless-projection",
            )  # fmt: skip
            otherwise = ast.Otherwise((), top)
        spans = tuple(self._span_table(t) for t in self._distinct(m.spans, lambda t: t.name))
        kinds = [plan for kind in m.kinds for plan in self._kind(kind)]
        self._reachable(kinds)
        carried = self._carries(kinds)
        for path in m.document or ():
            if len(path.keys) > 1:
                self.fault("map-syntax", f"expected one key, found `{path}`", path.span)
        return Plan(
            client=str(m.client.value),
            number=m.number,
            files=tuple(str(v.value) for v in m.files),
            ignores=tuple((str(v.value), why) for v, why in m.ignores),
            detect=tuple(tuple(map(self._condition, tests)) for tests in m.detect),
            discriminator=m.records.keys if m.records else (),
            document=(m.document[0].keys[0], m.document[1].keys[0]) if m.document else None,
            beside=tuple(str(v.value) for v in m.beside),
            facts=tuple(n.text for n in m.facts),
            session=self._session(m.session, top),
            spans=spans,
            carried=tuple(carried),
            kept_because=tuple(self.because),
            otherwise=self._otherwise(otherwise),
            kinds=tuple(kinds),
            digest=hashlib.sha256(m.text.encode()).hexdigest()[:16],
        )

    def _distinct(self, items: Iterable[ast.SpanTable], name: object) -> list[ast.SpanTable]:
        seen: dict[str, ast.SpanTable] = {}
        for table in items:
            if table.name.text in seen:
                self.fault("map-duplicate", f"span table `{table.name.text}` is stated twice", table.name.span)
            else:
                seen[table.name.text] = table
        return list(seen.values())

    def _condition(self, test: ast.Test) -> Condition:
        return Condition(test.path.keys, test.op, tuple(v.value for v in test.values))

    def _carries(self, kinds: list[KindPlan]) -> list[CarriedPlan]:
        out: list[CarriedPlan] = []
        for clause in self.mapping.carries:
            conditions = tuple(map(self._condition, clause.when))
            for value in clause.names:
                literal = str(value.value)
                if any(literal == other.literal and conditions == other.conditions for other in out):
                    self.fault("map-duplicate", f"`{literal}` is carried twice", value.span)
                taken = next((k for k in kinds if k.literal == literal and set(k.conditions) <= set(conditions)), None)
                if taken is not None:
                    self.fault("map-unreachable", f"`{literal}` is already taken by line {taken.line}", value.span)
                out.append(CarriedPlan(literal, conditions, clause.because))
        return out

    def _span_table(self, table: ast.SpanTable) -> SpanPlan:
        openings: dict[str, Span] = {}
        for rule in table.rules:
            for value in (rule.open, rule.close):
                if value is not None and not str(value.value).strip():
                    self.fault("map-marker", "expected a marker, found an empty text", value.span)
            if rule.open is not None:
                text = str(rule.open.value)
                if text in openings:
                    self.fault("map-marker", f"`{text}` is listed twice in `{table.name.text}`", rule.open.span)
                openings[text] = rule.open.span
            if rule.open is not None and rule.close is not None and rule.open.value == rule.close.value:
                self.fault("map-marker", "the closing marker equals the opening one", rule.close.span)

        def texts(how: str) -> tuple[str, ...]:
            return tuple(str(r.open.value) for r in table.rules if r.how == how and r.open)

        def pairs(how: str) -> tuple[tuple[str, str], ...]:
            return tuple(
                (str(r.open.value), str(r.close.value)) for r in table.rules if r.how == how and r.open and r.close
            )

        whens = tuple(self._condition(r.test) for r in table.rules if r.test is not None)
        return SpanPlan(table.name.text, whens, pairs("between"), pairs("wrap"), texts("prefix"), texts("exact"))

    def _reachable(self, kinds: list[KindPlan]) -> None:
        """Refuse a kind that an earlier one without conditions, or with the same ones, always takes first."""
        seen: dict[str | None, list[KindPlan]] = {}
        labels: set[str] = set()
        for kind in kinds:
            for earlier in seen.setdefault(kind.literal, []):
                if not earlier.conditions or set(earlier.conditions) <= set(kind.conditions):
                    code = "map-duplicate" if earlier.conditions == kind.conditions else "map-unreachable"
                    what = f"`{kind.label}` is already taken by line {earlier.line}"
                    self.fault(code, what, Span(self.mapping.file, kind.line, 3, 1))
                    break
            else:
                if kind.label in labels or kind.label in (CARRY, REPEAT):
                    self.fault(
                        "map-duplicate",
                        f"two kinds would be called `{kind.label}`",
                        Span(self.mapping.file, kind.line, 3, 1),
                    )
            labels.add(kind.label)
            seen[kind.literal].append(kind)

    # --- session ----------------------------------------------------------------------------------------------------

    def _session(self, facts: tuple[ast.Fact, ...], top: Span) -> tuple[tuple[str, tuple[OriginPlan, ...]], ...]:
        known = fields_of("Session")
        out: list[tuple[str, tuple[OriginPlan, ...]]] = []
        for fact in facts:
            name = fact.target.text
            if name not in known or known[name].positional:
                self._unknown_target("Session", fact.target, known)
                continue
            if name in dict(out):
                self.fault("map-duplicate", f"`{name}` is filled twice", fact.target.span)
            out.append((name, tuple(self._origin(origin, fact.target, known[name]) for origin in fact.origins)))
        for name in ("id", "project"):
            if facts and name not in dict(out) and not any(f.target.text == name for f in facts):
                self.fault(
                    "map-required-unfilled", f"`Session` needs `{name}`, and no line fills it", facts[0].target.span,
                    rule="model-schema-honesty",
                )  # fmt: skip
        if not facts:
            self.fault(
                "map-required-unfilled", "there is no `session { … }`", top,
                "a session needs at least `id` and `project`", "model-schema-honesty",
            )  # fmt: skip
        return tuple(out)

    def _origin(self, origin: ast.Origin, target: ast.Name, field: Field) -> OriginPlan:
        if field.type == "timestamp" and getattr(origin, "conversion", None) is None:
            self.fault(
                "map-type-mismatch",
                f"`{target.text}` expects timestamp, the source value is taken as it is",
                target.span,
                "say how it is spelled: `as rfc3339`",
            )
        match origin:
            case ast.FromPath(name=name):
                self._capture(name)
                return OriginPlan(capture=name.text)
            case ast.FromTemplate(text=value):
                holes = _HOLE.findall(str(value.value))
                if not holes:
                    self._literal(value.span)
                for hole in holes:
                    if hole.startswith("path."):
                        self._capture(ast.Name(hole[5:], value.span))
                return OriginPlan(template=str(value.value))
            case ast.FromFirst(source=source, of=of, conversion=conversion, where=where):
                if conversion is not None:
                    self._fact_conversion(conversion, target, field)
                if where is not None:
                    self._capture(where.name)
                if of is not None and of.value not in self.kind_names:
                    self.fault(
                        "map-lookup", f"there is no kind `{of.value}`", of.span, _near(str(of.value), self.kind_names)
                    )
                return OriginPlan(
                    first=source.keys,
                    of=str(of.value) if of else None,
                    conversion=conversion.text if conversion else None,
                    where=where.name.text if where else None,
                )

    def _fact_conversion(self, name: ast.Name, target: ast.Name, field: Field) -> None:
        conversion = CONVERSIONS.get(name.text)
        if conversion is None:
            self._unknown_conversion(name)
        elif conversion.takes_argument or len(conversion.gives) != 1:
            self.fault("map-type-mismatch", f"`{name.text}` cannot fill one session field", name.span)
        elif conversion.gives[0] not in (field.type, "any"):
            self.fault(
                "map-type-mismatch",
                f"`{target.text}` expects {field.type}, `{name.text}` gives {conversion.gives[0]}",
                name.span,
            )

    def _capture(self, name: ast.Name) -> None:
        captures = {h.rstrip("*") for v in self.mapping.files for h in _HOLE.findall(str(v.value))} | {"directory"}
        if name.text not in captures:
            self.fault("map-lookup", f"no file pattern captures `{name.text}`", name.span, _near(name.text, captures))

    # --- kinds ------------------------------------------------------------------------------------------------------

    def _otherwise(self, otherwise: ast.Otherwise) -> KindPlan:
        for item in otherwise.items:
            if not isinstance(item, ast.Claim | ast.Implied):
                self.fault("map-syntax", "`otherwise carry` takes only envelope rules", otherwise.span)
        kind = ast.Kind((), (), (ast.Name("SystemMessage", otherwise.span),), otherwise.items, otherwise.span)
        return self._one_kind(kind, None, CARRY)

    def _kind(self, kind: ast.Kind) -> list[KindPlan]:
        for name in kind.messages:
            if name.text not in ROLES:
                self.fault(
                    "map-unknown-type", f"there is no message type `{name.text}`", name.span, _near(name.text, ROLES)
                )
                return []
        self._messages(kind.messages)
        literals: list[str | None] = [str(v.value) for v in kind.names] or [None]
        return [self._one_kind(kind, literal, _label(literal or "untyped", kind.when)) for literal in literals]

    def _messages(self, names: tuple[ast.Name, ...]) -> None:
        """Refuse combinations of messages that one record cannot fill."""
        if len(names) > 2:
            self.fault("map-message-unclear", f"a record can fill two messages, found {len(names)}", names[2].span)
        elif len(names) == 2 and names[0].text == names[1].text:
            self.fault("map-duplicate", f"`{names[1].text}` is listed twice", names[1].span)
        elif len(names) == 2 and (odd := next((n for n in names if n.text == "SystemMessage"), None)):
            self.fault(
                "map-part-not-allowed", "`SystemMessage` has text, not Parts, so it cannot share a record", odd.span
            )

    def _one_kind(self, kind: ast.Kind, literal: str | None, label: str) -> KindPlan:
        role = kind.messages[0].text
        rules = self._rules(kind.items, role)
        implied = self._implied(kind.items)
        lists, parts, rests = [], [], []
        labels: set[str] = set()
        for item in kind.items:
            match item:
                case ast.Parts():
                    lists.append(self._list(item, kind, labels))
                case ast.Part():
                    made = self._part(item.type, item.provenance, item.items, kind, [])
                    if made:
                        parts.append(_with(made, _unique("self", labels), None, (), item.span.line))
                case ast.RestOf():
                    if not re.fullmatch(r"options\.[a-z_]+", item.target.text) or item.target.text in (
                        "options.source", "options.pond",
                    ):  # fmt: skip
                        self.fault(
                            "map-unknown-target",
                            f"expected `options.NAME`, found `{item.target.text}`",
                            item.target.span,
                        )
                    rests.append((item.source.keys, item.target.text.partition(".")[2]))
                case ast.Lookup(target=name) | ast.Generic(target=name) | ast.ExecutedBy(who=name):
                    self.fault("map-unknown-target", "this rule belongs inside a Part", name.span)
                case _:
                    pass
        if role == "SystemMessage" and (lists or parts) and label != CARRY:
            self.fault("map-part-not-allowed", "`SystemMessage` has text, not Parts", kind.messages[0].span)
        self._overlaps(kind, literal)
        containers = _containers(
            [r.source for r in rules] + [r.source for r in implied] + [x.source for x in lists]
            + [(*keys, "*") for keys, _ in rests] + [r.source for p in parts for r in p.rules if r.required]
            + [r.source for p in parts for r in p.implied]
        )  # fmt: skip
        if label == CARRY:
            containers = ()
        claimed = [r.source for r in rules] + [r.source for r in implied] + [x.source for x in lists]
        claimed += [keys for p in parts for keys in p.claimed]
        known = self._known(kind.items, containers, label, claimed)
        for item in kind.items:
            if isinstance(item, ast.RestOf):
                depth = len(item.source.keys)
                inside = {p[depth] for p in claimed if len(p) > depth and p[:depth] == item.source.keys}
                known[item.source.keys] = frozenset(n.text for n in item.known) | inside
        return KindPlan(
            label, literal, tuple(map(self._condition, kind.when)), tuple(n.text for n in kind.messages),
            tuple(rules), tuple(implied), tuple(lists), tuple(parts), tuple(rests), containers, known, kind.span.line,
        )  # fmt: skip

    def _known(
        self, items: Iterable[ast.Item], containers: Iterable[Keys], label: str, claimed: Iterable[Keys]
    ) -> _KNOWN:  # fmt: skip
        """Return, for the record and each of its containers, the keys known to stay in the residue."""
        known: dict[Keys, set[str]] = {(): set()} | {keys: set() for keys in containers}
        for item in items:
            if isinstance(item, ast.Keeps):
                for kept in item.names:
                    known[()].add(kept.name.text)
                    if kept.inside:
                        known.setdefault((kept.name.text,), set()).update(n.text for n in kept.inside)
                    if item.because is not None:
                        self.because.append((label, kept.name.text, item.because))
        for keys in (*containers, *claimed):
            known.setdefault(keys[:-1], set()).add(keys[-1])
        # A container whose inside nobody described is opaque: its own name is all that is checked.
        described = {()} | {(k.name.text,) for i in items if isinstance(i, ast.Keeps) for k in i.names if k.inside}
        return {keys: frozenset(names) for keys, names in known.items() if keys in described}

    def _overlaps(self, kind: ast.Kind, literal: str | None) -> None:
        claimed = list(_claimed(kind.items))
        for item in kind.items:
            if isinstance(item, ast.Part):
                claimed += _claimed(item.items)
        taken = [self.mapping.records.keys] if literal is not None and self.mapping.records is not None else []
        self._no_overlap(claimed, taken)
        rests = [item for item in kind.items if isinstance(item, ast.RestOf)]
        spaces = {t.text.rpartition(".")[0] for i in kind.items if isinstance(i, ast.Claim) for t in i.targets}
        for index, rest in enumerate(rests):
            keys, target = rest.source.keys, rest.target
            if any(keys[: len(path)] == path for path in (*taken, *(path for path, _ in claimed))):
                self.fault("map-overlap", f"`{dotted(keys)}` is claimed and has a rest", rest.source.span)
            for other in rests[:index]:
                if _nested(keys, other.source.keys):
                    self.fault(
                        "map-overlap",
                        f"`{dotted(keys)}` and `{dotted(other.source.keys)}` both have a rest",
                        rest.source.span,
                    )
                if target.text == other.target.text:
                    self.fault("map-duplicate", f"`{target.text}` is filled twice", target.span)
            if target.text in spaces:
                self.fault(
                    "map-overlap",
                    f"`{target.text}` holds a rest, so no claim can go there",
                    target.span,
                    "give the rest a name of its own",
                )

    def _no_overlap(self, claimed: list[tuple[Keys, Span]], taken: list[Keys]) -> None:
        """Refuse a claim inside, around or spelled like an earlier one, or like a path the codec itself has `taken`."""
        earlier = list(taken)
        for keys, span in claimed:
            # Marks name a path by its dotted spelling, so `"a.b"` and `a.b` could not be told apart.
            other = next((o for o in earlier if _nested(keys, o) or dotted(keys) == dotted(o)), None)
            if other is not None:
                self.fault(
                    "map-overlap", f"`{dotted(keys)}` and `{dotted(other)}` are claimed by two rules", span,
                    "a value can be claimed once", "adapter-native-restore-lossless",
                )  # fmt: skip
            earlier.append(keys)

    # --- rules ------------------------------------------------------------------------------------------------------

    def _rules(self, items: Iterable[ast.Item], owner: str) -> list[Rule]:
        known = fields_of(owner)
        rules: list[Rule] = []
        filled: dict[str, Span] = {}
        for item in items:
            if not isinstance(item, ast.Claim):
                continue
            if len(item.source.keys) == 1 and (
                item.source.keys[0] in ("true", "false", "null")
                or (
                    item.source.quoted
                    and _NAME.fullmatch(item.source.keys[0])
                    and item.source.keys[0] not in _ITEM_WORDS
                )
            ):
                self._literal(item.source.span)
                continue
            rule = self._rule(item, owner, known)
            if rule is None:
                continue
            for target in item.targets:
                if target.text in filled:
                    self.fault("map-duplicate", f"`{target.text}` is filled twice", target.span)
                filled[target.text] = target.span
            rules.append(rule)
        return rules

    def _rule(self, claim: ast.Claim, owner: str, known: dict[str, Field]) -> Rule | None:
        wanted: list[Field] = []
        for target in claim.targets:
            found = self._target(owner, target, known)
            if found is None:
                return None
            wanted.append(found)
        name, argument = None, None
        if claim.conversion is not None:
            conversion = CONVERSIONS.get(claim.conversion.name.text)
            if conversion is None:
                self._unknown_conversion(claim.conversion.name)
                return None
            name, argument = conversion.name, claim.conversion.argument
            if conversion.write is None:
                self.fault(
                    "map-not-invertible", f"`{name}` has no inverse, so `<->` cannot write `{claim.source}` back",
                    claim.conversion.name.span, "use a conversion with an inverse, or a one-way fact",
                    "adapter-native-restore-lossless",
                )  # fmt: skip
                return None
            if conversion.takes_argument != (argument is not None):
                self.fault(
                    "map-type-mismatch",
                    f"`{name}` {'needs' if conversion.takes_argument else 'takes no'} argument",
                    claim.conversion.name.span,
                )
            if len(conversion.gives) != len(wanted):
                self.fault(
                    "map-type-mismatch",
                    f"`{name}` gives {len(conversion.gives)} values, found {len(wanted)} fields",
                    claim.conversion.name.span,
                )
                return None
            for gives, field, target in zip(conversion.gives, wanted, claim.targets, strict=True):
                if field.type != "any" and gives != field.type:
                    self.fault(
                        "map-type-mismatch",
                        f"`{target.text}` expects {field.type}, `{name}` gives {gives}",
                        target.span,
                    )
        elif len(wanted) != 1:
            self.fault("map-type-mismatch", "several fields from one value need a conversion", claim.targets[1].span)
            return None
        elif wanted[0].type == "timestamp":
            self.fault(
                "map-type-mismatch",
                f"`{claim.targets[0].text}` expects timestamp, the source value is taken as it is",
                claim.targets[0].span,
                "say how it is spelled: `as rfc3339`",
            )
        fallback = FALLBACKS.get((owner, claim.targets[0].text), NO_FALLBACK) if len(wanted) == 1 else NO_FALLBACK
        required = any(f.required for f in wanted) and fallback is NO_FALLBACK and owner in PART_TYPES
        if claim.optional and required:
            self.fault(
                "map-required-unfilled",
                f"`{owner}` requires `{claim.targets[0].text}`, so its source cannot be optional",
                claim.source.span,
                "drop the `?`",
                "model-schema-honesty",
            )
        accepts = wanted[0].type
        return Rule(
            claim.source.keys,
            tuple(t.text for t in claim.targets),
            name,
            argument,
            accepts,
            required,
            fallback,
            claim.source.span.line,
            claim.optional,
        )

    def _target(self, owner: str, target: ast.Name, known: dict[str, Field]) -> Field | None:
        head, _, tail = target.text.partition(".")
        if head == "options":
            if re.fullmatch(r"[a-z_]+\.[A-Za-z_]+", tail) and not tail.startswith(("source.", "pond.")):
                return Field("any", required=False, positional=False)
            self.fault("map-unknown-target", f"expected `options.PROVIDER.KEY`, found `{target.text}`", target.span)
            return None
        field = known.get(target.text)
        if field is None or (field.positional and target.text != "id") or (target.text == "id" and owner in PART_TYPES):
            self._unknown_target(owner, target, known)
            return None
        return field

    def _implied(self, items: Iterable[ast.Item]) -> list[ImpliedRule]:
        out = []
        for item in items:
            if isinstance(item, ast.Implied):
                if item.session_field is not None and item.session_field.text not in ("id", "project"):
                    self.fault(
                        "map-unknown-target",
                        f"`session.{item.session_field.text}` cannot be implied",
                        item.session_field.span,
                        "`session.id` and `session.project` can",
                    )
                value = item.value.value if item.value else None
                out.append(
                    ImpliedRule(item.source.keys, value, item.session_field.text if item.session_field else None)
                )
        return out

    # --- parts ------------------------------------------------------------------------------------------------------

    def _list(self, rule: ast.Parts, kind: ast.Kind, labels: set[str]) -> ListPlan:
        blocks: list[PartPlan] = []
        always: list[tuple[str, set[Condition]]] = []  # blocks that refuse no item that meets their conditions
        for block in rule.blocks:
            made = self._part(block.type, block.provenance, block.items, kind, [(ITEM_KEY,)])
            conditions = tuple(map(self._condition, block.when))
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
                label = _unique(_label(literal or "untyped", block.when), labels)
                blocks.append(_with(made, label, literal, conditions, value.span.line))
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
        return ListPlan(rule.source.keys, tuple(kinds), string_block, tuple(blocks))

    def _part(
        self, kind_of: ast.PartType, provenance: ast.Provenance | None, items: tuple[ast.Item, ...], kind: ast.Kind,
        taken: list[Keys],
    ) -> PartPlan | None:  # fmt: skip
        part = kind_of.part.text
        if part not in PART_TYPES:
            self.fault(
                "map-unknown-type", f"there is no part type `{part}`", kind_of.part.span, _near(part, PART_TYPES)
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
                _near(provenance.table.text, self.tables),
            )
        elif provenance.table is not None and part != "TextPart":
            self.fault("map-unknown-spans", f"only a TextPart can be cut by spans, not a {part}", provenance.table.span)
        rules = self._rules(items, part)
        implied = self._implied(items)
        facts, constants = self._one_way(items, part)
        self._belongs(items)
        self._no_overlap(list(_claimed(items)), taken)
        filled = {t for r in rules for t in r.targets} | {f.target for f in facts} | {name for name, _ in constants}
        claims = {n.text for i in items if isinstance(i, ast.Claim) for n in i.targets}
        self._filled_once(items, claims)
        # A faulty line is one mistake: what it meant to fill is not reported as missing too.
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
        known = self._known(items, _containers(claimed), part, claimed)
        return PartPlan(
            "", part, message, how, table, tuple(rules), tuple(implied), tuple(facts), tuple(constants), known
        )

    def _belongs(self, items: Iterable[ast.Item]) -> None:
        for item in items:
            if isinstance(item, ast.Part | ast.Parts | ast.RestOf):
                span = item.type.part.span if isinstance(item, ast.Part) else item.source.span
                self.fault("map-syntax", "`part`, `parts` and `rest` belong to a record kind, not inside a Part", span)

    def _filled_once(self, items: Iterable[ast.Item], filled: set[str]) -> None:
        """Refuse a one-way value for a field that has a value already, and a lookup by a field that has none."""
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
                _near(kind_of.message.text, names),
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
                    elif how == "fact" and argument.text not in {n.text for n in self.mapping.facts}:
                        self.fault("map-lookup", f"no pass provides the fact `{argument.text}`", argument.span)
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
        """See to it that a field filled by a lookup may be absent: the lookup can miss."""
        if (part, target.text) in FALLBACKS:
            constants.append((target.text, FALLBACKS[part, target.text]))
        elif target.text in known and known[target.text].required:
            self.fault(
                "map-required-unfilled", f"`{part}` requires `{target.text}`, and a lookup can miss", target.span,
                rule="model-schema-honesty",
            )  # fmt: skip

    # --- messages ---------------------------------------------------------------------------------------------------

    def _literal(self, span: Span) -> None:
        self.fault(
            "map-literal-source", "a canonical field can only be filled from the record", span,
            "delete this line; an absent value stays absent", "model-no-synthesis",
        )  # fmt: skip

    def _unknown_target(self, owner: str, target: ast.Name, known: dict[str, Field]) -> None:
        names = [n for n, f in known.items() if not f.positional]
        self.fault(
            "map-unknown-target",
            f"`{owner}` has no field `{target.text}` a mapping can fill",
            target.span,
            _near(target.text, names),
        )

    def _unknown_conversion(self, name: ast.Name) -> None:
        self.fault(
            "map-unknown-conversion", f"there is no conversion `{name.text}`", name.span, _near(name.text, CONVERSIONS)
        )


def _near(word: str, words: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(words), 1)
    return f"did you mean `{close[0]}`?" if close else ""


def _label(name: str, when: Iterable[ast.Test]) -> str:
    return name + "".join(f"/{_condition_word(test)}" for test in when)


def _nested(keys: Keys, other: Keys) -> bool:
    shorter = min(len(keys), len(other))
    return keys[:shorter] == other[:shorter]


def _claimed(items: Iterable[ast.Item]) -> Iterator[tuple[Keys, Span]]:
    """Yield the source paths that these rules claim, Parts within them not included."""
    for item in items:
        if isinstance(item, ast.Claim | ast.Implied | ast.Parts):
            yield item.source.keys, item.source.span


def _condition_word(test: ast.Test) -> str:
    if test.op == "in":
        # Only the first value names the kind: adding one to the list must not rename what is already stored.
        return str(test.values[0].value) + ("+" if len(test.values) > 1 else "")
    return test.path.keys[-1] if test.op == "has" else f"no-{test.path.keys[-1]}"


def _unique(label: str, taken: set[str]) -> str:
    name, number = label, 1
    while name in taken:
        number += 1
        name = f"{label}#{number}"
    taken.add(name)
    return name


def _containers(paths: Iterable[Keys]) -> tuple[Keys, ...]:
    found = {path[:depth] for path in paths for depth in range(1, len(path))}
    return tuple(sorted(found, key=lambda keys: (len(keys), keys)))


def _with(part: PartPlan, label: str, literal: str | None, conditions: tuple[Condition, ...], line: int) -> PartPlan:
    return PartPlan(
        label, part.part, part.message, part.provenance, part.spans, part.rules, part.implied, part.facts,
        part.constants, part.known, literal, conditions, line,
    )  # fmt: skip
