"""What a mapping file says, as frozen dataclasses with spans; nothing here has been checked yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from pond.diagnostics.span import Span

Scalar = str | int | bool | None


@dataclass(frozen=True, slots=True)
class Path:
    """A place in a source record, relative to the record or to a list item."""

    keys: tuple[str, ...]
    span: Span
    quoted: bool = False  # some segment was written in quotes

    def __str__(self) -> str:
        return ".".join(self.keys)


@dataclass(frozen=True, slots=True)
class Name:
    """A word with its place."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Value:
    """A literal with its place."""

    value: Scalar
    span: Span


@dataclass(frozen=True, slots=True)
class Test:
    """A test of one path of a record: equal to one of some values, present, or absent."""

    path: Path
    op: Choice["in", "has", "no"]
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversionUse:
    """The name after `as`, with its argument if it has one."""

    name: Name
    argument: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """`path <-> target`: the value is here in the source and there in canonical."""

    source: Path
    optional: bool
    targets: tuple[Name, ...]
    conversion: ConversionUse | None


@dataclass(frozen=True, slots=True)
class Implied:
    """`path implied x`: if equal to x, it is not stored; otherwise it is residue."""

    source: Path
    value: Value | None
    session_field: Name | None


@dataclass(frozen=True, slots=True)
class Lookup:
    """`target <- call(field)` or `target <- fact name`: a value that comes from another record."""

    target: Name
    how: Choice["call", "fact", "literal"]
    argument: Name


@dataclass(frozen=True, slots=True)
class Generic:
    """`generic media_type`: the source has no such value; the specification names the fallback."""

    target: Name


@dataclass(frozen=True, slots=True)
class ExecutedBy:
    """`executed_by client|provider`: the block decides who runs the tool."""

    who: Name


@dataclass(frozen=True, slots=True)
class Keeps:
    """Fields known to stay in the residue; because they are named, an unnamed one is visible as drift."""

    names: tuple[Kept, ...]
    because: str | None


@dataclass(frozen=True, slots=True)
class Kept:
    """A key that stays in the residue, and the keys known inside it (none: its inside is not checked)."""

    name: Name
    inside: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class RestOf:
    """`path rest <-> options.ns (known keys)`: what remains of one object goes to its own place in `options`."""

    source: Path
    target: Name
    known: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Provenance:
    """The provenance of a Part: fixed, or decided by a span table."""

    how: Choice["conversational", "injected", "spans"]
    table: Name | None = None


@dataclass(frozen=True, slots=True)
class PartType:
    """`TextPart`, or `UserMessage.TextPart` if a kind fills several messages."""

    part: Name
    message: Name | None


@dataclass(frozen=True, slots=True)
class Block:
    """One kind of list item and the Part it becomes."""

    names: tuple[Value, ...]
    when: tuple[Test, ...]
    type: PartType
    provenance: Provenance | None
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A Part made from the record's own fields."""

    type: PartType
    provenance: Provenance | None
    items: tuple[Item, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Shape:
    """One way in which the source writes a list of items: a list, or a bare string that means one item of a named
    block.
    """

    kind: Choice["list", "string"]
    block: Value | None
    span: Span


@dataclass(frozen=True, slots=True)
class Left:
    """Kinds of list items known to stay in the residue if no block takes them, with the reason."""

    names: tuple[Value, ...]
    because: str


@dataclass(frozen=True, slots=True)
class Parts:
    """`path <-> parts shapes { blocks }`: list items become Parts, in order."""

    source: Path
    optional: bool
    shapes: tuple[Shape, ...]
    blocks: tuple[Block, ...]
    left: tuple[Left, ...]


Item = Claim | Implied | Lookup | Generic | ExecutedBy | Keeps | RestOf | Part | Parts


@dataclass(frozen=True, slots=True)
class Kind:
    """One record kind: how it is recognised, which messages it fills, and its rules."""

    names: tuple[Value, ...]  # empty: the record has no discriminator
    when: tuple[Test, ...]
    given: Name | None  # a fact that the client's pass must have found true for the record
    observed: Span | None  # if set: the client's pass must see these records
    messages: tuple[Name, ...]
    items: tuple[Item, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Carries:
    """Record kinds known to hold no conversation, carried whole, with the reason."""

    names: tuple[Value, ...]
    when: tuple[Test, ...]
    observed: Span | None
    because: str


@dataclass(frozen=True, slots=True)
class Otherwise:
    """`otherwise carry { … }`: envelope rules for every record that is carried."""

    items: tuple[Item, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class FromPath:
    """A capture of the file's path."""

    name: Name


@dataclass(frozen=True, slots=True)
class FromTemplate:
    """Text with holes, each a path capture (`{path.x}`) or the first record value (`{key}`)."""

    text: Value


@dataclass(frozen=True, slots=True)
class FromFirst:
    """The first record value at a path, perhaps only of one record kind, one file pattern, or the session's own
    records.
    """

    source: Path
    of: Value | None
    conversion: Name | None
    where: FromPath | None
    own: Span | None = None  # where it says so


Origin = FromPath | FromTemplate | FromFirst


@dataclass(frozen=True, slots=True)
class Fact:
    """A session field and the places it may come from, in order."""

    target: Name
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class Own:
    """Which records are the session's own: those that name it at a path, or name none. Others are copied history."""

    source: Path
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class SpanRule:
    """One pattern of harness text, a label of the client, or another table whose rules apply here too."""

    how: Choice["between", "wrap", "prefix", "exact", "tail", "frame", "when", "typed", "given", "labelled", "include"]
    open: Value | None = None
    close: Value | None = None
    test: Test | None = None
    name: Name | None = None  # of a fact, or of a table
    path: Path | None = None  # a list with a label for each item
    values: tuple[Value, ...] = ()  # labels of items that the harness did not write


@dataclass(frozen=True, slots=True)
class SpanTable:
    """A named list of patterns."""

    name: Name
    rules: tuple[SpanRule, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    """A parsed mapping file."""

    client: Value
    number: int
    files: tuple[Value, ...]
    ignores: tuple[tuple[Value, str], ...]
    detect: tuple[tuple[Test, ...], ...]
    records: Path | None
    rest: Name | None
    document: tuple[Path, Path] | None
    beside: tuple[Value, ...]
    facts: tuple[Name, ...]
    session: tuple[Fact, ...]
    own: Own | None
    spans: tuple[SpanTable, ...]
    carries: tuple[Carries, ...]
    otherwise: Otherwise | None
    kinds: tuple[Kind, ...]
    file: str
    text: str
