"""Errors as JSON-RPC knows them: a number for each failure of the wire, and all that matters in the message."""

from __future__ import annotations

from typing import Any, Final

from pond.diagnostics.failures import Failure
from pond.operations.failing import error_of, failure_of
from pond.transports.mcp.transcripts.inert import inert

CODES: Final = {
    Failure.VALIDATION_FAILED: -32010,
    Failure.VERSION_UNSUPPORTED: -32011,
    Failure.NOT_FOUND: -32012,
    Failure.NAMESPACE_UNKNOWN: -32013,
    Failure.STORAGE_UNAVAILABLE: -32014,
    Failure.CONFLICT: -32015,
    Failure.INTERNAL: -32016,
}
# Reason -> what helps, where the error itself does not say it.
_CURES: Final = {
    "no-lake": "nothing is stored yet: run `pond sync` once, then ask again",
    "no-such-id": "pond_search finds ids; give an id whole as it was returned",
    "ambiguous": "give the id whole, or session_id too",
    "unreachable": "try again; if it stays so, `pond status` says more",
    "damaged": "`pond status` says more",
    "other-version": "use the pond that wrote the lake, or name another one with POND_LAKE",
    "exhausted": "try again in a while",
    "lost-races": "try again",
    "query-limit": "ask for less: a narrower WHERE, fewer columns, a LIMIT",
    "unexpected": "this is a mistake in pond; another wording may work",
}
_LONGEST = 1_500  # characters of a message


def told(error: BaseException) -> tuple[int, str, dict[str, Any]]:
    """Return number, message and data of an error.

    Most clients show their model the message alone: the code word stands first in it, what to do last.
    """
    failure, found = failure_of(error), error_of(error)
    details: dict[str, Any] = dict(found["details"])
    parts = [found["message"], _place(details), details.get("help") or _cure(details)]
    message = f"{failure.code}: {'; '.join(filter(None, parts))}"
    retryable = failure.retry and not failure.once
    data = details | {"pond_code": failure.code, "retryable": retryable}
    return CODES[failure], inert(message)[:_LONGEST], data


def _cure(details: dict[str, Any]) -> str:
    if str(details.get("diagnostic", "")).startswith("config-"):
        return "the person who runs pond has to fix its settings: `pond config show` names them"
    return _CURES.get(str(details.get("reason")), "")


def _place(details: dict[str, Any]) -> str:
    if "line" in details:
        return f"line {details['line']}, column {details['column']}"
    candidates = details.get("candidates")
    return f"candidates: {', '.join(map(str, candidates[:5]))}" if candidates else ""
