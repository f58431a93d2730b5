"""Where a session's files go: into the named directory, never in place of anything else."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from pond.codec.continuing import ResumeAdvice
from pond.codec.forms import suffix_of
from pond.codec.lines import SUFFIX
from pond.codec.output import NewFile, failed
from pond.codec.paths import own_location
from pond.codec.registry import CANONICAL, adapter
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.session import SessionStream, Written
from pond.codec.writer import SideFile
from pond.codec.writing import write_session
from pond.diagnostics.diagnostic import Diagnostic, SourceFault
from pond.diagnostics.span import Span
from pond.diagnostics.visible import STEERING
from pond.model.json_text import JsonObject, NotJson, decode_unproved, encode
from pond.model.marks import PATH, marks_of

CANONICAL_SUFFIX = f".canonical{SUFFIX}"
_LONGEST_NAME = 255  # bytes, on every common file system
_LONGEST_SUFFIX = 20  # characters
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)


def put_session(
    session: SessionStream, request: ConversionRequest, target: Path, location: Path, report: Report, name: str,
    dated: Callable[[], float | None],
) -> None:  # fmt: skip
    """Write a session to `location` in the directory `target`, with the files that belong beside it.

    Clients list their sessions by the dates of the files. A session for another client gets the date of its last
    message; one for its own client is `dated` by the caller, who is asked when it is written.
    """
    with NewFile(inside(target, location)) as out:
        written = write_session(session, request.to, out, report, name)
        refuse_empty(out, session.row["id"], name)
    put_beside(location, written, layout(session, request), report)
    note_resume(written.resume, location.relative_to(target).as_posix(), report)
    if request.to != CANONICAL and not session.foreign:
        date_file(location, dated())


def note_resume(resume: ResumeAdvice | None, path: str, report: Report) -> None:
    """Note how to continue a session that is at a path below the output."""
    if resume is not None:
        resume.path = path
        report.resumes.append(resume)


def refuse_empty(out: BinaryIO, session_id: str, name: str) -> None:
    """Raise if nothing was written: a file without a record is not a session."""
    if not out.tell():
        what = f"session `{session_id}` has no records that can be written; no file was written"
        raise SourceFault(Diagnostic("output-empty", what, Span(name, 0)))


def put_beside(location: Path, written: Written, in_layout: str, report: Report) -> None:
    """Write the files that belong beside the session file at `location`, then date it by its last message.

    `in_layout` is the session's place in its client's home: the client's list of sessions is there too.
    """
    for extra in written.beside:
        if not extra.shared:
            with NewFile(safe_beside(location, extra.name)) as out:
                out.write(extra.data)
    if lines := [extra for extra in written.beside if extra.shared]:
        list_session(location, lines, in_layout, report)
    date_file(location, seconds(written.time))


def list_session(location: Path, lines: list[SideFile], in_layout: str, report: Report) -> None:
    """Add lines about a session to its client's list, unless the list already names the session."""
    if not in_layout or not location.as_posix().endswith(f"/{in_layout}"):
        what = f"`{lines[0].name}`, which holds the session's name, belongs in the client's home and was not written"
        report.error("output-unlisted", what, str(location))
        return
    path = location.parents[in_layout.count("/")] / lines[0].name
    try:
        there = path.read_bytes() if os.path.lexists(path) else b""
        if not _names(there, lines[0].data):
            gap = b"\n" if there and not there.endswith(b"\n") else b""
            with open(os.open(path, _APPEND, 0o666), "ab", buffering=0) as file:
                file.write(gap + b"".join(line.data for line in lines))  # in one write: others may be adding theirs
    except OSError as error:
        raise failed(path, error) from None


def _names(there: bytes, line: bytes) -> bool:
    """Tell whether a list already has a line about this session."""
    id = encode(_value(line).get("id"))
    return id in there and any(encode(_value(each).get("id")) == id for each in there.splitlines())


def _value(line: bytes) -> JsonObject:
    try:
        value = decode_unproved(line.strip(), lambda _: None)
    except NotJson:
        return {}
    return value if type(value) is dict else {}


def seconds(time: str) -> float | None:
    """Return a time as a file date; None if the text is not a time."""
    with contextlib.suppress(ValueError, OverflowError):
        return datetime.fromisoformat(time).timestamp()
    return None


