"""Asks a server of the same user that runs on this machine: the same lake, the same version, over its socket file.

Commands use it to be quick, so it imports next to nothing.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pond.config.settings import Settings
    from pond.model.json_text import JsonObject

_PATIENCE = 60.0  # seconds
_HEAD = b"POST %s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n"


def ask(settings: Settings, path: str, request: Mapping[str, object]) -> JsonObject | None:
    """Return the answer of a running server, or None if there is no server or no good answer.

    A caller that gets None does the work itself, and finds out itself what is wrong.
    """
    from pond.config.locations import server_socket
    from pond.config.runtime import is_own

    place = server_socket(settings, os.environ)
    if place is None or not is_own(str(place)):
        return None
    from pond.model.json_text import decode, encode

    body = encode(dict(request))
    try:
        answer = _sent(place, _HEAD % path.encode() + b"content-length: %d\r\n\r\n" % len(body) + body)
    except OSError:
        return None
    head, _, content = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        return None
    found: JsonObject = decode(content, lambda key: None)
    return found


def _sent(place: Path, request: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_PATIENCE)
        connection.connect(str(place))
        connection.sendall(request)
        chunks = []
        while chunk := connection.recv(1 << 16):
            chunks.append(chunk)
    return b"".join(chunks)
