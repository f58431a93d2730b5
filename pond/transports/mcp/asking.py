"""Who asks: the session of the client that has started pond, or that sends a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

# Clients tell a server that they start which session it is for; codex says it with each call.
VARIABLES: Final = ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID", "QWEN_CODE_SESSION_ID")
_META: Final = ("sessionId", "threadId", "session_id", "thread_id")


@dataclass(frozen=True, slots=True)
class Asking:
    """The sessions that are asking, as far as the client says so, and the namespace they ask of.

    `local` says that the caller is on this machine and may open its files.
    """

    sessions: tuple[str, ...] = ()
    namespace: str | None = None
    local: bool = False


def from_environment(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the session that started this process; a server for many is started by none."""
    return tuple(found for name in VARIABLES if (found := environ.get(name, "").strip()))


def from_meta(meta: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the session that a request says it comes from."""
    found: list[str] = []
    for value in _flat(meta or {}):
        if value not in found:
            found.append(value)
    return tuple(found)


def _flat(meta: Mapping[str, Any]) -> list[str]:
    own = [meta[name] for name in _META if isinstance(meta.get(name), str)]
    below = [each for value in meta.values() if isinstance(value, Mapping) for each in _flat(value)]
    return [*own, *below]
