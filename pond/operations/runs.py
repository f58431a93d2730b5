"""The syncs of a lake on this machine: one at a time where that is asked for, and what the last one came to."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pond.config.locations import state_file
from pond.diagnostics.diagnostic import Diagnostic
from pond.diagnostics.render import as_json
from pond.model.json_text import JsonObject, NotJson, decode, encode

_MOST = 20  # problems that are remembered


@dataclass(slots=True)
class Run:
    """One sync: when it ran, what it stored, and what it could not read or do."""

    began: str
    ended: str = ""
    new_sessions: int = 0
    new_messages: int = 0
    scheduled: bool = False
    problems: list[JsonObject] = field(default_factory=list)


@contextmanager
def running(lake: str, environ: Mapping[str, str]) -> Iterator[bool]:
    """Hold the lock of a lake's syncs while one runs; yield whether nobody else has it.

    Writers need no lock; it is for those who would rather not run beside another.
    """
    place = state_file(lake, environ)
    try:
        if place is None:
            raise OSError
        place.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(place.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:  # a home that cannot be written to: nobody can be told, and nobody waits
        yield True
        return
    try:
        yield _locked(handle)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def now() -> str:
    """Return the time as notes have it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def remember(lake: str, environ: Mapping[str, str], run: Run) -> None:
    """Note a run for `last`; a note that cannot be written is no reason to fail."""
    place = state_file(lake, environ)
    if place is None:
        return
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        new = place.with_suffix(f".{os.getpid()}")
        new.write_bytes(encode(asdict(run)) + b"\n")
        new.replace(place)


def last(lake: str, environ: Mapping[str, str]) -> Run | None:
    """Return the last run on this machine; None where there was none."""
    place = state_file(lake, environ)
    try:
        return Run(**decode(Path(place or "").read_bytes(), lambda key: None))
    except (OSError, NotJson, TypeError):
        return None


def told(diagnostics: Iterable[Diagnostic]) -> list[JsonObject]:
    """Return errors as a note has them."""
    return [as_json(each) for each in diagnostics if each.severity == "error"][:_MOST]
