"""Code for one claim: whether a value fits, how it was spelled, what it is known to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext

from pond.lang.emit.python import NOTHING, PythonLines, missing, remember, set_of
from pond.lang.plan import NO_FALLBACK, ImpliedRule, Keys, KindPlan, Plan, Rule, dotted


class Emitter:
    """What reading records and reading list items have in common."""

    def __init__(self, plan: Plan, kind: KindPlan, out: PythonLines) -> None:
        self.plan, self.kind, self.out = plan, kind, out
        self.holders: dict[Keys, str] = {(): "r"}  # path of an object -> the variable that holds it
        self.whole: dict[str, str] = {}  # a span table -> the condition under which it takes all texts of a record
        self.typed: dict[str, str] = {}  # a span table -> the condition under which a person typed them
        self.labelled: dict[str, list[str]] = {}  # a span table -> tests of the item's labels, inside a list
        # One Part and no other place for it: it needs no list.
        self.only_part = len(kind.parts) == len(kind.messages) == 1 and not kind.lists and not kind.parts[0].spans

    def keys_known(self, names: frozenset[str], value: str, where: str, staying: int | None = None) -> None:
        """Emit the check of what remains in an object; `staying` of the known names always remain there."""
        known = self.out.constant(f"frozenset({set_of(names)})" if names else "frozenset()")
        more = "" if staying is None else f"len({value}) > {staying} and " if staying else f"{value} and "
        with self.out.block(f"if {more}not {known}.issuperset({value}):"):
            self.out(f"c.drift('source-drift-field', {where!r}, [k for k in {value} if k not in {known}])")

    def source_type(self, rule: Rule, value: str) -> None:
        test = self.out.block(f"if {value} is not None:") if rule.optional else nullcontext()
        with test:
            what = f"f'expected {rule.accepts}, found {{kind_of({value})}}'"
            self.out(f"c.note('source-type', {'$.' + dotted(rule.source)!r}, {what})")

    def fits(self, rule: Rule, value: str, result: str) -> str:
        """Return a condition that is true if the value fits; it may bind `result` to the converted value(s)."""
        if rule.conversion == "rfc3339":
            return f"type({value}) is str and ({result} := instant({value})) is not None"
        if rule.conversion is not None:
            taken = f"T_{rule.conversion}({value}, {rule.argument!r})"
            return f"{value} is not MISSING and ({result} := {taken}) is not None"
        match rule.accepts:
            case "string":
                return f"type({value}) is str"
            case "boolean":
                return f"type({value}) is bool"
            case _:
                return f"{value} is not MISSING"

    def spelling(self, rule: Rule, value: str, result: str, spellings: str) -> None:
        name = dotted(rule.source)
        if rule.conversion == "rfc3339":
            with self.out.block(f"if {result} != {value}:"):
                self.out(remember(spellings, name, value))
        elif rule.conversion is not None:
            spelling = f"{result}[{len(rule.targets)}]"
            with self.out.block(f"if {spelling} is not NO_SPELLING:"):
                self.out(remember(spellings, name, spelling))
        elif rule.fallback is not NO_FALLBACK:
            same = f"{value} is False" if rule.fallback is False else f"{value} == {rule.fallback!r}"
            with self.out.block(f"if {same}:"):
                self.out(remember(spellings, name, value))

    def results(self, rule: Rule, value: str, result: str) -> list[str]:
        """Return the expressions of the canonical values, one per target."""
        if rule.conversion == "rfc3339":
            return [result]
        if rule.conversion is not None:
            return [f"{result}[{i}]" for i in range(len(rule.targets))]
        return [value]

    def imply(
        self, rules: Iterable[ImpliedRule], containers: dict[Keys, str], proved: Mapping[Keys, object] = NOTHING
    ) -> None:
        """Emit the claims for implied values; `proved` ones need not be checked again."""
        for rule in rules:
            holder, last = containers[rule.source[:-1]], rule.source[-1]
            if rule.session_field is None and type(rule.value) is str and proved.get(rule.source) == rule.value:
                self.out(f"del {holder}[{last!r}]")
                continue
            # Removed first, put back in the rare case: one dictionary operation instead of two.
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
