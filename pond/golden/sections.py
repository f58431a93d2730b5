"""Puts a review into words: sections of lines, for any output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias, TypeVar

from pond.diagnostics.render import one_line
from pond.golden.acknowledged import FILE
from pond.golden.findings import (
    CaseChange,
    ChangedId,
    FieldChange,
    Flip,
    LossChange,
    OutputChange,
    RowChanges,
    StoredRow,
)
from pond.golden.review import RULE, Breach, Review
from pond.golden.snapshot import FOLDER

_MOST = 12  # findings of one kind that are listed; the others are counted, and --json has all


class Verbatim(str):
    """Text from a golden or a file, shown unchanged."""


class Prose(str):
    """A sentence that a person wrote, shown as plain words."""


# A bare str is our own wording.
Line: TypeAlias = tuple[str, ...]
_Finding = TypeVar("_Finding")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with lines under it; `about_case` marks those that may be left out if space is short."""

    title: Line
    lines: tuple[Line, ...]
    about_case: bool = False


def sections_of(review: Review) -> list[Section]:
    """Return the sections, the most important first."""
    comparison = review.comparison
    sections = [
        Section(_headline(review), tuple(_totals(review))),
        Section(
            ("Broken: stored rows are gone or have another key (", Verbatim(RULE), ")"), tuple(_broken(review.broken))
        ),
        Section(("Not compared",), tuple((Prose(one_line(fault)),) for fault in comparison.faults)),
        Section(("Acknowledged",), tuple(_breaches(review.acknowledged))),
        Section(("Acknowledged, but not found",), tuple(_stale(review))),
        *(Section((Verbatim(change.case),), tuple(_case(change)), about_case=True) for change in comparison.changed),
        Section(("Other files in ", Verbatim(f"{FOLDER}/")), tuple(_listed(comparison.other_files, _output))),
    ]
    return [section for section in sections if section.lines or section is sections[0]]


def _headline(review: Review) -> Line:
    comparison = review.comparison
    changed = str(len(comparison.changed)) if comparison.changed else "none"
    return f"Goldens: {changed} of {_count(comparison.cases, 'case')} changed since ", Verbatim(comparison.base)


def _totals(review: Review) -> Iterator[Line]:
    changes = review.comparison.changed
    rows = [change.rows for change in changes]
    losses = Counter(loss.state for change in changes for loss in change.losses)
    totals = [
        _count(sum(change.state == "added" for change in changes), "case added", "cases added"),
        _count(sum(change.state == "removed" for change in changes), "case removed", "cases removed"),
        _count(sum(len(each.added) for each in rows), "row added", "rows added"),
        _count(sum(len(each.removed) for each in rows), "row removed", "rows removed"),
        _count(sum(len(each.changed_ids) for each in rows), "id changed", "ids changed"),
        _count(sum(len(each.flips) for each in rows), "provenance flip"),
        _count(sum(len(each.fields) for each in rows), "field changed", "fields changed"),
        _count(losses["new"], "new loss", "new losses"),
        _count(losses["gone"], "loss gone", "losses gone"),
        _count(sum(len(change.outputs) for change in changes), "output changed", "outputs changed"),
    ]
    if found := [total for total in totals if not total.startswith("0 ")]:
        yield (", ".join(found),)


def _broken(broken: Sequence[Breach]) -> Iterator[Line]:
    yield from _breaches(broken)
    if any(breach.outlived for breach in broken):
        yield ("an entry for all rows of a case counts only in the change that adds it",)
    if broken:
        yield "if this is meant, say why in ", Verbatim(f"{FOLDER}/{FILE}")


def _breaches(found: Iterable[Breach]) -> Iterator[Line]:
    for (case, code, because), group in groupby(found, key=lambda breach: (breach.case, breach.code, breach.because)):
        reason: Line = (", because: ", Prose(because)) if because else ()

        def line(breach: Breach, case: str = case, code: str = code, reason: Line = reason) -> Line:
            return Verbatim(code), " ", Verbatim(case), ": ", *_renamed(breach.row, breach.new), *reason

        yield from _listed(tuple(group), line)


def _stale(review: Review) -> Iterator[Line]:
    for entry in review.stale:
        yield Verbatim(entry.case), f": {entry.change} ", Verbatim(entry.row)


def _case(change: CaseChange) -> Iterator[Line]:
    rows = change.rows
    if change.state == "changed":
        yield from _rows(rows)
    else:
        kinds = Counter(row.kind for row in (*rows.added, *rows.removed))
        holds = ", ".join(_count(number, kind) for kind, number in kinds.items()) or "no rows"
        yield (f"the case is {'new' if change.state == 'added' else 'gone'}: {holds}",)
    for state in ("new", "gone"):
        yield from _listed([loss for loss in change.losses if loss.state == state], _loss)
    yield from _listed(change.outputs, _output)


def _rows(rows: RowChanges) -> Iterator[Line]:
    if rows.before != rows.after:
        yield (f"rows: {rows.before} -> {rows.after}",)
    yield from _listed(rows.removed, lambda row: ("row removed: ", *_row(row)))
    yield from _listed(rows.changed_ids, _changed_id)
    yield from _listed(rows.flips, _flip)
    yield from _listed(rows.added, lambda row: ("row added: ", *_row(row)))
    by_field: dict[str, list[FieldChange]] = {}
    for field in rows.fields:
        by_field.setdefault(field.field, []).append(field)
    yield from _listed(list(by_field.values()), _field)
    if rows.reordered:
        yield ("rows stand in another order",)


def _changed_id(change: ChangedId) -> Line:
    content = "same content" if change.same_content else "other content, same place"
    return "id changed: ", *_renamed(change.old, change.new), f", {content}"


def _flip(flip: Flip) -> Line:
    return f"provenance {flip.before} -> {flip.after}: ", *_row(flip.row), " ", Verbatim(flip.excerpt)


def _field(changes: Sequence[FieldChange]) -> Line:
    first = changes[0]
    where = "" if len(changes) == 1 else f"{len(changes)} rows, first "
    return (
        "field ",
        Verbatim(first.field),
        f": {where}",
        *_row(first.row),
        " ",
        Verbatim(first.before),
        " -> ",
        Verbatim(first.after),
    )


def _loss(loss: LossChange) -> Line:
    return f"{loss.state} loss to ", Verbatim(loss.target), ": ", Verbatim(loss.entry)


def _output(output: OutputChange) -> Line:
    return "output ", Verbatim(output.name), f" {output.state}: +{output.lines_added} -{output.lines_removed} lines"


def _row(row: StoredRow) -> Line:
    return _label(row), Verbatim(row.id)


def _renamed(old: StoredRow, new: StoredRow | None) -> Line:
    """Name a row and its new name; with more of its key if the id alone would not show the change."""
    if new is None:
        return _row(old)
    if old.session == new.session and old.id != new.id:
        return *_row(old), " -> ", Verbatim(new.id)
    return _label(old), Verbatim(_key(old)), " -> ", Verbatim(_key(new))


def _label(row: StoredRow) -> str:
    return f"{row.kind} ({row.what}) " if row.what else f"{row.kind} "


def _key(row: StoredRow) -> str:
    return "/".join(filter(None, (row.session, row.message, row.id)))


def _listed(found: Sequence[_Finding], line: Callable[[_Finding], Line]) -> Iterator[Line]:
    """Describe each finding in a line; if there are many, the first few and how many more."""
    for each in found[:_MOST]:
        yield line(each)
    if len(found) > _MOST:
        yield (f"… and {len(found) - _MOST} more like the last",)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
