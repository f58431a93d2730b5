"""The options by which commands ask for times, in one grammar; and times as people read them."""

from typing import Any

import typer

from pond.diagnostics.visible import visible
from pond.lake.times import local

_GRAMMAR = "2026-03-14, 2026-03-14T09:26, 09:26, 7d, 12h, today, yesterday"


def since(what: str) -> Any:
    """Return the option for the earliest time of something; `what` says whose time it is."""
    help = f"{what} at this time or later: {_GRAMMAR}. Local time, unless a zone is given."
    return typer.Option("--since", "--after", metavar="TIME", help=help)


def until(what: str) -> Any:
    """Return the option for the time before which something was."""
    return typer.Option("--until", "--before", metavar="TIME", help=f"{what} before this time.")


def clock(timestamp: str) -> str:
    """Return a time to the second, on this machine's clock; a text that is no time stays as it is."""
    try:
        return f"{local(timestamp):%Y-%m-%d %H:%M:%S}"
    except (ValueError, OverflowError):
        return visible(timestamp)
