"""What somebody may have meant who misspelt a name."""

from __future__ import annotations

from collections.abc import Iterable

from pond.diagnostics.diagnostic import Diagnostic, UsageError


def did_you_mean(typed: str, known: Iterable[str]) -> str:
    """Return a question to begin a hint with, and a space; nothing where no known name is near."""
    from difflib import get_close_matches  # for those who made a mistake

    names = sorted(known)
    short = {name.lower(): name for name in reversed(names)}
    near = get_close_matches(typed.lower(), short, 1)
    begun = [name for name in names if typed and name.lower().startswith(typed.lower())]
    meant = short[near[0]] if near else begun[0] if len(begun) == 1 else ""
    return f"did you mean `{meant}`? " if meant else ""


def unknown(what: str, typed: str, known: Iterable[str], where: str = "") -> UsageError:
    """Return the refusal of a name that is none of those known; it suggests the nearest, and lists all."""
    names = list(known)
    help = f"{did_you_mean(typed, names)}known: {', '.join(names)}"
    return UsageError(Diagnostic("usage", f"unknown {what} `{typed}`{where}", help=help))
