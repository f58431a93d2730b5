"""Judges a comparison: which findings break a rule, and which of them are acknowledged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pond.golden.acknowledged import ALL_ROWS, Acknowledgement, Change
from pond.golden.findings import Comparison, StoredRow

RULE = "adapter-integrity-additive-sync"


@dataclass(frozen=True, slots=True)
class Breach:
    """A stored row that an adapter would no longer make, or would make with another key."""

    case: str
    change: Change
    row: StoredRow
    new: StoredRow | None = None
    because: str = ""  # the reason, if it is acknowledged
    outlived: bool = False  # there is an entry for all rows of the case, but it is older than the base

    @property
    def code(self) -> str:
        return f"golden-{self.change}"


@dataclass(frozen=True, slots=True)
class Review:
    """A comparison with its verdict."""

    comparison: Comparison
    broken: tuple[Breach, ...]
    acknowledged: tuple[Breach, ...]
    stale: tuple[Acknowledgement, ...]

    @property
    def exit_code(self) -> int:
        """Return 1 if a rule is broken or a current golden cannot be read, otherwise 0."""
        return int(bool(self.broken) or any(fault.severity == "error" for fault in self.comparison.faults))


def review(comparison: Comparison, now: Sequence[Acknowledgement], at_base: Sequence[Acknowledgement]) -> Review:
    """Judge a comparison, given what is acknowledged now and was already at the base."""
    fresh = Counter(now) - Counter(at_base)
    used: set[Acknowledgement] = set()
    broken, acknowledged = [], []
    for breach in breaches(comparison):
        entries = [entry for entry in now if _covers(entry, breach)]
        # An entry for a whole case is about the change that added it; it must not excuse every later one.
        counting = [entry for entry in entries if entry.row != ALL_ROWS or entry in fresh]
        used.update(counting)
        if counting:
            acknowledged.append(replace(breach, because=counting[0].because))
        else:
            broken.append(replace(breach, outlived=bool(entries)))
    stale = tuple(entry for entry in now if entry in fresh and entry not in used)
    return Review(comparison, tuple(broken), tuple(acknowledged), stale)


def breaches(comparison: Comparison) -> Iterator[Breach]:
    """Yield every finding that breaks the rule that a stored row stays and keeps its key."""
    for change in comparison.changed:
        for row in change.rows.removed:
            yield Breach(change.case, "removed-row", row)
        for moved in change.rows.changed_ids:
            yield Breach(change.case, "changed-id", moved.old, moved.new)


def _covers(entry: Acknowledgement, breach: Breach) -> bool:
    return (entry.case, entry.change) == (breach.case, breach.change) and entry.row in (ALL_ROWS, breach.row.id)
