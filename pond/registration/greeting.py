"""Asks a registered pond for its tools, the way its clients will."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from typing import Any

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.registration.launching import Launch

_PATIENCE = 30.0  # seconds
_PASSED_ON = ("HOME", "LANG", "PATH", "TERM", "TMPDIR", "USER")  # what the strictest client leaves of an environment
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "pond", "version": "1"}}
_REQUESTS = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
)


def tools(launch: Launch, environ: Mapping[str, str]) -> list[str]:
    """Return the names of the tools that pond offers; raise UsageError where it does not answer."""
    try:
        found = _over_http(launch) if launch.url else _over_streams(launch, environ)
        return [tool["name"] for tool in found["result"]["tools"]]
    except (OSError, ValueError, KeyError, IndexError, TypeError, subprocess.SubprocessError) as error:
        what = launch.url or " ".join(launch.words)
        raise UsageError(
            Diagnostic("mcp-silent", f"`{what}` does not answer: {type(error).__name__}: {error}")
        ) from None


def _over_streams(launch: Launch, environ: Mapping[str, str]) -> Any:
    own = {name: environ[name] for name in _PASSED_ON if name in environ} | dict(launch.environment)
    sent = "".join(json.dumps(each) + "\n" for each in _REQUESTS)
    done = subprocess.run(
        launch.words, input=sent.encode(), env=own, capture_output=True, timeout=_PATIENCE, check=True
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[1])


def _over_http(launch: Launch) -> Any:
    import urllib.request

    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    if launch.token:
        headers["authorization"] = f"Bearer {launch.token}"
    assert launch.url is not None
    asked = urllib.request.Request(launch.url, json.dumps(_REQUESTS[-1]).encode(), headers)
    with urllib.request.urlopen(asked, timeout=_PATIENCE) as answer:
        text = answer.read().decode()
    return json.loads(text.partition("data: ")[2].splitlines()[0] if text.startswith(("event", ":", "id")) else text)
