"""What somebody may have meant who misspelt a name."""

from __future__ import annotations

from collections.abc import Iterable

from pond.diagnostics.diagnostic import Diagnostic, UsageError


def nearest(typed: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """Return the known name that looks most like the one typed, if one looks alike."""
    from difflib import get_close_matches  # for those who made a mistake

    return next(iter(get_close_matches(typed, list(known), 1, alike)), None)


def did_you_mean(typed: str, known: Iterable[str]) -> str:
    """Return a question to begin a hint with, and a space; nothing where no known name is near."""
    names = sorted(known)
    short = {name.lower(): name for name in reversed(names)}
    near = nearest(typed.lower(), short)
    begun = [name for name in names if typed and name.lower().startswith(typed.lower())]
    meant = short[near] if near else begun[0] if len(begun) == 1 else ""
    return f"did you mean `{meant}`? " if meant else ""


def unknown(what: str, typed: str, known: Iterable[str], where: str = "") -> UsageError:
    """Return the refusal of a name that is none of those known; it suggests the nearest, and lists all."""
    names = list(known)
    help = f"{did_you_mean(typed, names)}known: {', '.join(names)}"
    return UsageError(Diagnostic("usage", f"unknown {what} `{typed}`{where}", help=help))
