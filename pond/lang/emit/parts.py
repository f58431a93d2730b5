"""How one Part is made from a list item or from the record itself: the source of it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext

from pond.lang.emit.source import Source, delete_at, missing, remember, set_of
from pond.lang.plan import NO_FALLBACK, PART_TYPES, ImpliedRule, Keys, KindPlan, PartPlan, Plan, Rule, dotted


class Emitter:
    """What reading records and reading list items have in common."""

    def __init__(self, plan: Plan, kind: KindPlan, out: Source) -> None:
        self.plan, self.kind, self.out = plan, kind, out
        self.holders: dict[Keys, str] = {(): "r"}  # path of an object -> the variable that holds it

    def keys_known(self, names: frozenset[str], value: str, where: str) -> None:
        known = self.out.constant(f"frozenset({set_of(names)})" if names else "frozenset()")
        with self.out.block(f"if not {known}.issuperset({value}):"):
            self.out(f"c.drift('source-drift-field', {where!r}, [k for k in {value} if k not in {known}])")

    def source_type(self, rule: Rule, value: str) -> None:
        test = self.out.block(f"if {value} is not None:") if rule.optional else nullcontext()
        with test:
            what = f"f'expected {rule.accepts}, found {{kind_of({value})}}'"
            self.out(f"c.note('source-type', {'$.' + dotted(rule.source)!r}, {what})")

    def fits(self, rule: Rule, value: str, result: str) -> str:
        """Return a condition that is true where the value fits; it may bind `result` to the converted value(s)."""
        if rule.conversion == "rfc3339":
            return f"type({value}) is str and ({result} := instant({value})) is not None"
        if rule.conversion is not None:
            taken = f"C_{rule.conversion}.take({value}, {rule.argument!r})"
            return f"{value} is not MISSING and ({result} := {taken}) is not None"
        match rule.accepts:
            case "string":
                return f"type({value}) is str"
            case "boolean":
                return f"type({value}) is bool"
            case _:
                return f"{value} is not MISSING"

    def spelling(self, rule: Rule, value: str, result: str, marks: str) -> None:
        name = dotted(rule.source)
        if rule.conversion == "rfc3339":
            with self.out.block(f"if {result} != {value}:"):
                self.out(remember(marks, name, value))
        elif rule.conversion is not None:
            with self.out.block(f"if {result}[1] is not NO_MARK:"):
                self.out(remember(marks, name, f"{result}[1]"))
        elif rule.fallback is not NO_FALLBACK:
            same = f"{value} is False" if rule.fallback is False else f"{value} == {rule.fallback!r}"
            with self.out.block(f"if {same}:"):
                self.out(remember(marks, name, value))

    def results(self, rule: Rule, value: str, result: str) -> list[str]:
        """Return the expressions of the canonical values, one per target."""
        if rule.conversion == "rfc3339":
            return [result]
        if rule.conversion is not None:
            return [f"{result}[0][{i}]" for i in range(len(rule.targets))]
        return [value]

    def imply(self, rules: Iterable[ImpliedRule], base: str, containers: dict[Keys, str]) -> None:
        for rule in rules:
            holder, last = containers[rule.source[:-1]], rule.source[-1]
            # Taken first, put back in the rare case: one dictionary operation instead of two.
            self.out(f"v = {holder}.pop({last!r}, MISSING)")
            if rule.session_field:
                other = f"v != {'sid' if rule.session_field == 'id' else 'c.project'}"
            elif type(rule.value) is str:
                other = f"v != {rule.value!r}"
            elif type(rule.value) is int:
                other = f"type(v) is not int or v != {rule.value!r}"
            else:
                other = f"v is not {rule.value!r}"
            with self.out.block(f"if {other}:"):
                with self.out.block("if v is MISSING:"):
                    self.out(missing(dotted(rule.source)))
                with self.out.block("else:"):
                    self.out(f"{holder}[{last!r}] = v")


class PartEmitter(Emitter):
    """Emits the making of Parts."""

    def _embedded(self, part: PartPlan, number: int) -> None:
        """Emit a Part made from the record's own fields (`e<number>_<rule>` hold their values, already fitted)."""
        values = {rule.source: f"e{number}_{index}" for index, rule in enumerate(part.rules)}
        holders = dict(self.holders)
        self._part(part, values, holders, embedded=True)

    def _part(self, part: PartPlan, values: dict[Keys, str], holders: dict[Keys, str], *, embedded: bool) -> None:
        """Emit the making of one Part whose required claims are known to fit; `values` holds the source values."""
        out, kind = self.out, self.kind
        out("o = {}")
        relabelled = kind.default_label(part.part) != part.label
        spells = any(r.conversion or r.fallback is not NO_FALLBACK for r in part.rules)
        if relabelled or spells or part.implied:
            out(f"marks = {{'as': {part.label!r}}}" if relabelled else "marks = {}")
        if spells:
            out("ps = None")
        if part.implied:
            out("record_absent, absent = absent, None")
        body: list[tuple[str, str]] = [("type", repr(PART_TYPES[part.part]))]
        for rule in part.rules:
            if rule.required:
                value = values[rule.source]
                out(delete_at(rule.source, holders))
                self.spelling(rule, value, value + "c", "ps")
                for target, result in zip(rule.targets, self.results(rule, value, value + "c"), strict=True):
                    self._set_target(target, result, body)
        added = [(r, values[r.source]) for r in part.rules if not r.required]
        for rule, value in added:
            self._optional(rule, value, holders, body)
        body += [(name, repr(constant)) for name, constant in part.constants]
        self._new_part(part, body)
        for rule, value in added:
            if rule.fallback is NO_FALLBACK and not rule.targets[0].startswith("options."):
                with out.block(f"if {value}_fits:"):
                    for target, result in zip(rule.targets, self.results(rule, value, value + "c"), strict=True):
                        out(f"p[{target!r}] = {result}")
        self.imply(part.implied, "b", holders)
        self._facts(part)
        if not embedded:
            self._leftover(part, values, holders)
        if part.implied:
            with out.block("if absent:"):
                out("marks['absent'] = absent")
            out("absent = record_absent")
        if spells:
            with out.block("if ps:"):
                out("marks['spelling'] = ps")
        if relabelled:
            out("o['pond'] = marks")
        elif spells or part.implied:
            with out.block("if marks:"):
                out("o['pond'] = marks")
        self._more_runs(part)

    def _optional(self, rule: Rule, value: str, holders: dict[Keys, str], body: list[tuple[str, str]]) -> None:
        """Emit a claim that may be absent; `<value>_fits` then says whether it was there."""
        out = self.out
        with out.block(f"if {self.fits(rule, value, value + 'c')}:"):
            out(f"{value}_fits = True")
            out(delete_at(rule.source, holders))
            self.spelling(rule, value, value + "c", "ps")
            for target, result in zip(rule.targets, self.results(rule, value, value + "c"), strict=True):
                if target.startswith("options."):
                    self._set_target(target, result, body)
        with out.block("else:"):
            out(f"{value}_fits = False")
            with out.block(f"if {value} is not MISSING:"):
                self.source_type(rule, value)
            if rule.fallback is not NO_FALLBACK:
                out(f"{value} = {rule.fallback!r}")
        if rule.fallback is not NO_FALLBACK:
            body.append((rule.targets[0], value))

    def _new_part(self, part: PartPlan, body: list[tuple[str, str]]) -> None:
        """Emit the Part itself, appended to its message; a span table may leave further `runs` of its text."""
        out, target = self.out, f"p{part.message}"
        provenance = repr(part.provenance)
        if part.spans is not None:
            provenance = "k"
            text = dict(body)["text"]
            body = [(name, "x" if name == "text" else value) for name, value in body]
            out(f"runs, x = (), {text}")
            with out.block(f"if w_{part.spans}:"):
                out("k = INJECTED")
            with out.block(f"elif S_{part.spans}.plain(x):"):
                out("k = CONVERSATIONAL")
            with out.block("else:"):
                out(f"(k, x), *runs = S_{part.spans}.split(x)")
        fields = ", ".join(f"{name!r}: {value}" for name, value in body)
        out(f"p = {{{self._head(target)}, {fields}, 'provenance': {provenance}, 'options': o}}")
        out(f"{target}.append(p)")

    def _head(self, target: str) -> str:
        return f"'kind': 'part', 'id': f'{{mid}}:{{len({target})}}', 'session_id': sid, 'message_id': mid"

    def _more_runs(self, part: PartPlan) -> None:
        out, target = self.out, f"p{part.message}"
        if part.spans is not None:
            with out.block("for k, x in runs:"):
                joined = "'options': {'pond': {'joined': True}}"
                out(f"{target}.append({{{self._head(target)}, 'type': 'text', 'text': x, 'provenance': k, {joined}}})")

    def _set_target(self, target: str, value: str, body: list[tuple[str, str]]) -> None:
        if target.startswith("options."):
            _, space, key = target.split(".")
            self.out(f"o.setdefault({space!r}, {{}})[{key!r}] = {value}")
        else:
            body.append((target, value))

    def _facts(self, part: PartPlan) -> None:
        out = self.out
        for fact in part.facts:
            if fact.how == "call":
                out("v = p.get('call_id')")
                with out.block("if type(v) is str and v in c.calls:"):
                    out(f"p[{fact.target!r}] = c.calls[v]")
            else:
                with out.block(f"if {fact.argument!r} in c.facts:"):
                    out(f"p[{fact.target!r}] = c.facts[{fact.argument!r}]")
        if part.part == "ToolCallPart":
            out("v = p.get('call_id')")
            with out.block("if type(v) is str:"):
                out("c.calls[v] = p['name']")

    def _leftover(self, part: PartPlan, values: dict[Keys, str], holders: dict[Keys, str]) -> None:
        out = self.out
        inner = [keys for keys in holders if keys]
        for keys in sorted(inner, key=len, reverse=True):
            under = [r for r in part.rules if r.source[: len(keys)] == keys]
            if not under:
                continue
            taken = (
                ""
                if any(r.required for r in under)
                else " and (" + " or ".join(f"{values[r.source]}_fits" for r in under) + ")"
            )
            with out.block(f"if not {holders[keys]}{taken}:"):
                out(delete_at(keys, holders))
        with out.block("if b:"):
            out("o['source'] = b")
            names = part.known.get(())
            if names is not None:
                self.keys_known(names, "b", f"{self.kind.label}/{part.label}")
