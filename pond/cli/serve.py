"""`pond serve`: the lake over HTTP."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pond.cli.config import Lake
from pond.cli.terminal import say, warn
from pond.config.load import load
from pond.config.process import Role, become
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.visible import one_line_of
from pond.operations.service import Service

if TYPE_CHECKING:  # what serves takes a while to import
    import socket

    from pond.config.settings import Settings
    from pond.transports.http.guard import Admission

TOKEN = "POND_TOKEN"
_LEAST_TOKEN = 16  # characters


def run(
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Listen here; 127.0.0.1 if not set.")
    ] = None,
    port: Annotated[int | None, typer.Option("--port", metavar="N", help="Listen on this port; 0 takes any.")] = None,
    socket: Annotated[
        str | None, typer.Option("--socket", metavar="PATH", help="Listen on a socket file instead of an address.")
    ] = None,
    token_file: Annotated[
        str | None, typer.Option("--token-file", metavar="PATH", help="Answer only those who bring this file's token.")
    ] = None,
    lake: Lake = None,
) -> int:
    become(Role.SERVER)
    flags = {"lake": lake, "serve.host": host, "serve.port": port, "serve.token_file": token_file}
    settings = load(flags)
    from pond.transports.http import listening
    from pond.transports.http.server import serve

    admission = _admission(settings)
    sockets = [_listening(settings, socket)]
    say("serving   " + "  ".join(map(listening.shown, sockets)))
    sys.stdout.flush()  # whoever started it waits for this line
    if any(map(listening.is_public, sockets)):
        warn(f"pond: {_PUBLIC if admission.token is None else _PUBLIC_WITH_TOKEN}")
    files = [file for each in sockets if (file := listening.file_of(each)) is not None]
    try:
        serve(Service(settings), admission, sockets, _log)
    finally:
        for file in files:
            file.unlink(missing_ok=True)
    return 0


_PUBLIC = "others can reach this address, and everyone who can is answered: set a token, or put a gateway in front"
_PUBLIC_WITH_TOKEN = "others can reach this address, and tokens travel unencrypted: put a gateway with TLS in front"


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
        what = f"the token in {where} must have {_LEAST_TOKEN} printable characters or more, and no space"
        raise UsageError(Diagnostic("usage", what))
    return token.encode()


def _log(line: str) -> None:
    warn(one_line_of(f"pond: {line}"))
