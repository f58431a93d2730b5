"""The handshake of MCP from what is known beforehand: versions, capabilities and lists, without the SDK."""

from __future__ import annotations

import copy
from typing import Any, Final

from pond.transports.mcp import offered

HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # versions that begin with `initialize`
MODERN: Final = "2026-07-28"  # whose requests stand alone, each with its version in `_meta`
VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
_SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"
_LISTS: Final = {
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
    "tools/list": "tools",
}


class Handshake:
    """Answers what needs neither the lake nor the SDK."""

    def __init__(self, meaning: bool) -> None:
        self._meaning = meaning

    def answer(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Return the result of a request, or None where it is not for the handshake to answer."""
        method, modern = request.get("method"), is_modern(request)
        if method == "initialize":
            return self._initialized(request)
        if method == "ping" and not modern:
            return {}
        if method == "server/discover" and modern:
            return _stamped(self._discovered())
        if method in _LISTS:
            found = {_LISTS[method]: self._list(method)}
            return _stamped({**found, "ttlMs": 0, "cacheScope": "private"}) if modern else found
        return None

    def _initialized(self, request: dict[str, Any]) -> dict[str, Any]:
        params = request.get("params")
        wanted = params.get("protocolVersion") if isinstance(params, dict) else None
        return {
            "protocolVersion": wanted if wanted in HANDSHAKE else HANDSHAKE[-1],
            "capabilities": offered.CAPABILITIES,
            "serverInfo": offered.SERVER_INFO,
            "instructions": offered.instructions(self._meaning),
        }

    def _discovered(self) -> dict[str, Any]:
        return {
            "supportedVersions": [MODERN],
            "capabilities": offered.CAPABILITIES,
            "instructions": offered.instructions(self._meaning),
            "ttlMs": 0,
            "cacheScope": "private",
        }

    def _list(self, method: str) -> list[Any]:
        lists: dict[str, list[Any]] = {
            "resources/list": offered.RESOURCES,
            "resources/templates/list": offered.TEMPLATES,
            "prompts/list": offered.PROMPTS,
            "tools/list": offered.tools(self._meaning),
        }
        return lists[method]


def is_modern(request: dict[str, Any]) -> bool:
    """Tell whether a request is one that stands alone: it says its version."""
    params = request.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and VERSION_KEY in meta and request.get("method") != "initialize"


def _stamped(result: dict[str, Any]) -> dict[str, Any]:
    return {**result, "resultType": "complete", "_meta": {_SERVER_KEY: copy.copy(offered.SERVER_INFO)}}
