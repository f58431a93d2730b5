"""The writer function of one record kind."""

from __future__ import annotations

from collections.abc import Iterable

from pond.lang.emit.source import Source, variable_for
from pond.lang.plan import (
    ITEM_KEY,
    NO_FALLBACK,
    PART_TYPES,
    ROLES,
    ImpliedRule,
    Keys,
    KindPlan,
    ListPlan,
    PartPlan,
    Plan,
    Rule,
    dotted,
)


class Writer:
    """Emits the way back."""

    def __init__(self, plan: Plan, kind: KindPlan, name: str, out: Source) -> None:
        self.plan, self.kind, self.name, self.out = plan, kind, name, out

    def emit(self) -> None:
        out, kind = self.out, self.kind
        out()
        out()
        with out.block(f"def write_{self.name}(events, c):"):
            out("first = events[0]")
            out("options = first['options']")
            out("pond = options['pond']")
            out("r = options.get('source')")
            with out.block("if r is None:"):
                out("r = {}")
            out("absent = pond['absent'] if 'absent' in pond else ()")
            out("spelling = pond['spelling'] if 'spelling' in pond else EMPTY")
            holders = self._holders()
            if kind.literal is not None:
                self._put("r", holders, self.plan.discriminator, repr(kind.literal))
            for rule in kind.rules:
                self._rule(rule, "first", "r", holders, "spelling")
            self._implied(kind.implied, "r", holders)
            self._parts(holders)
            for listed in kind.lists:
                self._list(listed, holders)
            out("return r")

    def _holders(self) -> dict[Keys, str]:
        out, kind = self.out, self.kind
        holders: dict[Keys, str] = {(): "r"}
        rests = dict(kind.rests)
        for keys in kind.containers:
            var = variable_for(keys)
            parent = holders[keys[:-1]]
            if keys in rests:
                out(f"{var} = options.get({rests[keys]!r})")
                with out.block(f"if {var} is None:"):
                    out(f"{var} = {{}}")
                out(f"{parent}[{keys[-1]!r}] = {var}")
            else:
                out(f"{var} = {parent}.setdefault({keys[-1]!r}, {{}})")
            holders[keys] = var
        return holders

    def _absent(self, source: Keys, base: str, holders: dict[Keys, str]) -> str:
        """Return a condition: nothing stands at `source` yet."""
        if source[:-1] in holders:
            return f"{source[-1]!r} not in {holders[source[:-1]]}"
        return f"at({base}, {', '.join(map(repr, source))}) is MISSING"

    def _put(self, base: str, holders: dict[Keys, str], keys: Keys, value: str) -> None:
        if keys[:-1] in holders:
            self.out(f"{holders[keys[:-1]]}[{keys[-1]!r}] = {value}")
            return
        way = "".join(f".setdefault({key!r}, {{}})" for key in keys[:-1])
        self.out(f"{base}{way}[{keys[-1]!r}] = {value}")

    def _rule(
        self, rule: Rule, owner: str, base: str, holders: dict[Keys, str], spelling: str, absent: str = "absent"
    ) -> None:
        out, name = self.out, dotted(rule.source)
        with out.block(f"if {self._absent(rule.source, base, holders)} and {name!r} not in {absent}:"):
            if rule.targets == ("id",):
                self._put(base, holders, rule.source, "pond.get('id', first['id'])")
                return
            for index, target in enumerate(rule.targets):
                found = f"{owner}.get({target!r}, MISSING)"
                if target.startswith("options."):
                    _, space, key = target.split(".")
                    space = f"{'options' if owner == 'first' else 'o'}.get({space!r})"
                    found = f"v.get({key!r}, MISSING) if type(v := {space}) is dict else MISSING"
                out(f"t{index} = {found}")
            present = " and ".join(f"t{i} is not MISSING" for i in range(len(rule.targets)))
            if rule.conversion == "rfc3339":
                with out.block(f"if {present}:"):
                    self._put(base, holders, rule.source, f"{spelling}.get({name!r}, t0)")
            elif rule.conversion is not None:
                with out.block(f"if {present}:"):
                    values = "(" + ", ".join(f"t{i}" for i in range(len(rule.targets))) + ",)"
                    self._put(
                        base,
                        holders,
                        rule.source,
                        f"W_{rule.conversion}({values}, {spelling}.get({name!r}, NO_MARK), {rule.argument!r})",
                    )
            elif rule.fallback is NO_FALLBACK:
                with out.block(f"if {present}:"):
                    self._put(base, holders, rule.source, "t0")
            else:
                differs = "t0 is not False" if rule.fallback is False else f"t0 != {rule.fallback!r}"
                with out.block(f"if {present} and ({differs} or {name!r} in {spelling}):"):
                    self._put(base, holders, rule.source, "t0")

    def _implied(
        self, rules: Iterable[ImpliedRule], base: str, holders: dict[Keys, str], absent: str = "absent"
    ) -> None:
        for rule in rules:
            value = repr(rule.value)
            if rule.session_field:
                value = "c.session_id" if rule.session_field == "id" else "c.project"
            with self.out.block(
                f"if {self._absent(rule.source, base, holders)} and {dotted(rule.source)!r} not in {absent}:"
            ):
                self._put(base, holders, rule.source, value)

    def _parts(self, holders: dict[Keys, str]) -> None:
        """Emit the loop that turns Parts back into list items, one queue per list and message."""
        out, kind = self.out, self.kind
        queues = [f"q{n}_{m}" for n in range(len(kind.lists)) for m in range(len(kind.messages))]
        for queue in queues:
            out(f"{queue} = []")
        if not kind.all_parts:
            return
        defaults = {PART_TYPES[name]: kind.default_label(name) for name in PART_TYPES if kind.default_label(name)}
        one = len(kind.messages) == 1
        # Nothing can be joined where there is one Part, as there mostly is.
        parts = "events[1:] if len(events) < 3 else parts_of(events)" if one else "placed_parts(events)"
        label = f"{out.constant(repr(defaults))}[p['type']]"
        with out.block(f"for {'p' if one else 'role, p'} in {parts}:"):
            out("o = p['options']")
            out("marks = o.get('pond', EMPTY)")
            with out.block("if marks is EMPTY:"):
                out(f"ps, pa, label = EMPTY, (), {label}")
            with out.block("else:"):
                out("ps = marks.get('spelling', EMPTY)")
                out("pa = marks.get('absent', ())")
                out(f"label = marks.get('as') or {label}")
            for index, part in enumerate(kind.all_parts):
                with out.block(f"{'if' if index == 0 else 'elif'} label == {part.label!r}:"):
                    self._part(part, holders)
            with out.block("else:"):
                out(f"raise Broken({f'`{kind.label}` has no block '!r} + f'`{{label}}`')")

    def _part(self, part: PartPlan, holders: dict[Keys, str]) -> None:
        out, kind = self.out, self.kind
        if part in kind.parts:
            for rule in part.rules:
                self._rule(rule, "p", "r", holders, "ps", "pa")
            self._implied(part.implied, "r", holders, "pa")
            return
        if self._is_plain(part):
            there = " and ".join(f"{rule.targets[0]!r} in p" for rule in part.rules)
            fields = ", ".join(f"{rule.source[0]!r}: p[{rule.targets[0]!r}]" for rule in part.rules)
            with out.block(f"if not o and {there}:"):  # nothing beside the claims, and nothing to remember of them
                out(f"b = {{{ITEM_KEY!r}: {part.literal!r}, {fields}}}")
            with out.block("else:"):
                self._item(part)
        else:
            self._item(part)
        number = next(n for n, listed in enumerate(kind.lists) if part in listed.blocks)
        if len(kind.messages) == 1:
            out(f"q{number}_0.append(b)")
        else:
            first = ROLES[kind.messages[0]]
            out(f"(q{number}_0 if role == {first!r} else q{number}_1).append(b)")

    def _is_plain(self, part: PartPlan) -> bool:
        """Tell whether a Part without options is an item whose values are the Part's own."""
        plain = all(
            len(r.source) == 1 and r.conversion is None and r.fallback is NO_FALLBACK and "." not in r.targets[0]
            for r in part.rules
        )
        return plain and bool(part.rules) and not part.implied and self.kind.default_label(part.part) == part.label

    def _item(self, part: PartPlan) -> None:
        """Emit the making of a list item from what its Part left of it."""
        out = self.out
        out("b = o.get('source')")
        with out.block("if b is None:"):
            out("b = {}")
        out(f"b[{ITEM_KEY!r}] = {part.literal!r}")
        for rule in part.rules:
            self._rule(rule, "p", "b", {(): "b"}, "ps", "pa")
        self._implied(part.implied, "b", {(): "b"}, "pa")

    def _list(self, rule: ListPlan, holders: dict[Keys, str]) -> None:
        out, kind = self.out, self.kind
        number = kind.lists.index(rule)
        queues = [f"q{number}_{m}" for m in range(len(kind.messages))]
        holder, last, name = holders[rule.source[:-1]], rule.source[-1], dotted(rule.source)
        out(f"shape = pond['shape'].get({name!r}, {rule.shapes[0]!r}) if 'shape' in pond else {rule.shapes[0]!r}")
        out(f"weave = pond['weave'].get({name!r}) if 'weave' in pond else None")
        with out.block(f"if shape == 'absent' or weave is None and {last!r} in {holder}:"):
            out("pass")
        if "string" in rule.shapes:
            block = next(b for b in rule.blocks if b.literal == rule.string_block and not b.conditions)
            with out.block("elif shape == 'string':"):
                steps = "".join(f"[{key!r}]" for key in block.text_rule.source)
                out(f"{holder}[{last!r}] = {queues[block.message]}[0]{steps}")
        with out.block("elif weave is None:"):
            out(f"{holder}[{last!r}] = {' + '.join(queues)}")
        with out.block("else:"):
            pairs = ", ".join(f"'{m}': iter({queue})" for m, queue in enumerate(queues))
            out(f"sources = {{{pairs}, 'r': iter({holder}.get({last!r}) or ())}}")
            out(f"{holder}[{last!r}] = [next(sources[k]) for k in weave]")
