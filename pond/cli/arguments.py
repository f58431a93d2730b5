"""Reads any command line by the command's own declaration, and says what is wrong with one.

`cli.quick` reads the plain ones sooner; whatever it gives up on comes here.
"""

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from pond.cli.declared import Parameter, parameters
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.nearest import did_you_mean


def read(function: Callable[..., Any], name: str, words: list[str]) -> dict[str, Any]:
    """Return the values for `function`; raise UsageError, with what helps, for words that it does not take."""
    declared = parameters(function)
    flags = {flag: each for each in declared for flag in each.flags}
    values = {each.name: each.default for each in declared if not each.required}
    plain: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            plain += rest
        elif word == "-" or not word.startswith("-"):
            plain.append(word)
        else:
            _option(word, rest, flags, values, name)
    _arguments([each for each in declared if not each.flags], plain, values, name)
    for each in declared:
        if each.required and each.name not in values:
            what = f"option `{each.flags[-1]} {each.metavar}`" if each.flags else f"argument {each.metavar}"
            _refuse(f"missing {what}", name)
    return values


def _option(
    word: str, rest: Iterator[str], flags: dict[str, Parameter], values: dict[str, Any], name: str
) -> None:  # fmt: skip
    flag, equals, value = word.partition("=")
    if not word.startswith("--") and word[:2] in flags and len(word) > 2:  # -oFILE
        flag, equals, value = word[:2], "=", word[2:].removeprefix("=")
    option = flags.get(flag)
    if option is None:
        _refuse(f"unknown option `{flag}`", name, did_you_mean(flag, flags))
    if option.is_flag:
        if equals:
            _refuse(f"option `{flag}` takes no value", name)
        values[option.name] = True
        return
    found = value if equals else next(rest, None)
    if found is None:
        _refuse(f"option `{flag}` needs a value: {flag} {option.metavar}", name)
    typed = _typed(option, flag, found, name)
    values[option.name] = [*(values.get(option.name) or []), typed] if option.is_list else typed


def _typed(option: Parameter, flag: str, text: str, name: str) -> Any:
    try:
        if option.kind in (int, int | None):
            return int(text)
        if option.kind in (float, float | None):
            return float(text)
    except ValueError:
        what = "a whole number" if option.kind in (int, int | None) else "a number"
        _refuse(f"option `{flag}` takes {what}, found `{text}`", name)
    return text


def _arguments(declared: list[Parameter], words: list[str], values: dict[str, Any], name: str) -> None:
    """Give the words to the arguments, in order; the one that takes several takes what the others leave."""
    waiting = list(words)
    for at, each in enumerate(declared):
        if each.is_list:
            after = len(declared) - at - 1
            some, waiting = waiting[: len(waiting) - after], waiting[len(waiting) - after :]
            if some:
                values[each.name] = some
        elif waiting:
            values[each.name] = waiting.pop(0)
    if waiting:
        _refuse(f"unexpected argument `{waiting[0]}`", name)


def _refuse(message: str, name: str, hint: str = "") -> NoReturn:
    raise UsageError(Diagnostic("usage", message, help=f"{hint}`{name} --help` explains the command"))
