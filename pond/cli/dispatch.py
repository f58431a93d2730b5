"""Runs one command: looks at the words first, and imports what the verb needs and nothing else."""

from __future__ import annotations

import atexit
import importlib
import os
import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NoReturn

from pond._version import __version__
from pond.cli import manners
from pond.cli.commands import VERBS
from pond.config.process import Role, become
from pond.diagnostics.interrupt import interrupt_behind

COMPLETE = "__complete"
"""What the scripts of `pond completion` call."""


def run(arguments: list[str]) -> int:
    """Run one command in this process and return its exit code; no traceback reaches a user."""
    become(Role.COMMAND)
    # Both ways of being stopped unwind the stack, so that no half-written file stays behind.
    signal.signal(signal.SIGTERM, _terminate)
    try:
        return _dispatch(arguments)
    except BrokenPipeError:
        _forget_stdout()  # the reader went away (`| head`): nothing more to say, and nobody to say it to
        return 0
    except BaseException as error:
        stop = interrupt_behind(error)
        if stop is None:
            raise
        _end_at_once(next(iter([*stop.args, *_told_to_stop]), 128 + signal.SIGINT))
    finally:
        try:
            sys.stdout.flush()
        except OSError:
            _forget_stdout()  # the failure was reported where it happened


_told_to_stop: list[int] = []  # the code to end with: a library that catches the interrupt raises it without


def _terminate(number: int, _: object) -> None:
    _told_to_stop[:] = [128 + number]
    raise KeyboardInterrupt(128 + number)


def _end_at_once(code: int) -> NoReturn:
    """End the process; what it was doing has been unwound.

    Python is not taken down in order: threads of Lance that were interrupted in their work still call back into it,
    and would abort the process.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    sys.stderr.write("pond: interrupted\n")
    atexit._run_exitfuncs()  # temporary files
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def _forget_stdout() -> None:
    """Let the interpreter flush what is left into nothing, instead of complaining at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(arguments: list[str]) -> int:
    manners.current = manners.Manners()
    try:
        before = manners.leading(arguments)
        verb, rest = arguments[before : before + 1], [*arguments[:before], *arguments[before + 1 :]]
        return _verb(verb[0], rest) if verb else _overview(rest)
    except Exception as error:
        from pond.cli.show import refuse
        from pond.diagnostics.diagnostic import PondError

        if not isinstance(error, PondError):
            raise
        return refuse(error)


def _overview(words: list[str]) -> int:
    from pond.cli import helping

    manners.taken(words, {})
    helping.overview()
    return 0


def _verb(verb: str, rest: list[str]) -> int:
    if verb == "--version":
        sys.stdout.write(f"pond {__version__}\n")
        return 0
    if verb == COMPLETE:
        from pond.cli.completing import answer

        return answer(rest)
    if verb == "help":
        return _verb(rest[0], [*rest[1:], "--help"]) if rest and rest[0] in VERBS else _overview(rest)
    if verb not in VERBS:
        manners.taken(rest, {})
        known = [name for name in (*VERBS, "--version", "--help") if name.startswith("-") == verb.startswith("-")]
        what = "option" if verb.startswith("-") else "command"
        raise _unknown(f"unknown {what} `{verb}`", verb, known, "`pond --help` lists the commands")
    if verb == "mcp" and not rest:  # a client waits for the answer, and not for long
        from pond.transports.mcp.stdio import serve

        serve()
    home, _, help = VERBS[verb]
    module = importlib.import_module(home)
    commands = getattr(module, "commands", {})
    # What stands before the command of a command is no value of one of its options.
    name = next((word for word in rest if not word.startswith("-")), None)
    if name is not None and name in commands:
        rest.remove(name)
        command = commands[name]
        return _run(command, f"pond {verb} {name}", command.__doc__ or "", rest, list)
    if hasattr(module, "run"):
        return _run(module.run, f"pond {verb}", help, rest, getattr(module, "ordered", list), commands)
    return _group(verb, commands, name, rest)


def _group(verb: str, commands: dict[str, Callable[..., int]], name: str | None, rest: list[str]) -> int:
    """Print the commands of a command, or say that one is missing or unknown."""
    manners.taken(rest, {})
    if manners.current.help:
        from pond.cli import helping

        helping.of_group(verb, commands)
        return 0
    what = f"unknown command `pond {verb} {name}`" if name else f"`pond {verb}` needs a command"
    raise _unknown(what, name or "", commands, f"one of {', '.join(commands)}")


def _unknown(what: str, typed: str, known: Iterable[str], help: str) -> Exception:
    """Return the refusal of a command that there is not; who makes no mistake does not pay for the import."""
    from pond.diagnostics.diagnostic import Diagnostic, UsageError
    from pond.diagnostics.nearest import did_you_mean

    return UsageError(Diagnostic("usage", what, help=f"{did_you_mean(typed, known)}{help}"))


def _run(
    function: Callable[..., int],
    name: str,
    help: str,
    words: list[str],
    ordered: Callable[[list[str]], list[str]],
    commands: dict[str, Callable[..., int]] | None = None,
) -> int:
    from pond.cli.hints import begin
    from pond.cli.quick import options_of, parse
    from pond.cli.show import refuse
    from pond.codec.surprise import told
    from pond.diagnostics.diagnostic import PondError

    begin(function)
    own = manners.taken(words, options_of(function))
    if manners.current.help:
        from pond.cli import helping

        helping.of_command(function, name, help, commands)
        return 0
    own = ordered(own)
    values = parse(function, own)
    if values is None:
        from pond.cli.arguments import read

        values = read(function, name, own)
    try:
        return function(**values)
    except PondError as error:
        if (stop := interrupt_behind(error)) is not None:
            raise stop from None  # what was interrupted failed over it
        return refuse(error)
    except BrokenPipeError:
        raise
    except Exception as error:  # nobody contained it
        if manners.current.verbose:
            import traceback

            from pond.cli.terminal import warn

            warn(traceback.format_exc())
        return refuse(PondError(*told(error, name)))
