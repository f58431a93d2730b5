"""Commands that need no start of their own: each is a fork of one process that has imported what commands import.

A command is still a process, with its own streams, directory, environment, umask, signals and exit code. What it does
not do again is start Python and read modules, which costs several times the work of a small command. The process it is
a fork of has never run a command, and has not imported Lance, whose threads no fork survives.
"""

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from threading import Lock
from typing import NoReturn

from tests.house.tree import ROOT

# What Python reads when it starts, and libraries while they are imported: with such a variable a command starts alone.
READ_AT_START = ("PYTHON", "LANCE", "RUST", "LC_", "LANG", "ARROW", "OMP_", "TZ")
_NOT_BEFORE_A_FORK = "lance"
_WITHOUT_LANCE = ("sync", "ingest", "convert", "verify", "clients", "config", "golden", "map")
_LIBRARIES = ("jsonschema", "numpy", "pyarrow.compute", "pyarrow.dataset", "pyarrow.parquet", "pydantic", "typer")
_one_at_a_time = Lock()


class Hangs(Exception):
    """A command that was ended because it did not end."""


def is_warm(variables: Mapping[str, str]) -> bool:
    """Tell whether a command finds the same with these variables as it would in a process that started with them."""
    return not any(name.startswith(READ_AT_START) for name in variables)


@dataclass(frozen=True)
class Request:
    """A command, and what its process is to find."""

    arguments: list[str]
    variables: dict[str, str]
    directory: str
    umask: int | None = None
    program: str = ""  # Python text to be run instead of pond's own commands


def run(request: Request, stdin: bytes | None, patience: float) -> tuple[int, bytes, bytes]:
    """Run a command to its end; return its exit code as `subprocess` tells it, and what it wrote."""
    asked = json.dumps(asdict(request)).encode()
    theirs, writing = _source(stdin)
    (out, theirs_out), (err, theirs_err) = os.pipe(), os.pipe()
    with _one_at_a_time, ThreadPoolExecutor(3) as pool:
        connection = _connection(os.getpid())
        socket.send_fds(connection, [b"%20d" % len(asked)], [theirs, theirs_out, theirs_err])
        connection.sendall(asked)
        for end in (theirs, theirs_out, theirs_err):
            os.close(end)
        if writing is not None:
            pool.submit(_feed, writing, stdin or b"")
        said, told = pool.submit(_drain, out), pool.submit(_drain, err)
        code = _ended(connection, patience)
        return code, said.result(), told.result()


def _source(stdin: bytes | None) -> tuple[int, int | None]:
    """Return what a command reads from, and the end that fills it if there is something to read."""
    return (os.open(os.devnull, os.O_RDONLY), None) if stdin is None else os.pipe()


def _ended(connection: socket.socket, patience: float) -> int:
    """Wait for the exit code of the process whose number comes first."""
    process = _number(connection)
    connection.settimeout(patience)
    try:
        return _number(connection)
    except TimeoutError:
        os.kill(process, signal.SIGKILL)
        connection.settimeout(None)
        _number(connection)
        raise Hangs from None
    finally:
        connection.settimeout(None)


def _number(connection: socket.socket) -> int:
    answer = connection.recv(20, socket.MSG_WAITALL)
    assert answer, "the process that commands are forks of has died"
    return int(answer)


def _feed(end: int, data: bytes) -> None:
    with suppress(BrokenPipeError), open(end, "wb") as stream:
        stream.write(data)


def _drain(end: int) -> bytes:
    with open(end, "rb") as stream:
        return stream.read()


@cache
def _connection(own: int) -> socket.socket:
    """Start the process that forks, for this process, whose number is `own`; it ends when the socket closes."""
    ours, theirs = socket.socketpair()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("POND_", "PYTHON"))}
    pipe = subprocess.PIPE  # as the streams of a command are: what Python makes of them depends on that
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.warm", str(theirs.fileno())],
        stdin=pipe, stdout=pipe, stderr=None, pass_fds=[theirs.fileno()], cwd=ROOT, env=kept,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    theirs.close()
    atexit.register(_end, own, process, ours)
    return ours


def _end(own: int, process: subprocess.Popen[bytes], connection: socket.socket) -> None:
    if os.getpid() == own:  # and not a fork of it
        connection.close()
        process.communicate()


# --- the process that forks ------------------------------------------------------------------------------------------


def serve(connection: socket.socket) -> None:
    """Answer each request with the number of its process, then with its exit code."""
    from pond.cli.commands import VERBS

    before = set(os.environ)
    for name in (*_LIBRARIES, *(VERBS[verb][0] for verb in _WITHOUT_LANCE)):
        importlib.import_module(name)
    assert _NOT_BEFORE_A_FORK not in sys.modules
    gc.freeze()  # a collection in a fork would copy every page it looks at
    set_by_imports = {name: value for name, value in os.environ.items() if name not in before}
    while True:
        length, streams, _, _ = socket.recv_fds(connection, 20, 3)
        if not length:
            return
        request = Request(**json.loads(connection.recv(int(length), socket.MSG_WAITALL)))
        process = os.fork()
        if not process:
            connection.close()
            _become(request, streams, set_by_imports)
        for stream in streams:
            os.close(stream)
        connection.sendall(b"%20d" % process)
        connection.sendall(b"%20d" % os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))


def _become(request: Request, streams: list[int], more: dict[str, str]) -> NoReturn:
    """Be the command that was asked for, and end as it ends."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request.directory)
    if request.umask is not None:
        os.umask(request.umask)
    os.environ.clear()
    os.environ.update(more | request.variables)
    code = _code(request)
    atexit._run_exitfuncs()
    for output in (sys.stdout, sys.stderr):
        with suppress(OSError):
            output.flush()
    os._exit(code)


def _code(request: Request) -> int:
    from pond.cli.main import main

    try:
        if not request.program:
            return main(request.arguments)
        sys.argv = ["-c", *request.arguments]
        exec(request.program, {"__name__": "__main__"})
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())  # the traceback that Python would print
        return 1


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
