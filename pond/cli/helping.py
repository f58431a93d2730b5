"""The help of pond and of each command, from `cli.commands` and the commands' own declarations."""

import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

from pond.cli.commands import EXAMPLES, VERBS
from pond.cli.manners import EVERYWHERE
from pond.cli.terminal import say, say_pieces

_WIDEST, _COLUMN = 100, 28  # columns of a page, and of what stands on the left at most
Row = tuple[str, str]

_ABOUT = "One place for the sessions of your coding agents. Store them, find them, and move them between clients."
_OVERVIEW_OPTIONS = (("--version", "Print the version."), *EVERYWHERE)


def overview() -> None:
    """Print what there is: the commands in their groups."""
    say("Usage: pond COMMAND [ARGUMENTS]")
    _paragraph(_ABOUT)
    width = max(map(len, VERBS))
    for group, verbs in groupby(VERBS.items(), key=lambda item: item[1].group):
        _section(group, [(name, verb.help) for name, verb in verbs], width)
    _section("Options", _OVERVIEW_OPTIONS)
    say("\n`pond COMMAND --help` explains a command and shows examples.")


def of_group(verb: str, commands: dict[str, Callable[..., Any]]) -> None:
    """Print the commands that a command has of its own."""
    say(f"Usage: pond {verb} COMMAND [ARGUMENTS]")
    _paragraph(VERBS[verb].help)
    _commands(commands)
    say(f"\n`pond {verb} COMMAND --help` explains a command and shows examples.")


def of_command(
    function: Callable[..., Any], name: str, about: str, commands: dict[str, Callable[..., Any]] | None = None
) -> None:  # fmt: skip
    """Print how a command is used: arguments, options and examples, and the commands that it has of its own."""
    from pond.cli.declared import parameters

    declared = parameters(function)
    arguments = [each for each in declared if not each.flags]
    options = [each for each in declared if each.flags]
    needed = "".join(f" {each.flags[-1]} {each.metavar}" for each in options if each.required)
    words = "".join(f" {_optional(each.metavar, each.required)}" for each in arguments)
    say(f"Usage: {name} [OPTIONS]{needed}{words}{' [COMMAND]' if commands else ''}")
    _paragraph(about)
    _commands(commands or {})
    _section("Arguments", [(each.metavar.strip("[].…"), each.help) for each in arguments])
    _section("Options", [(_spelled(each.flags, each.metavar), each.help + _default(each.default)) for each in options])
    _section("Options of every command", EVERYWHERE)
    _section("Examples", EXAMPLES.get(name.removeprefix("pond "), ()), wide=True)


def _commands(commands: dict[str, Callable[..., Any]]) -> None:
    _section("Commands", [(name, (each.__doc__ or "").splitlines()[0]) for name, each in commands.items()])


def _optional(metavar: str, required: bool) -> str:
    return metavar if required or metavar.startswith("[") else f"[{metavar}]"


def _spelled(flags: tuple[str, ...], metavar: str) -> str:
    return ", ".join(flags) + (f" {metavar}" if metavar else "")


def _default(value: Any) -> str:
    shown = value is not None and type(value) in (int, float, str)
    return f" [default: {value}]" if shown else ""


def _paragraph(text: str) -> None:
    say("")
    for line in textwrap.wrap(text, _columns() - 2):
        say(f"  {line}")


def _section(title: str, rows: Iterable[Row], width: int = 0, *, wide: bool = False) -> None:
    found = list(rows)
    if not found:
        return
    say_pieces([("\n", ""), (f"{title}:", "bold")])
    for left, lines in _laid_out(found, width, wide):
        say_pieces([("  ", ""), (left, "cyan" if left.strip() else ""), (lines, "")])


def _laid_out(rows: list[Row], width: int, wide: bool) -> Iterator[Row]:
    """Yield lines in two columns; what is too wide for the left one has a line of its own."""
    widest = max(len(left) for left, _ in rows) if wide else _COLUMN
    width = width or min(widest, max(len(left) for left, _ in rows))
    if wide and width > _columns() // 2:
        width = 4
    for left, text in rows:
        lines = textwrap.wrap(text, _columns() - width - 4) or [""]
        if len(left) > width:
            yield left, ""
            left = ""
        for line in lines:
            yield left.ljust(width), f"  {line}"
            left = ""


def _columns() -> int:
    return max(40, min(_WIDEST, shutil.get_terminal_size().columns))
