"""The whole review: find the checkout, read both states, compare, judge."""

from __future__ import annotations

from pathlib import Path

from pond.diagnostics.diagnostic import UsageError
from pond.golden.acknowledged import FILE, Acknowledgement, read_acknowledged
from pond.golden.compare import compare
from pond.golden.review import Review, review
from pond.golden.snapshot import FOLDER, find_checkout, read_tree
from pond.revisions import read_revision


def check(directory: Path, base: str) -> Review:
    """Return what the working tree around `directory` changed in the goldens since `base`, judged."""
    checkout = find_checkout(directory)
    before, after = read_revision(checkout, base), read_tree(checkout)
    now = read_acknowledged(after.get(FILE, b""), f"{FOLDER}/{FILE}")
    return review(compare(base, before, after), now, _at_base(before.get(FILE, b"")))


def _at_base(content: bytes) -> list[Acknowledgement]:
    try:
        return read_acknowledged(content, FILE)
    except UsageError:
        return []  # a broken file at the base is being fixed now; all its entries count as new
