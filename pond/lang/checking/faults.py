"""What all modules of the checker share: the mapping, the faults found so far, and their wording."""

from __future__ import annotations

from pond.diagnostics.diagnostic import Diagnostic
from pond.diagnostics.span import Span
from pond.lang import ast
from pond.lang.checking.words import label_of, nearest
from pond.lang.conversions import CONVERSIONS
from pond.lang.fields import Field


class Faults:
    """Collects faults; one mistake is one fault."""

    def __init__(self, mapping: ast.Mapping) -> None:
        self.mapping = mapping
        self.faults: list[Diagnostic] = []
        self.tables = {table.name.text for table in mapping.spans}
        self.asking: set[str] = set()  # span tables that need a fact
        self.because: list[tuple[str, str, str]] = []
        # A session's values are gathered before any pass has seen a record, so no kind that needs a fact can be used.
        stated = [kind for kind in mapping.kinds if kind.given is None]
        clauses: list[ast.Kind | ast.Carries] = [*stated, *mapping.carries]
        kinds = [(str(v.value), clause.when) for clause in clauses for v in clause.names]
        kinds += [("untyped", kind.when) for kind in stated if not kind.names]
        # A kind can be referred to by its name, or by its label if only some records of that name are meant.
        self.kind_names = {name for name, _ in kinds} | {label_of(name, when) for name, when in kinds}

    def fault(self, code: str, message: str, span: Span, help: str = "", rule: str = "") -> None:
        self.faults.append(Diagnostic(code, message, span, help=help, rule=rule))

    def _fact(self, name: ast.Name) -> None:
        """Refuse a fact that no pass provides."""
        facts = [n.text for n in self.mapping.facts]
        if name.text not in facts:
            self.fault("map-lookup", f"no pass provides the fact `{name.text}`", name.span, nearest(name.text, facts))

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
            nearest(target.text, names),
        )

    def _unknown_conversion(self, name: ast.Name) -> None:
        self.fault(
            "map-unknown-conversion",
            f"there is no conversion `{name.text}`",
            name.span,
            nearest(name.text, CONVERSIONS),
        )
