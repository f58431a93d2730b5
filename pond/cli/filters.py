"""The options by which commands choose messages, declared once: `pond search` and `pond stats` have them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pond.lake.projects import from_here
from pond.search.query.query import Key
from pond.search.wire import filters_of

if TYPE_CHECKING:  # shapes only
    from pond.types import SearchFilters

Values: TypeAlias = list[str] | None

Role: TypeAlias = Annotated[Values, typer.Option("--role", metavar="ROLE", help="user or assistant.")]
Client: TypeAlias = Annotated[Values, typer.Option("--client", metavar="CLIENT", help="Recorded by this client.")]
Project: TypeAlias = Annotated[
    Values, typer.Option("--project", metavar="DIR", help="Of this project or below it; a name, or *part*.")
]
Session: TypeAlias = Annotated[Values, typer.Option("--session", metavar="ID", help="In this session.")]
Since: TypeAlias = Annotated[
    str | None, typer.Option("--since", "--after", metavar="TIME", help="Not older: 2026-03-14, 12h, 7d, today.")
]
Until: TypeAlias = Annotated[
    str | None, typer.Option("--until", "--before", metavar="TIME", help="Older than this.")
]  # fmt: skip
Tool: TypeAlias = Annotated[Values, typer.Option("--tool", metavar="NAME", help="In a turn that used this tool.")]
File: TypeAlias = Annotated[Values, typer.Option("--file", metavar="PATH", help="In a turn that used this file.")]
Has: TypeAlias = Annotated[
    Values, typer.Option("--has", metavar="WHAT", help="With such an attachment: image, file.")
]  # fmt: skip
Failed: TypeAlias = Annotated[bool, typer.Option("--failed", help="In a turn in which a tool failed.")]
Agent: TypeAlias = Annotated[Values, typer.Option("--agent", metavar="KIND", help="Of subagents of this kind.")]


def chosen(options: Mapping[Key, Sequence[str] | str | bool | None]) -> "SearchFilters":
    """Return the options that were given as filters of a request; raise UsageError, with the option, for a bad one."""
    typed = {key: _typed(value) for key, value in options.items()}
    # A server that is asked has another directory.
    typed[Key.PROJECT] = [from_here(project) for project in typed.get(Key.PROJECT, ())]
    return filters_of(typed, datetime.now(UTC))


def _typed(value: Sequence[str] | str | bool | None) -> Sequence[str]:
    match value:
        case None | False:
            return ()
        case True:
            return ("true",)
        case str():
            return (value,)
        case _:
            return value
