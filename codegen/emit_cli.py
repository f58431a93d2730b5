"""Emit the reference page on the command line: what each command's `--help` prints."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from codegen.output import MARK, REFERENCE, ROOT

PAGE = REFERENCE / "cli.md"

# The text must not depend on the terminal, the locale or the colours of whoever generates it.
_FIXED = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1", "PYTHONPATH": str(ROOT)}
_HAS_COMMANDS = re.compile(r"Usage: pond(?: \S+)* COMMAND ")
_COMMANDS = "\nCommands:\n"  # of a verb that can also be used alone
_LISTED = re.compile(r"  (?P<name>[a-z][a-z-]*)  +[A-Z]")


def targets() -> dict[Path, str]:
    """Return the page by path."""
    lines = [
        f"<!-- {MARK} from `pond --help` and the help of every command; do not edit. -->",
        "",
        "# Command line",
        "",
        "Exit codes: 0, done; 1, done, but an error was reported; 2, the request could not be carried out; 130 or",
        "143, interrupted. Sessions, tables and JSON go to standard output; what `convert` has to say about its input",
        "goes to standard error.",
        "",
    ]
    for words, text in _commands(()):
        lines += [f"## {' '.join(('pond', *words))}", "", "```text", text.rstrip("\n"), "```", ""]
    return {PAGE: "\n".join(lines).rstrip() + "\n"}


def _commands(words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every command below `words` with its help, found by reading the help itself."""
    text = _help(words)
    yield words, text
    if _HAS_COMMANDS.match(text) or _COMMANDS in text:
        for found in map(_LISTED.match, text.rpartition(_COMMANDS)[2].splitlines()):
            if found:
                yield from _commands((*words, found["name"]))


def _help(words: tuple[str, ...]) -> str:
    # A process of its own: the generator may not import the command line, and a person sees what a process prints.
    command = [sys.executable, "-m", "pond.cli.main", *words, "--help"]
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"} | _FIXED
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, cwd=ROOT)
    if done.returncode != 0:
        raise RuntimeError(f"`pond {' '.join(words)} --help` failed:\n{done.stderr}")
    return done.stdout
