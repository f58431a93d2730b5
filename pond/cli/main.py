"""Entry point: look at the arguments first, import what the verb needs and nothing else."""

import importlib
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from pond._version import __version__

# Verb -> module and one line of help. A module has `run`, or `commands` for verbs of its own.
VERBS: dict[str, tuple[str, str]] = {
    "sync": (
        "pond.cli.sync",
        "Store what the clients of this machine have added, and keep the lake's indexes up to date.",
    ),
    "ingest": ("pond.cli.ingest", "Store sessions in the lake: what is new in files of any client."),
    "list": ("pond.cli.listing", "List the sessions of the lake, the most recently active first."),
    "get": ("pond.cli.get", "Show a session of the lake, a page at a time, or one message of it."),
    "restore": (
        "pond.cli.restore",
        "Write stored sessions as their own client's files again, as another client's, or as canonical events.",
    ),
    "convert": (
        "pond.cli.convert",
        "Turn sessions into canonical events, their own client's files again, or another client's sessions.",
    ),
    "verify": ("pond.cli.verify", "Prove on your own files that the round trip through canonical changes no value."),
    "status": ("pond.cli.status", "Say what the lake holds, how it stands, and what is about to be lost elsewhere."),
    "optimize": ("pond.cli.optimize", "Bring indexes up to date, put small files together, delete old versions."),
    "export": ("pond.cli.export", "Write sessions of the lake to a compact archive."),
    "import": ("pond.cli.import_", "Take the sessions of an archive into the lake, as far as they are new."),
    "erase": ("pond.cli.erase", "Erase sessions and their children for good, so that no sync brings them back."),
    "clients": ("pond.cli.clients", "List the clients pond reads and writes, versions verified and known limits."),
    "config": ("pond.cli.config", "Show the settings that hold here, and where each comes from."),
    "golden": ("pond.cli.golden", "Say what a change did to the goldens, and whether stored rows keep their keys."),
    "map": ("pond.cli.map", "Check, format and explain mapping files."),
}

OVERVIEW = """\
Usage: pond COMMAND [ARGUMENTS]

  One place for agent sessions, whatever client wrote them, and the compiler between their formats.

Commands:
{verbs}

Options:
  --version  Print the version.
  --help     Print this text; `pond COMMAND --help` explains one command.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; no traceback reaches a user."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # Both ways of being stopped unwind the stack, so that no half-written file stays behind.
    signal.signal(signal.SIGTERM, _terminate)
    try:
        return _dispatch(arguments)
    except BrokenPipeError:
        _forget_stdout()  # the reader went away (`| head`): nothing more to say, and nobody to say it to
        return 0
    except KeyboardInterrupt as stop:
        print("pond: interrupted", file=sys.stderr)
        return stop.args[0] if stop.args else 128 + signal.SIGINT
    finally:
        try:
            sys.stdout.flush()
        except OSError:
            _forget_stdout()  # the failure was reported where it happened


def _terminate(number: int, _: object) -> None:
    raise KeyboardInterrupt(128 + number)


def _forget_stdout() -> None:
    """Let the interpreter flush what is left into nothing, instead of complaining at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        width = max(map(len, VERBS))
        print(
            OVERVIEW.format(verbs="\n".join(f"  {name:<{width}}  {text}" for name, (_, text) in VERBS.items())), end=""
        )
        return 0
    if arguments[0] == "--version":
        print(f"pond {__version__}")
        return 0
    verb, rest = arguments[0], arguments[1:]
    if verb not in VERBS:
        print(f"pond: usage: unknown command `{verb}`; see `pond --help`", file=sys.stderr)
        return 2
    module = importlib.import_module(VERBS[verb][0])
    if hasattr(module, "run"):
        return _run(module.run, f"pond {verb}", rest)
    if rest and rest[0] in module.commands:
        return _run(module.commands[rest[0]], f"pond {verb} {rest[0]}", rest[1:])
    listing = "\n".join(f"  {name}  {(f.__doc__ or '').splitlines()[0]}" for name, f in module.commands.items())
    print(f"Usage: pond {verb} COMMAND [ARGUMENTS]\n\n{listing}", file=sys.stdout if "--help" in rest else sys.stderr)
    return 0 if "--help" in rest else 2


def _run(function: Callable[..., int], name: str, arguments: list[str]) -> int:
    from pond.cli.quick import parse
    from pond.cli.show import refuse
    from pond.diagnostics.diagnostic import PondError

    values = parse(function, arguments)
    if values is None:
        values, code = _with_typer(function, name, arguments)
        if values is None:
            return code
    try:
        return function(**values)
    except PondError as error:
        return refuse(error)


def _with_typer(
    function: Callable[..., int], name: str, arguments: list[str]
) -> tuple[dict[str, Any] | None, int]:  # fmt: skip
    """Let typer read the arguments: it knows every form, explains mistakes and prints help, and takes its time.

    Return the values, or None and the exit code. Typer itself does not run the command: it has its own idea of what an
    interrupt means.
    """
    import typer

    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    taken: list[dict[str, Any]] = []

    def call(**values: Any) -> None:
        taken.append(values)

    call.__doc__ = function.__doc__
    call.__signature__ = __import__("inspect").signature(function)  # type: ignore[attr-defined]
    call.__annotations__ = function.__annotations__
    app.command()(call)
    code = 0
    try:
        app(arguments, prog_name=name)
    except SystemExit as exit:
        code = exit.code if isinstance(exit.code, int) else 2
    return (taken[0] if taken else None), code


if __name__ == "__main__":
    sys.exit(main())
