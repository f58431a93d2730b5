"""What a checked mapping means, ready to be interpreted or compiled: names resolved, literals expanded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Choice

from pond.lang import runtime
from pond.lang.ast import Scalar
from pond.lang.spans import Markers

Keys = tuple[str, ...]

NO_FALLBACK = object()
CARRY = runtime.CARRIED
ITEM_KEY = "type"  # the key that names the kind of a list item


def dotted(keys: Keys) -> str:
    """Return the spelling of a path in marks and messages."""
    return ".".join(keys)


@dataclass(frozen=True, slots=True)
class Condition:
    """A resolved test: the value at `keys` is one of `values`, or exists (`has`), or does not (`no`)."""

    keys: Keys
    op: Choice["in", "has", "no"]
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A two-way claim. `accepts` is the source type if there is no conversion."""

    source: Keys
    targets: tuple[str, ...]
    conversion: str | None
    argument: str | None
    accepts: Choice["string", "boolean", "any", "timestamp"]
    required: bool
    fallback: object
    line: int
    optional: bool = False  # written with `?`: absent or null is not reported


@dataclass(frozen=True, slots=True)
class ImpliedRule:
    """A source value that equals a known one and is then not stored."""

    source: Keys
    value: Scalar
    session_field: str | None


@dataclass(frozen=True, slots=True)
class FactRule:
    """A part field filled one way: the name of an earlier call, or a fact a pass found."""

    target: str
    how: Choice["call", "fact"]
    argument: str


@dataclass(frozen=True, slots=True)
class PartPlan:
    """How one Part is made from an object (a list item, or the record itself)."""

    label: str
    part: str
    message: int
    provenance: str | None  # None: by `spans`
    spans: str | None
    rules: tuple[Rule, ...]
    implied: tuple[ImpliedRule, ...]
    facts: tuple[FactRule, ...]
    constants: tuple[tuple[str, object], ...]
    known: dict[Keys, frozenset[str]]
    literal: str | None = None
    conditions: tuple[Condition, ...] = ()
    line: int = 0

    @property
    def claimed(self) -> list[Keys]:
        """The source paths its rules take, relative to the item."""
        return [rule.source for rule in self.rules] + [rule.source for rule in self.implied]

    @property
    def text_rule(self) -> Rule:
        """The one claim whose value the span table cuts."""
        return next(r for r in self.rules if r.targets == ("text",))


@dataclass(frozen=True, slots=True)
class ListPlan:
    """How the items of one list become Parts."""

    source: Keys
    shapes: tuple[str, ...]
    string_block: str | None
    blocks: tuple[PartPlan, ...]
    left: tuple[tuple[str, str], ...]  # kinds of items known to stay in the residue, and why


@dataclass(frozen=True, slots=True)
class KindPlan:
    """One record kind."""

    label: str
    literal: str | None
    conditions: tuple[Condition, ...]
    given: str | None  # a fact; a record without it belongs to the next kind that fits
    messages: tuple[str, ...]
    rules: tuple[Rule, ...]
    implied: tuple[ImpliedRule, ...]
    lists: tuple[ListPlan, ...]
    parts: tuple[PartPlan, ...]
    rests: tuple[tuple[Keys, str], ...]
    containers: tuple[Keys, ...]  # objects the kind is about; shorter paths first
    known: dict[Keys, frozenset[str]]
    observed: bool  # the client's pass must see these records: they need a fact, or say something about others
    line: int

    @property
    def id_rule(self) -> Rule | None:
        return next((r for r in self.rules if r.targets == ("id",)), None)

    @property
    def all_parts(self) -> tuple[PartPlan, ...]:
        return self.parts + tuple(b for rule in self.lists for b in rule.blocks)

    def default_label(self, part: str) -> str | None:
        """Return the block that a Part of this type comes from, unless its mark says otherwise."""
        return next((p.label for p in self.all_parts if p.part == part), None)


@dataclass(frozen=True, slots=True)
class CarriedPlan:
    """Records known to hold no conversation, and why they are carried whole."""

    literal: str
    conditions: tuple[Condition, ...]
    observed: bool
    because: str


@dataclass(frozen=True, slots=True)
class OriginPlan:
    """One place a session field may come from. Exactly one of the three is set."""

    capture: str | None = None
    template: str | None = None
    first: Keys | None = None
    of: str | None = None
    conversion: str | None = None
    where: str | None = None
    own: bool = False  # only of records that are the session's own


@dataclass(frozen=True, slots=True)
class SpanPlan:
    """A span table: whole-record conditions and text markers."""

    name: str
    conditions: tuple[Condition, ...]
    between: tuple[tuple[str, str], ...]
    wraps: tuple[tuple[str, str], ...]
    prefixes: tuple[str, ...]
    exact: tuple[str, ...]
    tails: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    typed: tuple[Condition, ...] = ()  # the client says that a person typed it: no prefix makes it the harness's
    given: tuple[str, ...] = ()  # facts that make all of it the harness's
    labelled: tuple[tuple[Keys, tuple[str, ...]], ...] = ()  # lists of labels, and those that inject nothing

    @property
    def texts(self) -> tuple[tuple[tuple[str, str], ...] | tuple[str, ...], ...]:
        """What it looks for in a text, in the order of `Markers`' arguments."""
        return self.between, self.wraps, self.prefixes, self.exact, self.tails, self.frames

    def markers(self) -> Markers:
        return Markers.of(self.between, self.wraps, self.prefixes, self.exact, self.tails, self.frames)


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked mapping. Only `check` makes one, so an unchecked one cannot be run."""

    client: str
    number: int
    files: tuple[str, ...]
    ignores: tuple[tuple[str, str], ...]
    detect: tuple[tuple[Condition, ...], ...]
    discriminator: Keys
    document: tuple[str, str] | None
    beside: tuple[str, ...]
    facts: tuple[str, ...]
    session: tuple[tuple[str, tuple[OriginPlan, ...]], ...]
    own: tuple[Keys, tuple[OriginPlan, ...]] | None  # where a record names its session, and the expected value
    spans: tuple[SpanPlan, ...]
    carried: tuple[CarriedPlan, ...]
    kept_because: tuple[tuple[str, str, str], ...]  # kind label, key, reason
    otherwise: KindPlan
    kinds: tuple[KindPlan, ...]
    digest: str = field(default="")

    @property
    def owners(self) -> tuple[KindPlan | CarriedPlan, ...]:
        """Everything that names a record kind, in the order in which it is tried."""
        return (*self.kinds, *self.carried)

    def kind(self, label: str) -> KindPlan | None:
        return self.otherwise if label == CARRY else next((k for k in self.kinds if k.label == label), None)
