"""How one Part is made from a list item or from the record itself: the source of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext

from pond.lang.emit.claims import Emitter
from pond.lang.emit.python import delete_at, proved_by
from pond.lang.fields import PART_TYPES
from pond.lang.plan import ITEM_KEY, NO_FALLBACK, Keys, PartPlan, Rule

Fields = list[tuple[str, str]]  # the keys of an object and the expressions of their values, in order


class PartEmitter(Emitter):
    """Emits the making of Parts."""

    def _embedded(self, part: PartPlan, number: int) -> None:
        """Emit a Part made from the record's own fields (`e<number>_<rule>` hold their values, already fitted)."""
        values = {rule.source: f"e{number}_{index}" for index, rule in enumerate(part.rules)}
        earlier = [p for p in self.kind.parts[:number] if p.message == part.message]
        ordinal = None if any(p.spans for p in earlier) else len(earlier)  # spans make several Parts of one
        self._part(part, values, dict(self.holders), proved_by(self.kind.conditions), embedded=True, ordinal=ordinal)

    def _part(
        self, part: PartPlan, values: dict[Keys, str], holders: dict[Keys, str], proved: Mapping[Keys, object],
        *, embedded: bool = False, typed: bool = False, ordinal: int | None = None,
    ) -> None:  # fmt: skip
        """Emit the making of one Part whose required claims are known to fit; `values` holds the source values.

        Everything that the Part consists of is found first, so that it can be made at once. A `typed` one comes from a
        list item that says what it is. `ordinal` is its number in its message, if that is the same for every record.
        """
        out = self.out
        whole = typed and not part.implied and all(len(rule.source) == 1 for rule in part.rules)
        if typed and not whole:
            out(f"del b[{ITEM_KEY!r}]")
        spells = any(r.conversion or r.fallback is not NO_FALLBACK for r in part.rules)
        spaced = any(target.startswith("options.") for r in part.rules for target in r.targets)
        if spaced:
            out("o = {}")
        if spells:
            out("ps = None")
        if part.implied:
            out("record_absent, absent = absent, None")
        body: Fields = [("type", repr(PART_TYPES[part.part]))]
        for rule in part.rules:
            if rule.required:
                value = values[rule.source]
                if not whole:
                    out(delete_at(rule.source, holders))
                self.spelling(rule, value, value + "c", "ps")
                for target, result in zip(rule.targets, self.results(rule, value, value + "c"), strict=True):
                    self._set_target(target, result, body)
        for rule in part.rules:
            if not rule.required:
                self._optional(rule, values[rule.source], None if whole else holders, body)
        body += [(name, repr(constant)) for name, constant in part.constants]
        self.imply(part.implied, holders, proved)
        if not embedded:
            self._prune_item(part, values, holders)
        if whole:
            self._whole_item(part, values, spaced=spaced)
        elif not embedded:
            self._leftover(part, spaced=spaced)
        options = self._options(part, spaced=spaced, spells=spells, embedded=embedded)
        self._new_part(part, values, body, options, ordinal)
        self._more_runs(part)

    def _optional(self, rule: Rule, value: str, holders: dict[Keys, str] | None, body: Fields) -> None:
        """Emit a claim that may be absent; `<value>_fits` then says whether it was there, to be removed later."""
        out = self.out
        with out.block(f"if {self.fits(rule, value, value + 'c')}:"):
            out(f"{value}_fits = True")
            if holders is not None:
                out(delete_at(rule.source, holders))
            self.spelling(rule, value, value + "c", "ps")
            for target, result in zip(rule.targets, self.results(rule, value, value + "c"), strict=True):
                if target.startswith("options."):
                    self._set_target(target, result, body)
        with out.block("else:"):
            out(f"{value}_fits = False")
            if rule.conversion is not None or rule.accepts in ("string", "boolean"):
                with out.block(f"if {value} is not MISSING:"):
                    self.source_type(rule, value)
            if rule.fallback is not NO_FALLBACK:
                out(f"{value} = {rule.fallback!r}")
        if rule.fallback is not NO_FALLBACK:
            body.append((rule.targets[0], value))

    def _set_target(self, target: str, value: str, body: Fields) -> None:
        if target.startswith("options."):
            _, space, key = target.split(".")
            self.out(f"o.setdefault({space!r}, {{}})[{key!r}] = {value}")
        else:
            body.append((target, value))

    def _prune_item(self, part: PartPlan, values: dict[Keys, str], holders: dict[Keys, str]) -> None:
        """Emit the removal of the objects that claims have emptied."""
        for keys in sorted((keys for keys in holders if keys), key=len, reverse=True):
            under = [r for r in part.rules if r.source[: len(keys)] == keys]
            if not under:
                continue
            taken = (
                ""
                if any(r.required for r in under)
                else " and (" + " or ".join(f"{values[r.source]}_fits" for r in under) + ")"
            )
            with self.out.block(f"if not {holders[keys]}{taken}:"):
                self.out(delete_at(keys, holders))

    def _whole_item(self, part: PartPlan, values: dict[Keys, str], *, spaced: bool) -> None:
        """Emit the removal of what was claimed from an item, unless nothing would be left: then it is not needed."""
        out = self.out
        optional = [f"{values[rule.source]}_fits" for rule in part.rules if not rule.required]
        claimed = 1 + sum(rule.required for rule in part.rules)
        with out.block(f"if len(b) != {' + '.join([str(claimed), *optional])}:"):
            out(f"del b[{ITEM_KEY!r}]")
            for rule in part.rules:
                with nullcontext() if rule.required else out.block(f"if {values[rule.source]}_fits:"):
                    out(f"del b[{rule.source[0]!r}]")
            self._rest_of_item(part, spaced=spaced)
        if not spaced:
            with out.block("else:"):
                out("o = {}")

    def _leftover(self, part: PartPlan, *, spaced: bool) -> None:
        """Emit the keeping of what remains of an item."""
        with self.out.block("if b:"):
            self._rest_of_item(part, spaced=spaced)
        if not spaced:
            with self.out.block("else:"):
                self.out("o = {}")

    def _rest_of_item(self, part: PartPlan, *, spaced: bool) -> None:
        self.out("o['source'] = b" if spaced else "o = {'source': b}")
        if (names := part.known.get(())) is not None:
            self.keys_known(names, "b", f"{self.kind.label}/{part.label}")

    def _options(self, part: PartPlan, *, spaced: bool, spells: bool, embedded: bool) -> str:
        """Emit what goes into the Part's options, and return the expression for them."""
        out = self.out
        relabelled = self.kind.default_label(part.part) != part.label
        if embedded and not (spaced or relabelled or spells or part.implied):
            return "{}"
        if embedded and not spaced:
            out("o = {}")
        marks = [("absent", "absent")] * bool(part.implied) + [("spelling", "ps")] * spells
        if relabelled:
            out(f"o['pond'] = {'marks = ' * bool(marks)}{{'as': {part.label!r}}}")
            for name, value in marks:
                with out.block(f"if {value}:"):
                    out(f"marks[{name!r}] = {value}")
        elif len(marks) == 1:
            name, value = marks[0]
            with out.block(f"if {value}:"):
                out(f"o['pond'] = {{{name!r}: {value}}}")
        elif marks:
            with out.block("if absent or ps:"):
                out("o['pond'] = marks = {}")
                for name, value in marks:
                    with out.block(f"if {value}:"):
                        out(f"marks[{name!r}] = {value}")
        if part.implied:
            out("absent = record_absent")
        return "o"

    def _new_part(
        self, part: PartPlan, values: dict[Keys, str], body: Fields, options: str, ordinal: int | None
    ) -> None:
        """Emit the Part itself, appended to its message; a span table may leave further `runs` of its text."""
        out, target = self.out, f"p{part.message}"
        provenance = repr(part.provenance)
        if part.spans is not None:
            provenance = "k"
            body = self._cut(part.spans, body)
        always = [*_with_facts(part, body), ("provenance", provenance), ("options", options)]
        self._literal(part, values, self._head(target, ordinal), always)
        if not self.only_part:
            out(f"{target}.append(p)")

    def _cut(self, table: str, body: Fields) -> Fields:
        """Emit the cutting of a text into `runs`, and its first run's provenance `k`; return the fields with that."""
        out = self.out
        tests = [*([self.whole[table]] if table in self.whole else []), *self.labelled.get(table, [])]
        whole = " or ".join(tests) or None
        if not self._cuts(table):
            out("k = CONVERSATIONAL" if whole is None else f"k = INJECTED if {whole} else CONVERSATIONAL")
            return body
        out(f"runs, x = (), {dict(body)['text']}")
        if whole is not None:
            with out.block(f"if {whole}:"):
                out("k = INJECTED")
        with out.block(f"{'if' if whole is None else 'elif'} S_{table}.plain(x):"):
            out("k = CONVERSATIONAL")
        with out.block("else:"):
            typed = f", {self.typed[table]}" if table in self.typed else ""
            out(f"(k, x), *runs = S_{table}.split(x{typed})")
        return [(name, "x" if name == "text" else value) for name, value in body]

    def _cuts(self, table: str) -> bool:
        """Tell whether a span table has anything to look for in a text."""
        return any(next(found for found in self.plan.spans if found.name == table).texts)

    def _literal(self, part: PartPlan, values: dict[Keys, str], head: Fields, always: Fields) -> None:
        """Emit the Part at once if everything optional is there: a growing dict is made twice."""
        out = self.out
        some: list[tuple[list[str], Fields]] = []  # tests, and the fields that exist if they hold
        for rule in part.rules:
            value = values[rule.source]
            results = zip(rule.targets, self.results(rule, value, value + "c"), strict=True)
            pairs = [(target, result) for target, result in results if not target.startswith("options.")]
            if pairs and not rule.required and rule.fallback is NO_FALLBACK:
                some.append(([f"{value}_fits"], pairs))
        filled = dict(always)
        call, called = self._call_id(part, values)
        for fact in part.facts:
            if fact.how == "fact" and fact.target not in filled:
                some.append(([f"{fact.argument!r} in c.facts"], [(fact.target, f"c.facts[{fact.argument!r}]")]))
            elif fact.how == "call" and call is not None:
                some.append(([*called, f"(known := c.calls.get({call})) is not None"], [(fact.target, "known")]))
        always = head + always
        if some:
            with out.block(f"if {' and '.join(dict.fromkeys(test for tests, _ in some for test in tests))}:"):
                out.build("p", [*always, *(pair for _, pairs in some for pair in pairs)])
            with out.block("else:"):
                out.build("p", always)
                for tests, pairs in some if len(some) > 1 or len(some[0][0]) > 1 else ():
                    with out.block(f"if {' and '.join(tests)}:"):
                        for name, value in pairs:
                            out(f"p[{name!r}] = {value}")
        else:
            out.build("p", always)
        self._calls(part, call, called, filled.get("name"))

    def _call_id(self, part: PartPlan, values: dict[Keys, str]) -> tuple[str | None, list[str]]:
        """Return the expression of the Part's call id, and the tests under which there is one; None: ask the Part."""
        for rule in part.rules:
            if "call_id" in rule.targets:
                value = values[rule.source]
                result = self.results(rule, value, value + "c")[rule.targets.index("call_id")]
                return result, [] if rule.required else [f"{value}_fits"]
        return None, []

    def _calls(self, part: PartPlan, call: str | None, called: list[str], name: str | None) -> None:
        """Emit what the Part has to do with the names of earlier calls."""
        out = self.out
        if call is None and any(f.target == "call_id" for f in part.facts):
            out("v = p.get('call_id')")
            call, called = "v", ["type(v) is str"]
            for fact in part.facts:
                if fact.how == "call":
                    with out.block(f"if {' and '.join([*called, f'{call} in c.calls'])}:"):
                        out(f"p[{fact.target!r}] = c.calls[{call}]")
        if part.part == "ToolCallPart" and call is not None:
            with out.block(f"if {' and '.join(called)}:") if called else nullcontext():
                out(f"c.calls[{call}] = {name}")

    def _head(self, target: str, ordinal: int | None = None) -> Fields:
        name = (
            f"mid + ':0' if not {target} else f'{{mid}}:{{len({target})}}'"
            if ordinal is None
            else f"mid + ':{ordinal}'"
        )
        return [("kind", "'part'"), ("id", name), ("session_id", "sid"), ("message_id", "mid")]

    def _more_runs(self, part: PartPlan) -> None:
        out, target = self.out, f"p{part.message}"
        if part.spans is not None and self._cuts(part.spans):
            with out.block("for k, x in runs:"):
                run = [
                    ("type", "'text'"),
                    ("text", "x"),
                    ("provenance", "k"),
                    ("options", "{'pond': {'joined': True}}"),
                ]
                out.build("p", [*self._head(target), *run])
                out(f"{target}.append(p)")


def _with_facts(part: PartPlan, body: Fields) -> Fields:
    """Return the fields of a Part, with facts instead of placeholders where nothing is known."""
    facts = {f.target: f.argument for f in part.facts if f.how == "fact"}
    return [(name, f"c.facts.get({facts[name]!r}, {value})" if name in facts else value) for name, value in body]
