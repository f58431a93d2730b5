"""`pond mcp`: MCP over standard input and output.

A client waits a second or two for a server at its start, and then continues without it. So a small loop answers the
handshake at once, from static data. The SDK, Lance and models are loaded with the first request that needs them. From
then on the SDK answers.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from pond.transports.mcp.handshake import Handshake, is_modern

if TYPE_CHECKING:
    from pond.config.settings import Settings

_PARSE_ERROR, _INVALID_REQUEST, _NOT_FOUND = -32700, -32600, -32601
_INTERNAL = -32016
_NEEDS_MORE = ("tools/call", "resources/read", "prompts/get")
REPLAYED = "pond-handshake"  # the id of the handshake that the SDK is told about


def serve(lake: str | None = None, environ: Mapping[str, str] = os.environ) -> NoReturn:
    """Answer until the client goes away; the process ends here, and nothing has to be tidied up."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    requests, answers = _own_streams()
    try:
        greeting, handshake = [b""], Handshake(_meaning(lake, environ))
        while (first := _shake_hands(requests, answers, handshake, greeting)) is not None:
            try:
                from pond.transports.mcp.takeover import take_over
            except Exception as error:  # an installation with something missing
                _refuse(answers, first[-1], error)
            else:
                take_over(first, requests, answers, lake, environ)
                break
    except OSError:
        pass  # the client is gone
    _end()


def _end(*_: object) -> NoReturn:
    os._exit(0)


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take both streams for the protocol alone: what anything else prints goes nowhere, and children read nothing."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return requests, answers


def _meaning(lake: str | None, environ: Mapping[str, str]) -> bool:
    """Tell whether searching by meaning is set up; where the settings cannot be read, a call says so."""
    from pond.config.locations import config_file

    if not environ.get("POND_EMBED_MODEL"):
        file = config_file(environ)
        try:
            if file is None or b"embed" not in file.read_bytes():
                return False  # most have no settings at all, and reading them takes as long as all the rest
        except OSError:
            return False
    try:
        return settings(lake).embed.model is not None
    except Exception:
        return False


def settings(lake: str | None) -> Settings:
    """Return the settings that hold; raise PondError for what is wrong with them."""
    from pond.config.load import load

    return load({"lake": lake})


def _shake_hands(
    requests: BinaryIO, answers: BinaryIO, handshake: Handshake, greeting: list[bytes]
) -> list[bytes] | None:  # fmt: skip
    """Answer until something needs more; return it, after what the SDK has to know. None where the client has left."""
    for line in requests:
        request = _parsed(line)
        if isinstance(request, int):
            _write(answers, {"jsonrpc": "2.0", "id": None, "error": _error(request)})
            continue
        if request is None or "id" not in request or "method" not in request:
            continue  # a notification, or an answer to nothing
        if request["method"] == "initialize":
            greeting[:] = [line]
        if request["method"] in _NEEDS_MORE:
            return [*([] if is_modern(request) else _replayed(greeting[0])), line]
        found = handshake.answer(request)
        outcome: dict[str, Any] = {"error": _error(_NOT_FOUND)} if found is None else {"result": found}
        _write(answers, {"jsonrpc": "2.0", "id": request["id"], **outcome})
    return None


def _refuse(answers: BinaryIO, line: bytes, error: Exception) -> None:
    what = f"internal: pond cannot load what it needs ({type(error).__name__}: {error}); install it again"
    data = {"pond_code": "internal", "retryable": False}
    refusal = {"code": _INTERNAL, "message": what, "data": data}
    _write(answers, {"jsonrpc": "2.0", "id": json.loads(line)["id"], "error": refusal})


def _parsed(line: bytes) -> dict[str, Any] | int | None:
    if not line.strip():
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return _PARSE_ERROR
    return found if isinstance(found, dict) else _INVALID_REQUEST


def _error(code: int) -> dict[str, Any]:
    words = {_PARSE_ERROR: "Parse error", _INVALID_REQUEST: "Invalid request", _NOT_FOUND: "Method not found"}
    return {"code": code, "message": words[code]}


def _write(answers: BinaryIO, message: dict[str, Any]) -> None:
    write_line(answers, json.dumps(message, ensure_ascii=False, separators=(",", ":")))


def write_line(answers: BinaryIO, text: str) -> None:
    """Write one message, all of it."""
    rest = memoryview(text.encode("utf-8", "replace") + b"\n")
    while rest:
        rest = rest[os.write(answers.fileno(), rest) :]


def _replayed(greeting: bytes) -> Iterator[bytes]:
    """Yield the handshake as the SDK has to see it, under an id of our own."""
    asked = json.loads(greeting) if greeting else {}
    params = asked.get("params")
    if not isinstance(params, dict) or "protocolVersion" not in params:
        params = {"protocolVersion": "2025-11-25"}
    params = {"capabilities": {}, "clientInfo": {"name": "unknown", "version": "0"}, **params}
    yield json.dumps({"jsonrpc": "2.0", "id": REPLAYED, "method": "initialize", "params": params}).encode()
    yield b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