def date_file(location: Path, seconds: float | None) -> None:
    """Give a file the date of its content; None leaves it as it is."""
    if seconds is not None:
        with contextlib.suppress(OSError, OverflowError):
            os.utime(location, (seconds, seconds))


# --- names -----------------------------------------------------------------------------------------------------------


def layout(session: SessionStream, request: ConversionRequest) -> str:
    """Return the place of the session's file in its client's own layout, from stored facts; never outside the target.

    Raise SourceFault if the client would never use the stored path for a session. Canonical text is no client's
    settings, so it takes any location.
    """
    suffix = suffix_of(session.row)
    stored = marks_of(session.row["options"]).get(PATH) or _one_name(session.row["id"]) + suffix
    text = stored.replace(os.sep, "/")
    if request.to != CANONICAL:
        owner = adapter(session.row["source_agent"])
        text = own_location(text, owner.module.FILES, owner.module.IGNORES)
        if text is None:
            raise _misplaced(stored, owner.client, session.row["id"])
    return "/".join(map(_nameable, _steps(text))) or "session" + suffix


def _one_name(id: str) -> str:
    """Return an id as a file name, without path separators."""
    return id.replace("/", "_").replace(os.sep, "_")


def _misplaced(stored: str, client: str, session_id: str) -> SourceFault:
    what = f"`{stored}` is not a place where {client} keeps sessions; nothing was written there"
    return SourceFault(Diagnostic("output-place", what, Span(session_id, 0)))


def as_written(location: str, request: ConversionRequest) -> str:
    """Return a session's location with the name it has in its output form."""
    if request.to != CANONICAL:
        return location
    folder, slash, name = location.rpartition("/")
    return folder + slash + _fitting(os.path.splitext(name)[0] + CANONICAL_SUFFIX)


def apart(location: str, session_id: str) -> str:
    """Return a unique location for a session in the same folder; a client pattern that fits one fits both."""
    folder, slash, name = location.rpartition("/")
    stem, suffix = _split(name)
    return folder + slash + _nameable(f"{stem}-{_one_name(session_id)}{suffix}")


def inside(target: Path, location: Path) -> Path:
    """Return a location below a directory; raise SourceFault if a link in that directory leads out of it."""
    folder = str(target)
    for name in location.relative_to(target).parts[:-1]:
        folder = os.path.join(folder, name)
        if os.path.islink(folder) and not _leads_into(folder, target):
            what = f"the link `{folder}` leads out of `{target}`; nothing was written there"
            help = "name another directory with -o"
            raise SourceFault(Diagnostic("output-place", what, Span(str(location), 0), help=help))
    return location


def _leads_into(link: str, target: Path) -> bool:
    base = os.path.realpath(target)
    return os.path.commonpath((base, os.path.realpath(link))) == base


def safe_beside(location: Path, name: str) -> Path:
    """Return the path of a file beside the session; names are data and cannot leave the session's folder."""
    parts = _steps(name.replace("{stem}", location.stem))  # a stem is data too
    return inside(location.parent, location.parent.joinpath(*map(_nameable, parts)))


def _steps(text: str) -> list[str]:
    return [part for part in text.replace(os.sep, "/").split("/") if part not in ("", ".", "..")]


def _nameable(name: str) -> str:
    """Return a name that the file system accepts and a terminal can show; nearly always unchanged."""
    if name.isascii() and name.isprintable():
        return _fitting(name)
    return _fitting(re.sub(STEERING, "_", name).replace("\n", "_").replace("\t", "_"))


def _fitting(name: str) -> str:
    """Return a name unchanged if the file system accepts it; otherwise its beginning, a hash, and its suffix."""
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    stem, suffix = _split(name)
    ending = f"-{sha256(name.encode()).hexdigest()[:12]}{suffix[-_LONGEST_SUFFIX:]}"
    return stem.encode()[: _LONGEST_NAME - len(ending.encode())].decode(errors="ignore") + ending


def _split(name: str) -> tuple[str, str]:
    """Return the stem and the suffix of a session's file."""
    if name.endswith(CANONICAL_SUFFIX):
        return name.removesuffix(CANONICAL_SUFFIX), CANONICAL_SUFFIX
    return os.path.splitext(name)
