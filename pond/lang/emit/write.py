"""The writer function of one record kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pond.lang.emit.python import PythonLines, variable_for
from pond.lang.fields import PART_TYPES, ROLES
from pond.lang.plan import ITEM_KEY, NO_FALLBACK, ImpliedRule, Keys, KindPlan, ListPlan, PartPlan, Plan, Rule, dotted


@dataclass(frozen=True, slots=True)
class Remembered:
    """The variables with what was remembered about a record's claims, or a Part's."""

    absent: str
    spelling: str


_RECORD, _PART = Remembered("absent", "spelling"), Remembered("pa", "ps")


class Writer:
    """Emits the writer.

    For most records and Parts nothing was remembered: what remains to be checked then has its own branch.
    """

    def __init__(self, plan: Plan, kind: KindPlan, name: str, out: PythonLines) -> None:
        self.plan, self.kind, self.name, self.out = plan, kind, name, out
        self.holders: dict[Keys, str] = {(): "r"}
        self.bare: dict[str, str] = {}  # the variable of an object -> the one that says that nothing was left in it

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
            self._hold()
            if kind.literal is not None:
                self._put("r", self.holders, self.plan.discriminator, repr(kind.literal))
            out("remembered = len(pond) - ('seq' in pond)  # its label is always there; lowered events have no number")
            out(f"plain = {self._plain()}")
            if kind.rules or kind.implied:
                with out.block("if plain:"):
                    self._claims(None)
                with out.block("else:"):
                    out("absent = pond['absent'] if 'absent' in pond else ()")
                    out("spelling = pond['spelling'] if 'spelling' in pond else EMPTY")
                    self._claims(_RECORD)
            self._parts()
            for listed in kind.lists:
                self._list(listed)
            out("return r")

    def _plain(self) -> str:
        """Return a condition: nothing was remembered about the record, or only that it has no id of its own."""
        rule, names = self.kind.id_rule, list(map(dotted, self._sources()))
        if rule is None or names.count(dotted(rule.source)) > 1:  # a key with a dot may look like the id
            return "remembered == 1"
        derived = self.out.constant(repr([dotted(rule.source)]))
        return f"remembered == 1 or (remembered == 2 and pond.get('absent') == {derived})"

    def _sources(self) -> list[Keys]:
        return [rule.source for rule in self.kind.rules] + [rule.source for rule in self.kind.implied]

    def _claims(self, remembered: Remembered | None) -> None:
        for rule in self.kind.rules:
            self._rule(rule, "first", "r", self.holders, remembered)
        self._implied(self.kind.implied, "r", self.holders, remembered)

    def _hold(self) -> None:
        """Emit the lookup of the objects that claims are about."""
        out, kind, holders = self.out, self.kind, self.holders
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
            claimed = [*self._sources(), *(source for part in kind.parts for source in part.claimed)]
            inside = [source for source in claimed if source[:-1] == keys]
            taken = {*kind.containers, self.plan.discriminator}
            if len(inside) > 2 and len(set(inside)) == len(inside) and taken.isdisjoint(inside):
                self.bare[var] = f"{var}_bare"
                out(f"{var}_bare = not {var} and type({var}) is dict")

    def _free(self, source: Keys, base: str, holders: dict[Keys, str], remembered: Remembered | None) -> str:
        """Return a condition: nothing is at `source` yet, and no mark says that nothing was there."""
        if source[:-1] not in holders:
            free = f"at({base}, {', '.join(map(repr, source))}) is MISSING"
        else:
            holder = holders[source[:-1]]
            free = f"{source[-1]!r} not in {holder}"
            if remembered is None and holder in self.bare:
                return f"({self.bare[holder]} or {free})"
        return free if remembered is None else f"{free} and {dotted(source)!r} not in {remembered.absent}"

    def _put(self, base: str, holders: dict[Keys, str], keys: Keys, value: str) -> None:
        if keys[:-1] in holders:
            self.out(f"{holders[keys[:-1]]}[{keys[-1]!r}] = {value}")
            return
        way = "".join(f".setdefault({key!r}, {{}})" for key in keys[:-1])
        self.out(f"{base}{way}[{keys[-1]!r}] = {value}")

    def _rule(
        self, rule: Rule, owner: str, base: str, holders: dict[Keys, str], remembered: Remembered | None
    ) -> None:  # fmt: skip
        """Emit the writing of one claim; `remembered` is None if nothing was, for this Part or this record."""
        name = dotted(rule.source)
        tests = [self._free(rule.source, base, holders, remembered)]
        if rule.targets == ("id",):
            own = "pond.get('id', first['id'])"
            if remembered is None:  # the only one that may be absent
                tests, own = ["remembered == 1", *tests], "first['id']"
            with self.out.block(f"if {' and '.join(tests)}:"):
                self._put(base, holders, rule.source, own)
            return
        spaces = "options" if owner == "first" else "o"
        homes = [f"{target.split('.')[1]!r} in {spaces}" for target in rule.targets if target.startswith("options.")]
        if remembered is None and not homes and len(rule.targets) == 1:
            self._remaining(rule, owner, tests, base, holders)
            return
        with self.out.block(f"if {' and '.join([*dict.fromkeys(homes), *tests])}:"):
            for index, target in enumerate(rule.targets):
                found = f"{owner}.get({target!r}, MISSING)"
                if target.startswith("options."):
                    _, space, key = target.split(".")
                    found = f"v.get({key!r}, MISSING) if type(v := {spaces}[{space!r}]) is dict else MISSING"
                self.out(f"t{index} = {found}")
            values = [f"t{index}" for index in range(len(rule.targets))]
            tests = [f"{value} is not MISSING" for value in values]
            if rule.fallback is not NO_FALLBACK and rule.conversion is None:
                spelled = "" if remembered is None else f" or {name!r} in {remembered.spelling}"
                tests.append(f"({_differs(rule, 't0')}{spelled})")
            with self.out.block(f"if {' and '.join(tests)}:"):
                self._put(base, holders, rule.source, _source_value(rule, values, remembered))

    def _remaining(self, rule: Rule, owner: str, tests: list[str], base: str, holders: dict[Keys, str]) -> None:
        """Emit the rest of writing a claim about which nothing was remembered."""
        target = rule.targets[0]
        value = f"{owner}[{target!r}]"
        tests.append(f"{target!r} in {owner}")
        if rule.fallback is not NO_FALLBACK and rule.conversion is None:
            tests.append(_differs(rule, value))
        with self.out.block(f"if {' and '.join(tests)}:"):
            self._put(base, holders, rule.source, _source_value(rule, [value], None))

    def _implied(
        self, rules: Iterable[ImpliedRule], base: str, holders: dict[Keys, str], remembered: Remembered | None
    ) -> None:  # fmt: skip
        for rule in rules:
            value = repr(rule.value)
            if rule.session_field:
                value = "c.session_id" if rule.session_field == "id" else "c.project"
            with self.out.block(f"if {self._free(rule.source, base, holders, remembered)}:"):
                self._put(base, holders, rule.source, value)

    def _parts(self) -> None:
        """Emit the loop that turns Parts back into list items, one queue per list and message."""
        out, kind = self.out, self.kind
        queues = [f"q{n}_{m}" for n in range(len(kind.lists)) for m in range(len(kind.messages))]
        for queue in queues:
            out(f"{queue} = []")
        if not kind.all_parts:
            return
        defaults = {PART_TYPES[name]: kind.default_label(name) for name in PART_TYPES if kind.default_label(name)}
        one = len(kind.messages) == 1
        # Nothing can be joined if there is one Part, as is usual.
        parts = "(events[1],) if len(events) == 2 else parts_of(events)" if one else "parts_with_roles(events)"
        label = f"{out.constant(repr(defaults))}[p['type']]"
        with out.block(f"for {'p' if one else 'role, p'} in {parts}:"):
            out("o = p['options']")
            out("marks = o.get('pond', EMPTY) if o else EMPTY")
            out(f"label = {label} if marks is EMPTY else marks.get('as') or {label}")
            for index, part in enumerate(kind.all_parts):
                with out.block(f"{'if' if index == 0 else 'elif'} label == {part.label!r}:"):
                    self._part(part)
            with out.block("else:"):
                out(f"raise Broken({f'`{kind.label}` has no block '!r} + f'`{{label}}`')")

    def _part(self, part: PartPlan) -> None:
        out, kind = self.out, self.kind
        if part in kind.parts:
            self._either(part, "r", self.holders)
            for bare in self.bare.values():
                out(f"{bare} = False")  # if another Part says the same, the first one counts
            return
        if self._is_plain(part):
            there = " and ".join(f"{rule.targets[0]!r} in p" for rule in part.rules)
            fields = ", ".join(f"{rule.source[0]!r}: p[{rule.targets[0]!r}]" for rule in part.rules)
            with out.block(f"if not o and {there}:"):  # nothing besides the claims, and nothing to remember about them
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
        """Emit the making of a list item from what its Part kept of it."""
        out = self.out
        out("b = o.get('source')")
        with out.block("if b is None:"):
            out("b = {}")
        out(f"b[{ITEM_KEY!r}] = {part.literal!r}")
        if self.kind.default_label(part.part) == part.label:
            self._either(part, "b", {(): "b"})
        else:  # its label is in its marks
            self._marks()
            self._fields(part, "b", {(): "b"}, _PART)

    def _either(self, part: PartPlan, base: str, holders: dict[Keys, str]) -> None:
        """Emit the claims of a Part twice: for Parts about which nothing was remembered, and for the others."""
        with self.out.block("if marks is EMPTY:"):
            self._fields(part, base, holders, None)
        with self.out.block("else:"):
            self._marks()
            self._fields(part, base, holders, _PART)

    def _marks(self) -> None:
        self.out("ps = marks.get('spelling', EMPTY)")
        self.out("pa = marks.get('absent', ())")

    def _fields(self, part: PartPlan, base: str, holders: dict[Keys, str], remembered: Remembered | None) -> None:
        for rule in part.rules:
            self._rule(rule, "p", base, holders, remembered)
        self._implied(part.implied, base, holders, remembered)

    def _list(self, rule: ListPlan) -> None:
        out, kind, holders = self.out, self.kind, self.holders
        number = kind.lists.index(rule)
        queues = [f"q{number}_{m}" for m in range(len(kind.messages))]
        holder, last, name = holders[rule.source[:-1]], rule.source[-1], dotted(rule.source)
        if rule.shapes[0] == "list":
            with out.block(f"if plain and {last!r} not in {holder}:"):
                out(f"{holder}[{last!r}] = {' + '.join(queues)}")
            with out.block("else:"):
                self._remembered_list(rule, queues, holder, last, name)
        else:
            self._remembered_list(rule, queues, holder, last, name)

    def _remembered_list(self, rule: ListPlan, queues: list[str], holder: str, last: str, name: str) -> None:
        """Emit the writing of a list whose shape may not be the usual one."""
        out = self.out
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


def _source_value(rule: Rule, values: list[str], remembered: Remembered | None) -> str:
    """Return the expression of the source value for canonical values."""
    if rule.conversion is None:
        return values[0]
    usual = values[0] if rule.conversion == "rfc3339" else "NO_SPELLING"
    spelling = usual if remembered is None else f"{remembered.spelling}.get({dotted(rule.source)!r}, {usual})"
    return (
        spelling
        if rule.conversion == "rfc3339"
        else f"W_{rule.conversion}(({', '.join(values)},), {spelling}, {rule.argument!r})"
    )


def _differs(rule: Rule, value: str) -> str:
    """Return a condition: a value is not the placeholder of an absent field."""
    return f"{value} is not False" if rule.fallback is False else f"{value} != {rule.fallback!r}"
