"""Where a session's files go: below the directory named, each in place of nothing else."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from pond.codec.convert import Order, Session, Written, write_canonical, write_native
from pond.codec.output import NewFile
from pond.codec.registry import CANONICAL
from pond.codec.report import Report

CANONICAL_SUFFIX = ".canonical.jsonl"
_LONGEST_NAME = 200


def place_session(
    session: Session, order: Order, place: Path, report: Report, name: str, dated: Callable[[], float | None]
) -> None:  # fmt: skip
    """Write a session to `place`, and beside it what belongs there.

    Clients list their sessions by the files' dates: what goes to another client has that of its last message, what
    goes back to its own is `dated` by the caller, who is asked when it is written.
    """
    written = Written([])
    with NewFile(place) as out:
        if order.to == CANONICAL:
            write_canonical(session, out)
        else:
            written = write_native(session, out, report, name)
    place_beside(place, written)
    if order.to != CANONICAL and not session.foreign:
        _date(place, dated())


def place_beside(place: Path, written: Written) -> None:
    """Write the files that belong beside the session file at `place`; then date it by its last message."""
    for extra in written.beside:
        with NewFile(safe_beside(place, extra.name)) as out:
            out.write(extra.data)
    _date(place, seconds(written.time))


def seconds(time: str) -> float | None:
    """Return an instant as files are dated; None where the text is no time."""
    with contextlib.suppress(ValueError, OverflowError):
        return datetime.fromisoformat(time).timestamp()
    return None


def _date(place: Path, seconds: float | None) -> None:
    if seconds is not None:
        with contextlib.suppress(OSError, OverflowError):
            os.utime(place, (seconds, seconds))


# --- names -----------------------------------------------------------------------------------------------------------


def layout(session: Session) -> str:
    """Return where the session's file lies in its client's own layout, from stored facts; never outside the target."""
    pond = session.row["options"].get("pond", {})
    suffix = ".json" if pond.get("form") == "document" else ".jsonl"
    text = pond.get("path") or session.row["id"] + suffix
    # Stored names are data: no absolute path, no step upwards, no control character gets to the file system.
    parts = ("".join(c if c.isprintable() and c != ":" else "_" for c in part) for part in _steps(text))
    return "/".join(part[:_LONGEST_NAME] for part in parts) or "session" + suffix


def as_written(place: str, order: Order) -> str:
    """Return a session's place under the name it has in the form it is written in."""
    return os.path.splitext(place)[0] + CANONICAL_SUFFIX if order.to == CANONICAL else place


def safe_beside(place: Path, name: str) -> Path:
    """Return the path of a file beside the session; names are data and cannot leave the session's folder."""
    parts = _steps(_nameable(name).replace("{stem}", place.stem))  # a stem is data too
    return place.parent.joinpath(*[part[:_LONGEST_NAME] for part in parts])


def _steps(text: str) -> list[str]:
    return [part for part in text.replace("\\", "/").split("/") if part not in ("", ".", "..")]


def _nameable(name: str) -> str:
    """Return a name that the file system takes; nearly always the same."""
    name = name.replace("\0", "_")
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # half a character, which JSON can spell
        return name.encode("utf-8", "replace").decode()
    return name
