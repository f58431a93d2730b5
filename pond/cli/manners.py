"""What holds for every command: how much it says, whether in colour, and whether a program reads it.

`main` sets it once, from options that no command declares itself; `cli.terminal` and `cli.show` go by it.
"""

from collections.abc import Mapping
from typing import Any, Final

COLOURS: Final = ("auto", "always", "never")
HELP: Final = ("-h", "--help")
_FLAGS: Final = {"-q": "quiet", "--quiet": "quiet", "-v": "verbose", "--verbose": "verbose"}
_COLOUR: Final = ("--color", "--colour")
_JSON: Final = "--json"

# Spellings, the name of a value, and what each does: the last lines of every command's help.
EVERYWHERE: Final = (
    ("-q, --quiet", "Print results and errors only: no progress, notes or summaries."),
    ("-v, --verbose", "Print every warning in full, and where an unexpected error came from."),
    ("--color WHEN", "Use colour: auto (on a terminal), always or never. NO_COLOR turns it off, too."),
    ("-h, --help", "Print this help."),
)
SPELLINGS: Final = (*HELP, *_FLAGS, *_COLOUR)


class Manners:
    """How a command is to behave."""

    def __init__(self) -> None:
        self.quiet = False
        self.verbose = False
        self.colour = "auto"
        self.json = False  # errors, too, are for a program
        self.help = False


current = Manners()


def taken(words: list[str], options: Mapping[str, tuple[str, Any]]) -> list[str]:
    """Set the manners that some words of a command ask for; return the other words.

    `options` are the command's own: what follows one of them is its value, whatever it looks like.
    """
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        flag, equals, value = word.partition("=")
        if word == "--":
            return [*kept, word, *rest]
        if word in HELP:
            current.help = True
        elif word in _FLAGS:
            setattr(current, _FLAGS[word], True)
        elif flag in _COLOUR:
            current.colour = _colour(flag, value if equals else next(rest, None))
        else:
            current.json = current.json or word == _JSON
            kept.append(word)
            if not equals and options.get(flag, ("", bool))[1] is not bool:
                kept += [value for value in [next(rest, None)] if value is not None]
    return kept


def leading(words: list[str]) -> int:
    """Return how many words before the command are manners."""
    count = 0
    while count < len(words) and words[count].partition("=")[0] in SPELLINGS:
        count += 2 if words[count] in _COLOUR else 1
    return min(count, len(words))


def _colour(flag: str, value: str | None) -> str:
    if value not in COLOURS:
        from pond.diagnostics.diagnostic import Diagnostic, UsageError

        found = "nothing" if value is None else f"`{value}`"
        raise UsageError(Diagnostic("usage", f"`{flag}` takes {', '.join(COLOURS)}; found {found}"))
    return value
