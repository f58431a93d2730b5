"""The options by which commands choose messages, declared once: `pond search` and `pond stats` have them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pond.cli.times import since, until
from pond.lake.projects import from_here
from pond.search.query.query import Key
from pond.search.wire import filters_of

if TYPE_CHECKING:  # shapes only
    from pond.types import SearchFilters

Values: TypeAlias = list[str] | None

Role: TypeAlias = Annotated[
    Values, typer.Option("--role", metavar="ROLE", help="Messages of this role: user or assistant.")
]
Client: TypeAlias = Annotated[Values, typer.Option("--client", metavar="CLIENT", help="Sessions of this client.")]
Project: TypeAlias = Annotated[
    Values,
    typer.Option("--project", metavar="DIR", help="Sessions of this project or below it: a path, a name, or *part*."),
]
Session: TypeAlias = Annotated[Values, typer.Option("--session", metavar="ID", help="Messages of this session.")]
Since: TypeAlias = Annotated[str | None, since("Messages sent")]
Until: TypeAlias = Annotated[str | None, until("Messages sent")]
Tool: TypeAlias = Annotated[
    Values, typer.Option("--tool", metavar="NAME", help="Messages of a turn that used this tool.")
]
File: TypeAlias = Annotated[
    Values, typer.Option("--file", metavar="PATH", help="Messages of a turn that used this file.")
]
Has: TypeAlias = Annotated[
    Values, typer.Option("--has", metavar="WHAT", help="Messages with an attachment: image, file, audio or video.")
]  # fmt: skip
Failed: TypeAlias = Annotated[bool, typer.Option("--failed", help="Messages of a turn in which a tool failed.")]
Agent: TypeAlias = Annotated[
    Values, typer.Option("--agent", metavar="KIND", help="Messages of subagents of this kind.")
]


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
