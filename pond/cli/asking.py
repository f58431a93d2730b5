"""Asks a person before something of theirs is changed."""

import sys
from collections.abc import Mapping
from pathlib import Path

from pond.cli.terminal import say
from pond.config.locations import home, no_home
from pond.diagnostics.diagnostic import Diagnostic, UsageError


def agreed(question: str, option: str) -> bool:
    """Ask; raise UsageError where nobody is there to answer, with the option that answers beforehand."""
    if not sys.stdin.isatty():
        help = f"`{option}` does it without asking"
        raise UsageError(Diagnostic("usage", "nobody is there to be asked", help=help))
    say(f"{question} [y/N] ", sys.stderr, end="")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def own_home(environ: Mapping[str, str]) -> Path:
    """Return the home directory; raise UsageError where none is known."""
    found = home(environ)
    if found is None:
        raise no_home("settings of clients")
    return found
