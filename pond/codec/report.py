"""What happened while reading and writing: faults and drift, counted and never silent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pond.codec.drift import Drift
from pond.diagnostics.diagnostic import Diagnostic
from pond.diagnostics.span import Span

if TYPE_CHECKING:  # most conversions lose nothing
    from pond.codec.continuing import ResumeAdvice
    from pond.codec.lineage import FamilyMember
    from pond.portable.loss import Losses

# A broken file can have a fault on every line; each kind is shown this often per file, and counted beyond that.
MOST_SHOWN = 20


@dataclass(slots=True)
class Report:
    """Counts and diagnostics of one conversion; reports of several files add up."""

    files: int = 0
    sessions: int = 0
    records: int = 0
    repeats: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)
    drift: Drift = field(default_factory=Drift)
    losses: list[Losses] = field(default_factory=list)  # one for each session that went to another client
    resumes: list[ResumeAdvice] = field(default_factory=list)  # how to continue each of them
    moved: int = 0  # values in which a path changed
    members: list[FamilyMember] = field(default_factory=list)  # sessions that go to another client, with their families
    cut_off: tuple[str, str, int] | None = None  # code, file and line of a last line that has no line feed and no value
    _indexes: dict[tuple[str, str, str], int] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)

    def error(self, code: str, message: str, file: str, line: int = 0, path: str = "") -> None:
        """Record a fault; every error has its own line up to a limit, warnings of one kind are counted together."""
        key = (code, file, "" if _is_error(code) else f"{path}\0{message}")
        seen = self._indexes.setdefault(key, len(self.diagnostics))
        if seen == len(self.diagnostics) or (_is_error(code) and self._counts.get(seen, 1) < MOST_SHOWN):
            self.diagnostics.append(Diagnostic(code, message, Span(file, line), path=path))
            if seen == len(self.diagnostics) - 1:
                self._counts[seen] = 1
                return
        self._counts[seen] += 1

    def withdraw_cut_off(self) -> bool:
        """Withdraw the fault of a last line that is still being written; tell whether there is one."""
        if self.cut_off is None:
            return False
        code, file, line = self.cut_off
        self.cut_off = None
        self._counts[self._indexes[code, file, ""]] -= 1
        span = Span(file, line)
        for index, diagnostic in enumerate(self.diagnostics):
            if (diagnostic.code, diagnostic.span) == (code, span):
                self._drop(index)
                break
        return True

    def _drop(self, index: int) -> None:
        del self.diagnostics[index]
        self._indexes = {key: at - (at > index) for key, at in self._indexes.items() if self._counts.get(at)}
        self._counts = {at - (at > index): count for at, count in self._counts.items() if count}

    def nothing_found(self, inputs: Iterable[str]) -> None:
        """Record that none of the inputs holds a session file."""
        for text in inputs:
            self.error("source-none", "no session file was found", text)

    def unnamed(self, what: str) -> None:
        """Count a record kind or field the mapping does not name."""
        self.drift.count(what)

    @property
    def faults(self) -> list[Diagnostic]:
        """The diagnostics with their counts: one entry for many of a kind."""
        out = []
        for index, diagnostic in enumerate(self.diagnostics):
            count = self._counts.get(index, 1)
            hidden = count - MOST_SHOWN + 1 if diagnostic.severity == "error" else count
            out.append(replace(diagnostic, count=max(1, hidden)))
        return out

    @property
    def errors(self) -> int:
        return sum(d.severity == "error" for d in self.diagnostics)

    def add(self, other: Report) -> None:
        """Add what another report holds."""
        self.files += other.files
        self.sessions += other.sessions
        self.records += other.records
        self.repeats += other.repeats
        self.losses += other.losses
        self.resumes += other.resumes
        self.moved += other.moved
        start = len(self.diagnostics)
        self.diagnostics += other.diagnostics
        self._counts.update({start + index: count for index, count in other._counts.items()})
        self.drift.add(other.drift)

    def loss_counts(self) -> dict[str, int]:
        """Return how much was lost of each kind, in the order in which the kinds occurred."""
        counts: dict[str, int] = {}
        for losses in self.losses:
            for loss in losses.all():
                counts[loss.kind] = counts.get(loss.kind, 0) + loss.count
        return counts

    def unnamed_all(self, names: Iterable[str]) -> None:
        for name in names:
            self.unnamed(name)


def _is_error(code: str) -> bool:
    from pond.diagnostics.codes import CODES

    return CODES[code].severity == "error"
