"""What could come next on a command line: commands, options, and values of options and arguments."""

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from pond.cli import manners
from pond.cli.commands import VERBS
from pond.cli.declared import Parameter, parameters

Candidate = tuple[str, str]
_FILES, _DIRS = (":files", ""), (":dirs", "")
_MOST_SESSIONS = 100
_PLAIN = re.compile(r"[\w./@+-]+", re.ASCII)  # what no shell takes for something else
_COMMAND_OPTIONS = (("--version", "Print the version."), ("--help", "Print the help."))


def answer(words: list[str]) -> int:
    """Print what could stand for the last word, for the shell that the first one names; whatever fails, nothing."""
    with suppress(Exception):
        shell, *line = words
        for value, meaning in complete(shell, line or [""]):
            sys.stdout.write(f"{value}\t{meaning}\n")
    return 0


def complete(shell: str, line: list[str]) -> Iterator[Candidate]:
    """Yield what the last word of a line could become."""
    *before, current = _joined(line)
    before = before[manners.leading(before) :]
    found = _of_line(before, current)
    # bash takes `=` for the end of a word, and wants what comes behind it.
    flag, equals, value = current.partition("=")
    prefix = "" if shell == "bash" or not equals else f"{flag}="
    wanted = value if equals and flag.startswith("-") else current
    for word, meaning in found:
        if word.startswith(":"):
            yield word, meaning
        elif word.startswith(wanted):
            yield prefix + word, meaning


def _joined(line: list[str]) -> list[str]:
    """Return the words with `--option=value` in one piece again, which bash takes apart."""
    words: list[str] = []
    for word in line:
        if words and (word == "=" or words[-1].endswith("=")) and words[-1].startswith("--"):
            words[-1] += word
        else:
            words.append(word)
    return words


def _of_line(before: list[str], current: str) -> Iterable[Candidate]:
    if not before:
        verbs = [(name, verb.help) for name, verb in VERBS.items()]
        return [*verbs, *_COMMAND_OPTIONS] if current.startswith("-") else verbs
    verb, *words = before
    if verb not in VERBS:
        return []
    module = importlib.import_module(VERBS[verb].module)
    commands = getattr(module, "commands", {})
    if words and words[0] in commands:
        return _of_command(commands[words[0]], words[1:], current)
    named = [] if words else [(name, (each.__doc__ or "").splitlines()[0]) for name, each in commands.items()]
    return [*named, *(_of_command(module.run, words, current) if hasattr(module, "run") else ())]


def _of_command(function: Callable[..., Any], words: list[str], current: str) -> Iterable[Candidate]:
    declared = parameters(function)
    flags = {flag: each for each in declared for flag in each.flags}
    flag, equals, _ = current.partition("=")
    waiting = flag if equals else (words[-1] if words else "")
    if waiting in ("--color", "--colour"):
        return [(name, "") for name in manners.COLOURS]
    if waiting in flags and not flags[waiting].is_flag:
        return _values(flags[waiting], words, current)
    if current.startswith("-"):
        return [*_flags(declared), *((flag, "") for flag in manners.SPELLINGS)]
    arguments = [each for each in declared if not each.flags]
    at = sum(1 for _ in _plain(words, flags))
    if not arguments or (at >= len(arguments) and not arguments[-1].is_list):
        return []
    return _values(arguments[min(at, len(arguments) - 1)], words, current)


def _plain(words: list[str], flags: dict[str, Parameter]) -> Iterator[str]:
    """Yield the words that are arguments."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            yield word
        elif word in flags and not flags[word].is_flag:
            next(rest, None)


def _flags(declared: list[Parameter]) -> Iterator[Candidate]:
    for each in declared:
        for flag in each.flags:
            yield flag, each.help.split(". ")[0]


# --- values ----------------------------------------------------------------------------------------------------------


def _values(parameter: Parameter, words: list[str], current: str) -> Iterable[Candidate]:
    what = parameter.metavar.strip("[].")
    if what in _KINDS:
        return _KINDS[what](words, current.partition("=")[2] if current.startswith("--") else current)
    if "|" in what and what == what.lower():
        return [(choice, "") for choice in what.split("|")]
    return _NAMES.get(what, ())


def _clients(words: list[str], _: str) -> Iterator[Candidate]:
    from pond.codec.registry import adapter, clients

    for name in clients():
        yield name, adapter(name).declared()["title"]
    if words and words[-1] == "--to":
        yield "canonical", "pond's own events"


def _sessions(words: list[str], current: str) -> Iterator[Candidate]:
    from pond.config.load import load
    from pond.lake.find import beginning_with
    from pond.operations.service import Service

    lake = words[words.index("--lake") + 1] if "--lake" in words[:-1] else None
    store = Service(load({"lake": lake})).reading(None)
    for id, title in beginning_with(store, current, _MOST_SESSIONS):
        if _PLAIN.fullmatch(id):
            yield id, " ".join("".join(c if c.isprintable() else " " for c in title).split())


_KINDS: dict[str, Callable[[list[str], str], Iterable[Candidate]]] = {
    "CLIENT": _clients,
    "SESSION": _sessions,
    "SESSION|MESSAGE": _sessions,
    "ID": _sessions,
    **dict.fromkeys(("DIR", "DIRECTORY", "PATH|URI"), lambda words, current: [_DIRS]),
    **dict.fromkeys(("FILE", "FILE.pond", "PATH", "INPUT", "OUT", "DIR|REV"), lambda words, current: [_FILES]),
}
_NAMES: dict[str, tuple[Candidate, ...]] = {
    "TIME": (("today", ""), ("yesterday", ""), ("24h", ""), ("7d", ""), ("30d", "")),
    "STAGE": (("import", ""), ("embed", ""), ("update-indexes", "")),
    "ROLE": (("user", ""), ("assistant", "")),
    "WHAT": (("image", ""), ("file", ""), ("audio", ""), ("video", "")),
    "MODE": (("conversational", ""), ("complete", ""), ("verbatim", "")),
    "ORDER": (("relevance", ""), ("recent", "")),
    "FORMAT": (("table", ""), ("json", ""), ("csv", ""), ("ndjson", ""), ("parquet", "")),
}
