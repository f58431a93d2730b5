"""Mapping + schema -> Plan, or diagnostics. Everything that the language forbids is refused here."""

from __future__ import annotations

import hashlib

from pond.diagnostics.diagnostic import MappingError
from pond.diagnostics.span import Span
from pond.lang import ast
from pond.lang.checking.kinds import KindChecker
from pond.lang.checking.spans import SpanChecker
from pond.lang.checking.words import HOLE, condition_of, nearest
from pond.lang.conversions import CONVERSIONS
from pond.lang.fields import Field, fields_of
from pond.lang.holes import HOLE as FILE_HOLE
from pond.lang.holes import SHAPES
from pond.lang.plan import CARRY, CarriedPlan, Condition, Keys, KindPlan, OriginPlan, Plan
from pond.lang.runtime import REPEAT
from pond.model.notices import NOTICE

MOST_ERRORS = 20


def check(mapping: ast.Mapping) -> Plan:
    """Return the plan of `mapping`; raise MappingError with every fault found, in source order."""
    checker = _Checker(mapping)
    plan = checker.plan()
    if checker.faults:
        # A kind with several names is checked once for each; a mistake in it is still one mistake.
        found = dict.fromkeys(checker.faults)
        faults = sorted(found, key=lambda d: (d.span.line, d.span.column) if d.span else (0, 0))
        raise MappingError(*faults[:MOST_ERRORS])
    return plan


class _Checker(KindChecker, SpanChecker):
    """Checks the whole file."""

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
        spans = self._span_tables()
        kinds = [plan for kind in m.kinds for plan in self._kind(kind)]
        self._reachable(kinds)
        carried = self._carries(kinds)
        for path in m.document or ():
            if len(path.keys) > 1:
                self.fault("map-syntax", f"expected one key, found `{path}`", path.span)
        return Plan(
            client=str(m.client.value),
            number=m.number,
            files=tuple(map(self._file, m.files)),
            ignores=tuple((str(v.value), why) for v, why in m.ignores),
            detect=tuple(tuple(map(condition_of, tests)) for tests in m.detect),
            discriminator=m.records.keys if m.records else (),
            document=(m.document[0].keys[0], m.document[1].keys[0]) if m.document else None,
            beside=tuple(str(v.value) for v in m.beside),
            facts=tuple(n.text for n in m.facts),
            session=self._session(m.session, top),
            own=self._own(m.own),
            spans=spans,
            carried=tuple(carried),
            kept_because=tuple(self.because),
            otherwise=self._otherwise(otherwise),
            kinds=tuple(kinds),
            digest=hashlib.sha256(m.text.encode()).hexdigest()[:16],
        )

    def _carries(self, kinds: list[KindPlan]) -> list[CarriedPlan]:
        out: list[CarriedPlan] = []
        for clause in self.mapping.carries:
            conditions = tuple(map(condition_of, clause.when))
            for value in clause.names:
                literal = str(value.value)
                if any(literal == other.literal and conditions == other.conditions for other in out):
                    self.fault("map-duplicate", f"`{literal}` is carried twice", value.span)
                taken = next((k for k in kinds if k.literal == literal and _takes_all(k, conditions)), None)
                if taken is not None:
                    self.fault("map-unreachable", f"`{literal}` is already taken by line {taken.line}", value.span)
                out.append(CarriedPlan(literal, conditions, self._observed(clause.observed), clause.because))
        return out

    def _reachable(self, kinds: list[KindPlan]) -> None:
        """Refuse a kind whose records an earlier one always takes."""
        seen: dict[str | None, list[KindPlan]] = {}
        labels: set[str] = set()
        for kind in kinds:
            for earlier in seen.setdefault(kind.literal, []):
                if _takes_all(earlier, kind.conditions, kind.given):
                    same = (earlier.conditions, earlier.given) == (kind.conditions, kind.given)
                    code = "map-duplicate" if same else "map-unreachable"
                    what = f"`{kind.label}` is already taken by line {earlier.line}"
                    self.fault(code, what, Span(self.mapping.file, kind.line, 3, 1))
                    break
            else:
                if kind.label in labels or kind.label in (CARRY, REPEAT, NOTICE):
                    self.fault(
                        "map-duplicate",
                        f"two kinds would be called `{kind.label}`",
                        Span(self.mapping.file, kind.line, 3, 1),
                    )
            labels.add(kind.label)
            seen[kind.literal].append(kind)

    def _file(self, pattern: ast.Value) -> str:
        for hole in FILE_HOLE.finditer(str(pattern.value)):
            shape = (hole["rest"] or "").removeprefix(":")
            if shape not in ("", "**", *SHAPES):
                self.fault("map-lookup", f"there is no shape `{shape}`", pattern.span, nearest(shape, SHAPES))
        return str(pattern.value)

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

    def _own(self, own: ast.Own | None) -> tuple[Keys, tuple[OriginPlan, ...]] | None:
        if own is None:
            return None
        target, field = ast.Name("own", own.source.span), fields_of("Session")["id"]
        for origin in own.origins:
            if isinstance(origin, ast.FromFirst) and origin.own is not None:
                self.fault("map-lookup", "which records are own cannot depend on itself", origin.own)
        return own.source.keys, tuple(self._origin(origin, target, field) for origin in own.origins)

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
                holes = HOLE.findall(str(value.value))
                if not holes:
                    self._literal(value.span)
                for hole in holes:
                    if hole.startswith("path."):
                        self._capture(ast.Name(hole[5:], value.span))
                return OriginPlan(template=str(value.value))
            case ast.FromFirst(source=source, of=of, conversion=conversion, where=where, own=own):
                if own is not None and self.mapping.own is None:
                    help = "state it in `session`: `own KEY <- path.NAME | first KEY`"
                    self.fault("map-lookup", "no `own` says which records are the session's own", own, help)
                if conversion is not None:
                    self._fact_conversion(conversion, target, field)
                if where is not None:
                    self._capture(where.name)
                if of is not None and of.value not in self.kind_names:
                    self.fault(
                        "map-lookup", f"there is no kind `{of.value}`", of.span, nearest(str(of.value), self.kind_names)
                    )
                return OriginPlan(
                    first=source.keys,
                    of=str(of.value) if of else None,
                    conversion=conversion.text if conversion else None,
                    where=where.name.text if where else None,
                    own=own is not None,
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
        captures = {h["name"] for v in self.mapping.files for h in FILE_HOLE.finditer(str(v.value))} | {"directory"}
        if name.text not in captures:
            self.fault("map-lookup", f"no file pattern captures `{name.text}`", name.span, nearest(name.text, captures))


def _takes_all(kind: KindPlan, conditions: tuple[Condition, ...], given: str | None = None) -> bool:
    """Tell whether a kind always fits under these conditions: it asks for nothing more."""
    return set(kind.conditions) <= set(conditions) and kind.given in (None, given)
