"""Span tables: their markers, the tables they include, the facts they need."""

from __future__ import annotations

from pond.lang import ast
from pond.lang.checking.faults import Faults
from pond.lang.checking.words import condition_of, nearest
from pond.lang.plan import SpanPlan


class SpanChecker(Faults):
    """Checks the span tables of a mapping."""

    def _span_tables(self) -> tuple[SpanPlan, ...]:
        stated: dict[str, ast.SpanTable] = {}
        for table in self.mapping.spans:
            if table.name.text in stated:
                self.fault("map-duplicate", f"span table `{table.name.text}` is stated twice", table.name.span)
            else:
                stated[table.name.text] = table
        plans = tuple(self._span_table(table, self._with_included(table, stated, ())) for table in stated.values())
        self.asking = {plan.name for plan in plans if plan.given}
        return plans

    def _with_included(
        self, table: ast.SpanTable, stated: dict[str, ast.SpanTable], within: tuple[str, ...]
    ) -> list[ast.SpanRule]:  # fmt: skip
        """Return the rules of a table, with those of included tables in their places."""
        rules: list[ast.SpanRule] = []
        for rule in table.rules:
            if rule.how != "include" or rule.name is None:
                rules.append(rule)
            elif (other := stated.get(rule.name.text)) is None:
                what = f"there is no span table `{rule.name.text}`"
                self.fault("map-unknown-spans", what, rule.name.span, nearest(rule.name.text, stated))
            elif rule.name.text in (*within, table.name.text):
                self.fault("map-unknown-spans", f"`{rule.name.text}` includes itself", rule.name.span)
            else:
                rules += self._with_included(other, stated, (*within, table.name.text))
        return rules

    def _span_table(self, table: ast.SpanTable, rules: list[ast.SpanRule]) -> SpanPlan:
        self._markers(table, rules)
        for rule in rules:
            if rule.how == "given" and rule.name is not None:
                self._fact(rule.name)

        def texts(how: str) -> tuple[str, ...]:
            return tuple(str(r.open.value) for r in rules if r.how == how and r.open)

        def pairs(how: str) -> tuple[tuple[str, str], ...]:
            return tuple((str(r.open.value), str(r.close.value)) for r in rules if r.how == how and r.open and r.close)

        whens, typed = (tuple(condition_of(r.test) for r in rules if r.test and r.how == how) for how in _TESTED)
        labelled = ((r.path.keys, tuple(str(v.value) for v in r.values)) for r in rules if r.path is not None)
        return SpanPlan(
            table.name.text, whens, pairs("between"), pairs("wrap"), texts("prefix"), texts("exact"),
            texts("tail"), texts("frame"), typed,
            tuple(r.name.text for r in rules if r.how == "given" and r.name), tuple(labelled),
        )  # fmt: skip

    def _markers(self, table: ast.SpanTable, rules: list[ast.SpanRule]) -> None:
        """Refuse markers that are empty, duplicate, or close like they open."""
        openings: set[str] = set()
        for rule in rules:
            for value in (rule.open, rule.close):
                if value is not None and not str(value.value).strip():
                    self.fault("map-marker", "expected a marker, found an empty text", value.span)
            if rule.open is not None:
                text = str(rule.open.value)
                if text in openings:
                    self.fault("map-marker", f"`{text}` is listed twice in `{table.name.text}`", rule.open.span)
                openings.add(text)
            if rule.open is not None and rule.close is not None and rule.open.value == rule.close.value:
                self.fault("map-marker", "the closing marker equals the opening one", rule.close.span)


_TESTED = ("when", "typed")
