"""Record kinds: what they cover, claim and keep."""

from __future__ import annotations

import re

from pond.diagnostics.span import Span
from pond.lang import ast
from pond.lang.checking.parts import PartChecker
from pond.lang.checking.words import (
    claimed_paths,
    condition_of,
    containers_of,
    label_of,
    labelled,
    nearest,
    nested,
    unique,
)
from pond.lang.fields import ROLES
from pond.lang.plan import CARRY, KindPlan, ListPlan, PartPlan, dotted


class KindChecker(PartChecker):
    """Checks one record kind at a time."""

    def _otherwise(self, otherwise: ast.Otherwise) -> KindPlan:
        for item in otherwise.items:
            if not isinstance(item, ast.Claim | ast.Implied):
                self.fault("map-syntax", "`otherwise carry` takes only envelope rules", otherwise.span)
        kind = ast.Kind(
            (), (), None, None, (ast.Name("SystemMessage", otherwise.span),), otherwise.items, otherwise.span
        )
        return self._one_kind(kind, None, CARRY)

    def _kind(self, kind: ast.Kind) -> list[KindPlan]:
        for name in kind.messages:
            if name.text not in ROLES:
                self.fault(
                    "map-unknown-type", f"there is no message type `{name.text}`", name.span, nearest(name.text, ROLES)
                )
                return []
        self._messages(kind.messages)
        literals: list[str | None] = [str(v.value) for v in kind.names] or [None]
        if kind.given is not None:
            self._fact(kind.given)
        return [
            self._one_kind(kind, literal, label_of(literal or "untyped", kind.when, kind.given)) for literal in literals
        ]

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
                        parts.append(labelled(made, unique("self", labels), None, (), item.span.line))
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
        containers = containers_of(
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
            label, literal, tuple(map(condition_of, kind.when)), kind.given.text if kind.given else None,
            tuple(n.text for n in kind.messages),
            tuple(rules), tuple(implied), tuple(lists), tuple(parts), tuple(rests), containers, known,
            self._observed(kind.observed) or kind.given is not None or self._needs_a_fact(lists, parts), kind.span.line,
        )  # fmt: skip

    def _observed(self, stated: Span | None) -> bool:
        if stated is not None and not self.mapping.facts:
            self.fault("map-lookup", "there are no `facts` for which a pass would observe this", stated)
        return stated is not None

    def _needs_a_fact(self, lists: list[ListPlan], parts: list[PartPlan]) -> bool:
        made = [*parts, *(block for listed in lists for block in listed.blocks)]
        return any(part.spans in self.asking or any(fact.how == "fact" for fact in part.facts) for part in made)

    def _overlaps(self, kind: ast.Kind, literal: str | None) -> None:
        claimed = list(claimed_paths(kind.items))
        for item in kind.items:
            if isinstance(item, ast.Part):
                claimed += claimed_paths(item.items)
        taken = [self.mapping.records.keys] if literal is not None and self.mapping.records is not None else []
        self._no_overlap(claimed, taken)
        rests = [item for item in kind.items if isinstance(item, ast.RestOf)]
        spaces = {t.text.rpartition(".")[0] for i in kind.items if isinstance(i, ast.Claim) for t in i.targets}
        for index, rest in enumerate(rests):
            keys, target = rest.source.keys, rest.target
            if any(keys[: len(path)] == path for path in (*taken, *(path for path, _ in claimed))):
                self.fault("map-overlap", f"`{dotted(keys)}` is claimed and has a rest", rest.source.span)
            for other in rests[:index]:
                if nested(keys, other.source.keys):
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
