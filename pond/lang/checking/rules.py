"""Claims and implied values: what a field-shaped rule may say."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pond.diagnostics.span import Span
from pond.lang import ast
from pond.lang.checking.faults import Faults
from pond.lang.checking.words import ITEM_WORDS, NAME, Known, nested
from pond.lang.conversions import CONVERSIONS
from pond.lang.fields import FALLBACKS, PART_TYPES, Field, fields_of
from pond.lang.plan import NO_FALLBACK, ImpliedRule, Keys, Rule, dotted


class RuleChecker(Faults):
    """Checks the rules of one message or Part."""

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
                    item.source.quoted and NAME.fullmatch(item.source.keys[0]) and item.source.keys[0] not in ITEM_WORDS
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

    def _known(
        self, items: Iterable[ast.Item], containers: Iterable[Keys], label: str, claimed: Iterable[Keys]
    ) -> Known:  # fmt: skip
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
        # A container whose inside is not described is opaque: only its own name is checked.
        described = {()} | {(k.name.text,) for i in items if isinstance(i, ast.Keeps) for k in i.names if k.inside}
        return {keys: frozenset(names) for keys, names in known.items() if keys in described}

    def _no_overlap(self, claimed: list[tuple[Keys, Span]], taken: list[Keys]) -> None:
        """Refuse a claim inside, around or spelled like an earlier one, or like a path that the codec itself has
        `taken`.
        """
        earlier = list(taken)
        for keys, span in claimed:
            # Marks name a path by its dotted spelling, so `"a.b"` and `a.b` would look the same.
            other = next((o for o in earlier if nested(keys, o) or dotted(keys) == dotted(o)), None)
            if other is not None:
                self.fault(
                    "map-overlap", f"`{dotted(keys)}` and `{dotted(other)}` are claimed by two rules", span,
                    "a value can be claimed once", "adapter-native-restore-lossless",
                )  # fmt: skip
            earlier.append(keys)
