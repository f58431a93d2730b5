"""Values of conditions as people type them: read into the one spelling that filters compare, or refused."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.nearest import did_you_mean
from pond.diagnostics.span import Span
from pond.lake.times import instant
from pond.search.query.query import Condition, Key
from pond.sessions.search_text import indexable
from pond.sessions.stored_text import from_micros

MOST = 100  # conditions of one query: a person means fewer, and each one makes the plan of the scan more expensive
_LONGEST, _LONGEST_WILDCARD = 4096, 200  # characters of a value

ROLES = ("system", "user", "assistant", "tool")
HAS = ("file", "image", "audio", "video")
WITH_WILDCARDS = (Key.PROJECT, Key.TOOL, Key.FILE)
FAILED = {"true": "true", "false": "false"}
SUBAGENTS = {"true": "include", "false": "exclude", "only": "only"}


def read(key: Key, typed: str, now: datetime) -> str:
    """Return a value in the spelling that is compared; raise UsageError if it is invalid."""
    if not typed.strip():
        raise _refused("expected a value, found none")
    longest = _LONGEST_WILDCARD if key in WITH_WILDCARDS and is_wildcard(typed) else _LONGEST
    if len(typed) > longest:
        raise _refused(f"expected {longest} characters at most for such a value, found {len(typed)}")
    value = _READERS[key](typed, now)
    if not value.strip():  # a path of slashes alone leaves nothing to compare
        raise _refused(f"expected a value, found `{typed}`")
    return value


def check_excluded(key: Key) -> None:
    """Raise UsageError if a condition on `key` cannot be negated."""
    if key is Key.SUBAGENTS:
        raise _refused("`subagents` cannot be excluded", "subagents:false leaves subagents out")


def check_number(conditions: Sequence[Condition]) -> None:
    """Raise UsageError for more conditions than one query may have."""
    if len(conditions) > MOST:
        raise _refused(f"expected {MOST} conditions at most", span=conditions[MOST].span)


def is_wildcard(value: str) -> bool:
    """Return whether a value is a pattern."""
    return "*" in value or "?" in value


def at(error: UsageError, *, span: Span | None = None, path: str = "") -> UsageError:
    """Return a refusal with the place of the value."""
    return UsageError(*(replace(each, span=span, path=path) for each in error.diagnostics))


def unknown(what: str, typed: str, known: Iterable[str]) -> UsageError:
    """Return the refusal of a value that is none of those known."""
    names = sorted(known)
    return _refused(f"expected {what}, found `{typed}`", f"{did_you_mean(typed, names)}known: {', '.join(names)}")


def _chosen(what: str, known: dict[str, str]) -> Callable[[str, datetime], str]:
    def read(typed: str, now: datetime) -> str:
        value = known.get(typed.lower())
        if value is None:
            raise unknown(what, typed, known)
        return value

    return read


def _time(typed: str, now: datetime) -> str:
    return from_micros(instant(typed, now))


def _as_typed(typed: str, now: datetime) -> str:
    return typed


def _lowered(typed: str, now: datetime) -> str:
    return indexable(typed.strip()).lower()


def _path(typed: str, now: datetime) -> str:
    return os.path.expanduser(indexable(typed.strip())).replace("\\", "/").lower().removeprefix("./").rstrip("/")


def _refused(message: str, help: str = "", span: Span | None = None) -> UsageError:
    return UsageError(Diagnostic("usage", message, span, help=help))


_READERS: dict[Key, Callable[[str, datetime], str]] = {
    Key.ROLE: _chosen("a role", dict(zip(ROLES, ROLES, strict=True))),
    Key.CLIENT: _as_typed,
    Key.PROJECT: _as_typed,
    Key.SESSION: _as_typed,
    Key.AFTER: _time,
    Key.BEFORE: _time,
    Key.AGENT: _lowered,
    Key.TOOL: _lowered,
    Key.FILE: _path,
    Key.HAS: _chosen("a kind of attachment", dict(zip(HAS, HAS, strict=True))),
    Key.FAILED: _chosen("true or false", FAILED),
    Key.SUBAGENTS: _chosen("true, false or only", SUBAGENTS),
}
