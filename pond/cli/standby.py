"""Runs commands in a process that a server keeps ready: a fork of one that has imported all that they need.

To start Python and to import what reads options and settings costs several times what a command does that a server
answers. So the command hands itself over: its words, streams, directory and environment. The fork runs the code that
the command would have run itself, and its streams are the command's own. Where nobody stands by, the command runs as
ever. The first half of this module is the command's and imports next to nothing.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import contextmanager, suppress

from pond._version import __version__
from pond.config.runtime import is_own, runtime_directory

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import NoReturn

    Run = Callable[[list[str]], int]

VERBS = ("search", "get", "list")  # those that a server answers
SUFFIX = ".commands"
_PATIENCE = 2.0  # seconds until a command has begun
_READ_AT_START = ("PYTHON", "LC_", "LANG")  # variables that Python looks at before it runs anything
_NUMBER = 12  # characters
_STREAMS = (0, 1, 2)


# --- the command -----------------------------------------------------------------------------------------------------


def handed_over(arguments: list[str]) -> int | None:
    """Run a command in a process that stands by, and return its exit code; None where it has to run here."""
    if not arguments or arguments[0] not in VERBS:
        return None
    for place in _places():
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                process = _begun(connection, place, arguments)
            except OSError:
                continue
            if process:
                return _ended(connection, process)
    return None


def _places() -> list[str]:
    directory = runtime_directory(os.environ)
    try:
        found = sorted(os.listdir(directory)) if directory else []
    except OSError:
        return []
    places = [os.path.join(directory or "", name) for name in found if name.endswith(SUFFIX)]
    return [place for place in places if is_own(place)]


def _begun(connection: socket.socket, place: str, arguments: list[str]) -> int:
    """Ask for a command to be run; return the process that does, or 0 where it refuses."""
    environment = [b"%b=%b" % each for each in os.environb.items()]
    words = [os.fsencode(word) for word in arguments]
    fields = [_identity(), os.fsencode(os.getcwd()), b"%d" % len(words), *words, *environment]
    request = b"\0".join(fields)
    connection.settimeout(_PATIENCE)
    connection.connect(place)
    socket.send_fds(connection, [b"%*d" % (_NUMBER, len(request))], _STREAMS)
    connection.sendall(request)
    return int(_exactly(connection, _NUMBER) or 0)


def _ended(connection: socket.socket, process: int) -> int:
    """Wait for a command's end and return its exit code; signals that come meanwhile are passed on to it."""
    told: list[int] = []

    def pass_on(number: int, _: object) -> None:
        told.append(number)
        with suppress(ProcessLookupError):
            os.kill(process, number)

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, pass_on)
    connection.settimeout(None)
    code = _exactly(connection, _NUMBER)
    if code:
        return int(code)
    if told:
        return 128 + told[-1]
    sys.stderr.write("pond: the process that ran the command was ended\n")
    return 1


def _exactly(connection: socket.socket, count: int) -> bytes:
    """Return so many bytes, or fewer where the other end was closed."""
    found = b""
    while len(found) < count and (more := connection.recv(count - len(found))):
        found += more
    return found


def _identity() -> bytes:
    """Return what both must have in common, so that a fork of one does what a start of the other would do."""
    read = [each for each in sorted(os.environ.items()) if each[0].startswith(_READ_AT_START)]
    return ascii([__version__, __file__, sys.executable, sys.flags, read]).encode()


# --- the process that stands by --------------------------------------------------------------------------------------


@contextmanager
def standing_by(place: Path, run: Run) -> Iterator[None]:
    """Keep a process ready at a socket file meanwhile, if that can be; nothing here may have threads yet."""
    from pond.transports.http.listening import on_private_file

    listening = on_private_file(place) if hasattr(os, "fork") else None
    if listening is None:
        yield
        return
    ours, theirs = os.pipe()  # the one end is closed when the last process of the server is gone
    if not os.fork():
        try:
            os.close(theirs)
            _wait(listening, ours, run)
        finally:
            os._exit(0)
    os.close(ours)
    listening.close()
    try:
        yield
    finally:
        place.unlink(missing_ok=True)
        os.close(theirs)


def _wait(listening: socket.socket, alive: int, run: Run) -> None:
    """Run each command in a fork, until the server is gone."""
    import gc
    import select

    identity = _identity()
    os.setsid()  # what stops the server at its terminal is not for the commands
    signal.signal(signal.SIGCHLD, _reap)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in _STREAMS:
        os.dup2(null, stream)
    _import_all()
    gc.freeze()  # a collection in a fork would copy every page it looks at
    while alive not in select.select([listening.fileno(), alive], [], [])[0]:
        connection, _ = listening.accept()
        if not os.fork():
            listening.close()
            os.close(alive)
            _become(connection, identity, run)
        connection.close()


def _reap(*_: object) -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue


def _import_all() -> None:
    """Import what commands need where a server answers them; not Lance, whose threads no fork survives."""
    import importlib

    from pond.cli.commands import VERBS as COMMANDS

    more = ("pond.cli.hints", "pond.cli.quick", "pond.cli.show", "pond.codec.surprise", "typer", "xxhash")
    for name in (*(COMMANDS[verb][0] for verb in VERBS), *more):
        importlib.import_module(name)
    assert "lance" not in sys.modules


def _become(connection: socket.socket, identity: bytes, run: Run) -> NoReturn:
    """Be the command that is asked for, and end as it ends."""
    import atexit

    code = 1
    try:
        arguments = _asked(connection, identity)
        connection.sendall(b"%*d" % (_NUMBER, os.getpid()))
    except (OSError, ValueError):
        os._exit(0)  # it is run where it was typed
    try:
        code = run(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        atexit._run_exitfuncs()
        with suppress(OSError):
            sys.stderr.flush()
            connection.sendall(b"%*d" % (_NUMBER, code))
        os._exit(code)


def _asked(connection: socket.socket, identity: bytes) -> list[str]:
    """Take on what a command's process is; return its words. Raise ValueError where it would have run otherwise."""
    import time

    connection.settimeout(_PATIENCE)
    length, streams, _, _ = socket.recv_fds(connection, _NUMBER, len(_STREAMS))
    fields = _exactly(connection, int(length)).split(b"\0")
    if fields[0] != identity or len(streams) != len(_STREAMS):
        raise ValueError("another kind of process")
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(fields[1])
    last = 3 + int(fields[2])
    os.environb.clear()
    os.environb.update((name, value) for name, _, value in (each.partition(b"=") for each in fields[last:]))
    time.tzset()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())  # type: ignore[union-attr]
    return [os.fsdecode(word) for word in fields[3:last]]
