"""Compares two states of `golden/`, case by case."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from difflib import SequenceMatcher

from pond.diagnostics.diagnostic import Diagnostic
from pond.golden.acknowledged import FILE as ACKNOWLEDGED
from pond.golden.findings import CaseChange, Comparison, LossChange, OutputChange, RowChanges, State
from pond.golden.rows import NotRows, compare_rows, read_rows
from pond.golden.snapshot import FOLDER
from pond.revisions import Snapshot

# <client>/<case>.canonical.json, .native.txt, .to-<other>.txt, .to-<other>.loss.txt
_GOLDEN = re.compile(r"(?P<case>[^/]+/[^/]+?)\.(?P<view>canonical\.json|native\.txt|to-[^/.]+(?:\.loss)?\.txt)")
_CANONICAL = "canonical.json"
_LOSS = ".loss.txt"

_Views = dict[str, bytes]


def compare(base: str, before: Snapshot, after: Snapshot) -> Comparison:
    """Return all differences between the goldens of `base` and the current ones."""
    faults: list[Diagnostic] = []
    old, new = _by_case(before), _by_case(after)
    cases = sorted(old.keys() | new.keys())
    found = (_compare_case(case, old.get(case, {}), new.get(case, {}), faults) for case in cases)
    return Comparison(
        base=base,
        cases=len(cases),
        changed=tuple(change for change in found if change is not None),
        other_files=tuple(_outputs(_others(before), _others(after))),
        faults=tuple(faults),
    )


def _by_case(snapshot: Snapshot) -> dict[str, _Views]:
    cases: defaultdict[str, _Views] = defaultdict(dict)
    for path, content in snapshot.items():
        if found := _GOLDEN.fullmatch(path):
            cases[found["case"]][found["view"]] = content
    return dict(cases)


def _others(snapshot: Snapshot) -> _Views:
    return {path: text for path, text in snapshot.items() if not _GOLDEN.fullmatch(path) and path != ACKNOWLEDGED}


def _compare_case(case: str, before: _Views, after: _Views, faults: list[Diagnostic]) -> CaseChange | None:
    state: State = "added" if not before else "removed" if not after else "changed"
    change = CaseChange(
        case=case,
        state=state,
        rows=_compare_rows(f"{FOLDER}/{case}.{_CANONICAL}", before, after, faults),
        losses=tuple(_losses(before, after)),
        outputs=tuple(_outputs(_texts(before), _texts(after))),
    )
    told = state != "changed" or change.rows.happened() or change.losses or change.outputs
    return change if told else None


def _compare_rows(file: str, before: _Views, after: _Views, faults: list[Diagnostic]) -> RowChanges:
    try:
        old = read_rows(before.get(_CANONICAL, b"[]"))
    except NotRows as reason:
        # Not an error: otherwise nobody could fix it.
        faults.append(Diagnostic("golden-base-unreadable", f"`{file}` at the base: {reason}"))
        old = None
    try:
        new = read_rows(after.get(_CANONICAL, b"[]"))
    except NotRows as reason:
        faults.append(Diagnostic("golden-unreadable", f"`{file}`: {reason}"))
        new = None
    # A file that cannot be read does not count as a golden without rows.
    return RowChanges() if old is None or new is None else compare_rows(old, new)


def _losses(before: _Views, after: _Views) -> Iterator[LossChange]:
    for view in sorted(view for view in before.keys() | after.keys() if view.endswith(_LOSS)):
        target = view.removesuffix(_LOSS).removeprefix("to-")
        old, new = _entries(before.get(view, b"")), _entries(after.get(view, b""))
        for entry in (new - old).elements():
            yield LossChange(target, entry.split()[0], entry, "new")
        for entry in (old - new).elements():
            yield LossChange(target, entry.split()[0], entry, "gone")


def _entries(content: bytes) -> Counter[str]:
    lines = (line.strip() for line in _lines(content))
    return Counter(line for line in lines if line and not line.startswith("#"))


def _texts(views: _Views) -> _Views:
    return {
        view.removesuffix(".txt"): content
        for view, content in views.items()
        if view != _CANONICAL and not view.endswith(_LOSS)
    }


def _outputs(before: _Views, after: _Views) -> Iterator[OutputChange]:
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        state: State = "added" if old is None else "removed" if new is None else "changed"
        lines = _lines(old or b""), _lines(new or b"")
        if state != "changed" or lines[0] != lines[1]:
            yield OutputChange(name, state, *_line_counts(*lines))


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "backslashreplace").splitlines()


def _line_counts(old: list[str], new: list[str]) -> tuple[int, int]:
    """Return how many lines were added and removed."""
    came = went = 0
    for tag, first, end, other_first, other_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            came, went = came + other_end - other_first, went + end - first
    return came, went
