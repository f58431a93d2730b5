"""Reads the two states of `golden/`: the working tree, and a git revision."""

from __future__ import annotations

from pathlib import Path

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.revisions import Checkout, Snapshot, read_folder
from pond.revisions import find_checkout as find

FOLDER = "golden"


def find_checkout(start: Path) -> Checkout:
    """Return the nearest directory from `start` up, inside its git working tree, that holds goldens."""
    found = find(start, FOLDER)
    if found is None:
        raise _refusal("golden-absent", f"there is no folder `{FOLDER}` in `{start}` or above it")
    return found


def read_tree(checkout: Checkout) -> Snapshot:
    """Return the goldens as the working tree has them."""
    folder = checkout.home / FOLDER
    try:
        return read_folder(folder)
    except OSError as error:
        name, reason = Path(error.filename).relative_to(folder).as_posix(), (error.strerror or "unknown reason").lower()
        raise _refusal("golden-unreadable", f"`{FOLDER}/{name}` cannot be read: {reason}") from None


def _refusal(code: str, message: str) -> UsageError:
    return UsageError(Diagnostic(code, message))
