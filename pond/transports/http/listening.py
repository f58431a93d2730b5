"""Where a server listens: an address, a socket file, or both."""

from __future__ import annotations

import ipaddress
import os
import socket
from pathlib import Path

from pond.diagnostics.diagnostic import Diagnostic, UsageError

_WAITING = 512  # connections that wait to be accepted
_OWNER = 0o600


def on_address(host: str, port: int) -> socket.socket:
    """Listen on an address; raise UsageError where that cannot be."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )[0]  # fmt: skip
        # asyncio sets TCP_NODELAY only on a socket that says it is TCP; without it, the body of an answer waits for the
        # client to acknowledge its headers, 40 ms on many systems.
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
    except OSError as error:
        raise _cannot(f"{host}:{port}", error) from None
    found.listen(_WAITING)
    return found


def on_file(path: Path) -> socket.socket:
    """Listen on a socket file that its owner alone can reach; one that nobody listens on any more is replaced."""
    if path.is_socket() and not answers(path):
        path.unlink()
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o777 & ~_OWNER)
    try:
        found.bind(str(path))
    except OSError as error:
        found.close()
        raise _cannot(str(path), error) from None
    finally:
        os.umask(before)
    found.listen(_WAITING)
    return found


def on_private_file(path: Path) -> socket.socket | None:
    """Listen where commands of the same user look for a server; None where one is there, or that cannot be."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.parent.stat()
        if found.st_uid != os.getuid() or found.st_mode & 0o022 or answers(path):
            return None
        return on_file(path)
    except (OSError, UsageError):
        return None


def answers(path: Path) -> bool:
    """Tell whether somebody listens on a socket file."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        try:
            asking.connect(str(path))
        except OSError:
            return False
        return True


def file_of(listening: socket.socket) -> Path | None:
    """Return the socket file that it listens on, if it does."""
    return Path(listening.getsockname()) if listening.family == socket.AF_UNIX else None


def shown(listening: socket.socket) -> str:
    """Return where it listens, as a person would type it."""
    if listening.family == socket.AF_UNIX:
        return f"unix:{listening.getsockname()}"
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_public(listening: socket.socket) -> bool:
    """Tell whether others than this machine can reach it."""
    return listening.family != socket.AF_UNIX and not ipaddress.ip_address(listening.getsockname()[0]).is_loopback


def _cannot(where: str, error: OSError) -> UsageError:
    reason = (error.strerror or str(error)).lower()
    return UsageError(Diagnostic("usage", f"cannot listen on `{where}`: {reason}"))
