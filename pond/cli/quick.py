"""Reads plain command lines from a verb's own declaration, without building a parser.

Typer builds a validator for every parameter, which costs more than converting a small file. A verb declares itself
once, for typer; this module reads the same declaration, and gives up (returns None) on anything unusual, so that typer
says what is wrong or prints help.
"""

from collections.abc import Callable
from typing import Any, get_args

from typer.models import ArgumentInfo, OptionInfo


def parse(function: Callable[..., Any], arguments: list[str]) -> dict[str, Any] | None:
    """Return the values for `function`, or None where typer should look."""
    options = options_of(function)
    names = [name for name in function.__annotations__ if name != "return"]
    defaults = function.__defaults__ or ()
    values: dict[str, Any] = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    declared = ((name, *get_args(function.__annotations__[name])) for name in names)
    positional = [(name, kind) for name, kind, info in declared if isinstance(info, ArgumentInfo)]
    words = _read(arguments, options, values)
    if words is None or len(positional) > 1:
        return None
    for name, kind in positional:
        if kind == list[str]:
            values[name] = words
        elif kind == list[str] | None:
            values[name] = words or None
        elif len(words) == 1:
            values[name] = words[0]
        elif words or name not in values:
            return None
        words = []
    return values if not words and all(name in values and values[name] != [] for name in names) else None


def options_of(function: Callable[..., Any]) -> dict[str, tuple[str, Any]]:
    """Return the options of a verb: the name and the type of the value behind each spelling."""
    options: dict[str, tuple[str, Any]] = {}
    for name, annotation in function.__annotations__.items():
        kind, info = get_args(annotation) or (None, None)
        if isinstance(info, OptionInfo):
            # With Annotated the first spelling arrives where a default would stand.
            spellings = [info.default] if type(info.default) is str else []
            for flag in [*spellings, *(info.param_decls or ())] or [f"--{name.replace('_', '-')}"]:
                options[flag] = (name, kind)
    return options


def _read(arguments: list[str], options: dict[str, tuple[str, Any]], values: dict[str, Any]) -> list[str] | None:
    """Fill `values` from the options; return the other words, or None on anything that is not plain."""
    words: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if word == "--":
            return [*words, *rest]
        if word == "-" or not word.startswith("-"):
            words.append(word)
            continue
        flag, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if flag not in options:
            return None
        name, kind = options[flag]
        if kind is bool:
            if equals:
                return None
            values[name] = True
            continue
        if not equals:
            found = next(rest, None)
            if found is None:
                return None
            value = found
        if kind in (int, int | None):
            if not value.isascii() or not value.isdigit():
                return None
            values[name] = int(value)
        elif kind in (str, str | None):
            values[name] = value
        elif kind == list[str] | None:
            values[name] = [*(values[name] or []), value]
        else:
            return None
    return words
