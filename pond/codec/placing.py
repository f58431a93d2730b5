"""Where a session's files go: below the directory named, each in place of nothing else."""

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
_LONGEST_NAME = 255  # bytes, on every file system in use
_LONGEST_SUFFIX = 20  # characters
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)


def put_session(
    session: SessionStream, request: ConversionRequest, target: Path, location: Path, report: Report, name: str,
    dated: Callable[[], float | None],
) -> None:  # fmt: skip
    """Write a session to `location` in the directory `target`, and beside it what belongs there.

    Clients list their sessions by the files' dates: what goes to another client has that of its last message, what
    goes back to its own is `dated` by the caller, who is asked when it is written.
    """
    with NewFile(inside(target, location)) as out:
        written = write_session(session, request.to, out, report, name)
        refuse_empty(out, session.row["id"], name)
    put_beside(location, written, layout(session, request), report)
    note_resume(written.resume, location.relative_to(target).as_posix(), report)
    if request.to != CANONICAL and not session.foreign:
        date_file(location, dated())


def note_resume(resume: ResumeAdvice | None, path: str, report: Report) -> None:
    """Note how to continue with a session that stands at a path below the output."""
    if resume is not None:
        resume.path = path
        report.resumes.append(resume)


def refuse_empty(out: BinaryIO, session_id: str, name: str) -> None:
    """Raise where nothing was written: a file without a record is no session."""
    if not out.tell():
        what = f"session `{session_id}` has no record that can be written; no file was made"
        raise SourceFault(Diagnostic("output-empty", what, Span(name, 0)))


def put_beside(location: Path, written: Written, in_layout: str, report: Report) -> None:
    """Write the files that belong beside the session file at `location`; then date it by its last message.

    `in_layout` is where the session lies in its client's home: the client's list of sessions lies there, too.
    """
    for extra in written.beside:
        if not extra.shared:
            with NewFile(safe_beside(location, extra.name)) as out:
                out.write(extra.data)
    if lines := [extra for extra in written.beside if extra.shared]:
        list_session(location, lines, in_layout, report)
    date_file(location, seconds(written.time))


def list_session(location: Path, lines: list[SideFile], in_layout: str, report: Report) -> None:
    """Add lines about a session to its client's list, unless that names the session already: it knows better."""
    if not in_layout or not location.as_posix().endswith(f"/{in_layout}"):
        what = f"`{lines[0].name}`, which names the session, belongs into the client's home and was not written"
        report.error("output-unlisted", what, str(location))
        return
    path = location.parents[in_layout.count("/")] / lines[0].name
    try:
        there = path.read_bytes() if os.path.lexists(path) else b""
        if not _names(there, lines[0].data):
            gap = b"\n" if there and not there.endswith(b"\n") else b""
            with open(os.open(path, _APPEND, 0o666), "ab", buffering=0) as file:
                file.write(gap + b"".join(line.data for line in lines))  # at once: others may add theirs just now
    except OSError as error:
        raise failed(path, error) from None


def _names(there: bytes, line: bytes) -> bool:
    """Tell whether a list has a line about the same session."""
    id = encode(_value(line).get("id"))
    return id in there and any(encode(_value(each).get("id")) == id for each in there.splitlines())


def _value(line: bytes) -> JsonObject:
    try:
        value = decode_unproved(line.strip(), lambda _: None)
    except NotJson:
        return {}
    return value if type(value) is dict else {}


def seconds(time: str) -> float | None:
    """Return an instant as files are dated; None where the text is no time."""
    with contextlib.suppress(ValueError, OverflowError):
        return datetime.fromisoformat(time).timestamp()
    return None


def date_file(location: Path, seconds: float | None) -> None:
    """Let a file be as old as what it holds; None is nothing that is known."""
    if seconds is not None:
        with contextlib.suppress(OSError, OverflowError):
            os.utime(location, (seconds, seconds))


# --- names -----------------------------------------------------------------------------------------------------------


def layout(session: SessionStream, request: ConversionRequest) -> str:
    """Return where the session's file lies in its client's own layout, from stored facts; never outside the target.

    Raise SourceFault where the stored path is none that the client would give a session. Canonical text is nobody's
    settings: it takes any location.
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
    """Return an id as the name of a file: what separates names is no part of one."""
    return id.replace("/", "_").replace(os.sep, "_")


def _misplaced(stored: str, client: str, session_id: str) -> SourceFault:
    what = f"`{stored}` is not a place where {client} keeps sessions; nothing was written there"
    return SourceFault(Diagnostic("output-place", what, Span(session_id, 0)))


def as_written(location: str, request: ConversionRequest) -> str:
    """Return a session's location under the name it has in the form it is written in."""
    if request.to != CANONICAL:
        return location
    folder, slash, name = location.rpartition("/")
    return folder + slash + _fitting(os.path.splitext(name)[0] + CANONICAL_SUFFIX)


def apart(location: str, session_id: str) -> str:
    """Return a location in the same folder that is a session's own; a pattern of the client that fits one fits both."""
    folder, slash, name = location.rpartition("/")
    stem, suffix = _split(name)
    return folder + slash + _nameable(f"{stem}-{_one_name(session_id)}{suffix}")


def inside(target: Path, location: Path) -> Path:
    """Return a location below a directory; raise SourceFault where a link in that directory leads out of it."""
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
    """Return a name that the file system takes and a terminal can show; nearly always the same."""
    if name.isascii() and name.isprintable():
        return _fitting(name)
    return _fitting(re.sub(STEERING, "_", name).replace("\n", "_").replace("\t", "_"))


def _fitting(name: str) -> str:
    """Return a name as it is where the file system takes it; else its beginning, a hash of it all, and its suffix."""
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
