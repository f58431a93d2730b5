"""Entry point: look at the arguments first, import what the verb needs and nothing else."""

import atexit
import importlib
import io
import os
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from typing import Any, NoReturn

from pond._version import __version__
from pond.config.process import Role, become
from pond.diagnostics.interrupt import interrupt_behind

# Verb -> module, and its help in one line: here alone, so that no verb is imported for the overview.
# A module has `run`, or `commands` for verbs of its own, which say what they do in their docstrings.
VERBS: dict[str, tuple[str, str]] = {
    "sync": (
        "pond.cli.sync",
        "Store what the clients of this machine have added, and keep the lake's indexes up to date.",
    ),
    "ingest": ("pond.cli.ingest", "Store sessions in the lake: what is new in files of any client."),
    "search": ("pond.cli.search", "Find messages of the lake by what was said in them, the best sessions first."),
    "sql": ("pond.cli.sql", "Run one read-only SQL query over the lake's sessions, messages and parts."),
    "stats": (
        "pond.cli.stats",
        "Count sessions, messages, prompts, tools, tokens and days, by client, project, model and month.",
    ),
    "list": ("pond.cli.listing", "List the sessions of the lake, the most recently active first; times are UTC."),
    "get": ("pond.cli.get", "Show a session of the lake, a page at a time, or one message of it."),
    "restore": (
        "pond.cli.restore",
        "Write stored sessions as their own client's files again, as another client's, or as canonical events.",
    ),
    "convert": (
        "pond.cli.convert",
        "Turn sessions into canonical events, their own client's files again, or another client's sessions.",
    ),
    "verify": (
        "pond.cli.verify",
        "Prove on your own files that the round trip through canonical, or through a lake, changes no value.",
    ),
    "status": (
        "pond.cli.status",
        "Say what the lake holds, how its tables, indexes and sources stand, and what clients are about to delete.",
    ),
    "optimize": (
        "pond.cli.optimize",
        "Bring the lake's indexes up to date, put small files together and delete old versions.",
    ),
    "mcp": (
        "pond.cli.mcp",
        "Answer a coding client over MCP on standard streams; `pond mcp install` registers pond with clients.",
    ),
    "skill": ("pond.cli.skill", "Tell clients when to use pond: one SKILL.md in the folders that they read."),
    "serve": ("pond.cli.serve", "Answer requests over HTTP: search, get, list, ingest and more."),
    "namespace": ("pond.cli.namespace", "Create and list the namespaces that a server keeps apart."),
    "export": ("pond.cli.export", "Write sessions with their children to a compact archive, for `pond import`."),
    "import": ("pond.cli.import_", "Take the sessions of an archive into the lake, as far as they are new."),
    "erase": ("pond.cli.erase", "Erase sessions and their children for good, so that no sync brings them back."),
    "model": ("pond.cli.model", "List, add, check and remove the models that messages can be embedded with."),
    "pod": ("pond.cli.pod", "Show and change what named agents are now, and restore them."),
    "clients": ("pond.cli.clients", "List the clients pond reads and writes, versions verified and known limits."),
    "config": ("pond.cli.config", "Show the settings that hold here, and where each comes from."),
    "golden": (
        "pond.cli.golden",
        "Say what a change did to the goldens; exit 1 where a stored row is gone or has another key.",
    ),
    "schema": ("pond.cli.schema", "List, print, publish and compare the schemas of pond's types."),
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
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        width = max(map(len, VERBS))
        sys.stdout.write(
            OVERVIEW.format(verbs="\n".join(f"  {name:<{width}}  {text}" for name, (_, text) in VERBS.items()))
        )
        return 0
    if arguments[0] == "--version":
        sys.stdout.write(f"pond {__version__}\n")
        return 0
    verb, rest = arguments[0], arguments[1:]
    if verb not in VERBS:
        _complain("pond: usage: unknown command ", f"`{verb}`; see `pond --help`")
        return 2
    if arguments == ["mcp"]:  # a client waits for the answer, and not for long
        from pond.transports.mcp.stdio import serve

        serve()
    home, help = VERBS[verb]
    module = importlib.import_module(home)
    if rest and rest[0] in getattr(module, "commands", ()):
        command = module.commands[rest[0]]
        return _run(command, f"pond {verb} {rest[0]}", command.__doc__, rest[1:])
    if hasattr(module, "run"):
        ordered = module.ordered(rest) if hasattr(module, "ordered") else rest
        code = _run(module.run, f"pond {verb}", help, ordered)
        if "--help" in rest and hasattr(module, "commands"):
            sys.stdout.write(f"\nCommands:\n{_listing(module.commands)}\n")
        return code
    listing = _listing(module.commands)
    (sys.stdout if "--help" in rest else sys.stderr).write(f"Usage: pond {verb} COMMAND [ARGUMENTS]\n\n{listing}\n")
    return 0 if "--help" in rest else 2


def _listing(commands: dict[str, Callable[..., int]]) -> str:
    return "\n".join(f"  {name}  {(f.__doc__ or '').splitlines()[0]}" for name, f in commands.items())


def _complain(beginning: str, reason: str) -> None:
    """Print what is wrong with the words of a command, which may be anything; the reason is one line."""
    from pond.cli.terminal import warn  # `pond --version` needs none of it
    from pond.diagnostics.visible import one_line_of

    warn(beginning + one_line_of(reason))


def _run(function: Callable[..., int], name: str, help: str, arguments: list[str]) -> int:
    from pond.cli.hints import begin
    from pond.cli.quick import parse
    from pond.cli.show import refuse
    from pond.codec.surprise import told
    from pond.diagnostics.diagnostic import PondError

    values = parse(function, arguments)
    if values is None:
        values, code = _with_typer(function, name, help, arguments)
        if values is None:
            return code
    begin(function)
    try:
        return function(**values)
    except PondError as error:
        if (stop := interrupt_behind(error)) is not None:
            raise stop from None  # what was interrupted failed over it
        return refuse(error)
    except BrokenPipeError:
        raise
    except Exception as error:  # nobody contained it
        return refuse(PondError(*told(error, name)))


def _with_typer(
    function: Callable[..., int], name: str, help: str, arguments: list[str]
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

    call.__doc__ = help
    call.__signature__ = __import__("inspect").signature(function)  # type: ignore[attr-defined]
    call.__annotations__ = function.__annotations__
    app.command()(call)
    code = 0
    with redirect_stderr(io.StringIO()) as said:  # it repeats the words it does not know
        try:
            app(arguments, prog_name=name)
        except SystemExit as exit:
            code = exit.code if isinstance(exit.code, int) else 2
    if text := said.getvalue():
        beginning, mark, reason = text.partition("Error: ")
        _complain(beginning + mark, reason.rstrip("\n"))
    return (taken[0] if taken else None), code


if __name__ == "__main__":
    sys.exit(main())
