"""`pond serve`: the lake over HTTP."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from pond.cli.config import Lake
from pond.cli.terminal import say, warn
from pond.config.load import load
from pond.config.locations import server_socket
from pond.config.process import Role, become
from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError
from pond.diagnostics.visible import one_line_of
from pond.operations.service import Service

if TYPE_CHECKING:  # what serves takes a while to import
    import socket

    from pond.config.settings import Settings
    from pond.transports.http.guard import Admission

TOKEN = "POND_TOKEN"
_MOST_WORKERS = 64
_LEAST_TOKEN = 16  # characters


def run(
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="The address to listen on; 127.0.0.1 if not given.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="The port to listen on; 0 picks a free one.")
    ] = None,
    socket: Annotated[
        str | None, typer.Option("--socket", metavar="PATH", help="Listen on a socket file instead of an address.")
    ] = None,
    token_file: Annotated[
        str | None,
        typer.Option("--token-file", metavar="PATH", help="Answer only requests with the token in this file."),
    ] = None,
    workers: Annotated[int, typer.Option("--workers", metavar="N", help="Number of processes that answer.")] = 1,
    with_sync: Annotated[
        bool, typer.Option("--with-sync", help="Also sync this machine's clients all the time.")
    ] = False,
    transport: Annotated[
        str,
        typer.Option(
            "--transport", metavar="http|stdio", help="With stdio, speak MCP on standard streams, like `pond mcp`."
        ),
    ] = "http",
    lake: Lake = None,
) -> int:
    if transport == "stdio":
        from pond.transports.mcp.stdio import serve

        serve(lake)
    if transport != "http":
        raise UsageError(Diagnostic("usage", f"unknown transport `{transport}`", help="one of http, stdio"))
    become(Role.SERVER)
    flags = {"lake": lake, "serve.host": host, "serve.port": port, "serve.token_file": token_file}
    settings = load(flags)
    if not 1 <= workers <= _MOST_WORKERS:
        raise UsageError(Diagnostic("usage", f"expected 1 to {_MOST_WORKERS} workers, found {workers}"))
    admission = _admission(settings)
    place = server_socket(settings, os.environ)
    with _standing_by(place):
        return _serve(settings, admission, socket, place, [_sync] * with_sync, workers)


def _serve(
    settings: "Settings",
    admission: "Admission",
    path: str | None,
    place: Path | None,
    beside: "list[Callable[[Settings], None]]",
    workers: int,
) -> int:
    """Listen where requests come in, and for commands of the same user; then answer."""
    from pond.transports.http import listening

    listens = _listening(settings, path)
    sockets = [listens]
    if place is not None and (private := listening.on_private_file(place)) is not None:
        sockets.append(private)
        admission = replace(admission, private=str(place))
    files = [file for each in sockets if (file := listening.file_of(each)) is not None]
    where = listening.shown(listens)

    def ready() -> None:
        say(f"serving   {where}")
        sys.stdout.flush()  # the caller waits for this line

    if listening.is_public(listens):
        warn(f"pond: {_PUBLIC if admission.token is None else _PUBLIC_WITH_TOKEN}")
    try:
        return _run(settings, admission, sockets, beside, workers, ready)
    finally:
        for file in files:
            file.unlink(missing_ok=True)


def _standing_by(place: Path | None) -> AbstractContextManager[None]:
    """Keep a process ready that runs commands of the same user; it is forked before anything is opened."""
    from pond.cli import dispatch, standby

    return nullcontext() if place is None else standby.standing_by(place.with_suffix(standby.SUFFIX), dispatch.run)


def _run(
    settings: "Settings",
    admission: "Admission",
    sockets: "list[socket.socket]",
    beside: "list[Callable[[Settings], None]]",
    workers: int,
    ready: Callable[[], None],
) -> int:
    """Answer requests in one process or in several, and do something else beside it."""
    from pond.transports.http.processes import run_all
    from pond.transports.http.server import serve

    if workers == 1 and not beside:
        serve(Service(settings), admission, sockets, _log, ready)
        return 0
    answering = partial(_answer, settings, admission, sockets)
    return run_all([*(partial(each, settings) for each in beside), *[answering] * workers], _log, ready)


def _answer(settings: "Settings", admission: "Admission", sockets: "list[socket.socket]") -> None:
    from pond.transports.http.server import serve

    serve(Service(settings), admission, sockets, _log, lambda: None)


def _sync(settings: "Settings") -> None:
    """Keep the lake up to date until the process is told to stop."""
    from pond.operations.sync import SyncRequest, changes, sync

    signal.signal(signal.SIGTERM, _stop)
    service = Service(settings)
    for _ in chain([None], changes(service)):
        try:
            sync(service, SyncRequest(processes=1))
        except PondError as error:
            _log(f"sync: {error}")


def _stop(*_: object) -> NoReturn:
    """End a sync: at once if it listens, and soon if it is in the middle of something that does not."""
    last = threading.Timer(_GRACE, os._exit, (0,))  # a writer may be killed at any point: the next sync repairs it
    last.daemon = True
    last.start()
    raise KeyboardInterrupt


_GRACE = 5.0  # seconds
_PUBLIC = "others can reach this address, and anyone who can gets answers: set a token, or put a gateway in front"
_PUBLIC_WITH_TOKEN = "others can reach this address, and tokens are sent unencrypted: put a gateway with TLS in front"


def _listening(settings: "Settings", path: str | None) -> "socket.socket":
    from pond.transports.http import listening

    if path is not None:
        return listening.on_file(Path(path))
    return listening.on_address(settings.serve.host, settings.serve.port)


def _admission(settings: "Settings") -> "Admission":
    """Return whom the server answers."""
    from pond.transports.http.guard import Admission

    hosts = (name.lower() for name in (*settings.serve.hosts, settings.serve.host))
    return Admission(frozenset(hosts), _token(settings.serve.token_file))


def _token(file: str | None) -> bytes | None:
    """Return the token of a file or of the environment; raise UsageError for one that is easily guessed."""
    if file is None:
        token = os.environ.get(TOKEN, "")
        where = f"`{TOKEN}`"
        if not token:
            return None
    else:
        where = f"`{file}`"
        try:
            token = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(Diagnostic("usage", f"cannot read the token in {where}: {error}")) from None
    if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        what = f"the token in {where} must have at least {_LEAST_TOKEN} printable characters and no space"
        raise UsageError(Diagnostic("usage", what))
    return token.encode()


def _log(line: str) -> None:
    warn(one_line_of(f"pond: {line}"))
