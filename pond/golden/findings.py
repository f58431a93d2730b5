"""What a comparison of two states of `golden/` can find. Plain values; nothing here reads, judges or prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pond.diagnostics.diagnostic import Diagnostic

State: TypeAlias = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A stored row by its key: a part has all four, a message has no `message`, a session only its id."""

    kind: str
    id: str
    session: str = ""
    message: str = ""
    what: str = ""  # a message's role or a part's type, for the reader; not part of the key

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.kind, self.session, self.message, self.id


@dataclass(frozen=True, slots=True)
class ChangedId:
    """A row that is stored under another key than before."""

    old: StoredRow
    new: StoredRow
    same_content: bool  # False: another row of the same kind is in the old one's place


@dataclass(frozen=True, slots=True)
class Flip:
    """A part whose words now count as somebody else's."""

    row: StoredRow
    before: str
    after: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One value of a row that differs; `before` and `after` are shortened."""

    row: StoredRow
    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class RowChanges:
    """What happened to the rows of one case."""

    before: int = 0
    after: int = 0
    added: tuple[StoredRow, ...] = ()
    removed: tuple[StoredRow, ...] = ()
    changed_ids: tuple[ChangedId, ...] = ()
    flips: tuple[Flip, ...] = ()
    fields: tuple[FieldChange, ...] = ()
    reordered: bool = False

    def happened(self) -> bool:
        """Tell whether anything happened."""
        lists = (self.added, self.removed, self.changed_ids, self.flips, self.fields)
        return self.reordered or any(lists)


@dataclass(frozen=True, slots=True)
class LossChange:
    """A loss in a conversion to another client that is new or gone."""

    target: str
    kind: str
    entry: str  # the whole line, kind included
    state: Literal["new", "gone"]


@dataclass(frozen=True, slots=True)
class OutputChange:
    """A text golden that differs: a client's own files, or those for another client."""

    name: str
    state: State
    lines_added: int
    lines_removed: int


@dataclass(frozen=True, slots=True)
class CaseChange:
    """What happened to one golden case (`<client>/<case>`)."""

    case: str
    state: State
    rows: RowChanges
    losses: tuple[LossChange, ...] = ()
    outputs: tuple[OutputChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two states of `golden/` side by side."""

    base: str
    cases: int  # how many exist in either state
    changed: tuple[CaseChange, ...]
    other_files: tuple[OutputChange, ...]  # files whose name is not a golden's
    faults: tuple[Diagnostic, ...]
