"""What a comparison of two states of `golden/` can find. Plain values; nothing here reads, judges or prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pond.diagnostics.diagnostic import Diagnostic

State: TypeAlias = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A stored row by its key: a part's is all four, a message's has no `message`, a session's is its id alone."""

    kind: str
    id: str
    session: str = ""
    message: str = ""
    what: str = ""  # a message's role, a part's type: for the reader, no part of the key

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.kind, self.session, self.message, self.id


@dataclass(frozen=True, slots=True)
class ChangedId:
    """A row that is stored under another key than before."""

    old: StoredRow
    new: StoredRow
    same_content: bool  # False: another row of the same kind stands where the old one stood


@dataclass(frozen=True, slots=True)
class Flip:
    """A part whose words count as somebody else's than before."""

    row: StoredRow
    before: str
    after: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One value of a row that differs; `before` and `after` are short, for the eye."""

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
    """A loss on the way to another client that is new, or that is gone."""

    target: str
    kind: str
    entry: str  # the whole line, kind included
    state: Literal["new", "gone"]


@dataclass(frozen=True, slots=True)
class OutputChange:
    """A text golden that differs: what a client's own files, or those for another client, look like."""

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
    cases: int  # how many there are now, or were
    changed: tuple[CaseChange, ...]
    other_files: tuple[OutputChange, ...]  # files whose name is no golden's
    faults: tuple[Diagnostic, ...]
