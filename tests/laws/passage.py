"""One session file: read into events, written as canonical text, restored in either way."""

import io
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from pond.codec.convert import towards
from pond.codec.openfile import OpenFile
from pond.codec.opening import open_input
from pond.codec.registry import CANONICAL
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.codec.session import SessionStream
from pond.codec.writer import SideFile
from pond.codec.writing import write_canonical, write_session
from pond.model.json_text import Json, JsonObject, NotJson, decode_strictly


@dataclass
class Passage:
    """What reading a file gave: the session row, the events of each record, and what was reported."""

    session: JsonObject
    groups: list[list[JsonObject]]
    report: Report = field(repr=False)

    @property
    def events(self) -> list[JsonObject]:
        return [self.session, *self.rows]

    @property
    def rows(self) -> list[JsonObject]:
        return [event for group in self.groups for event in group]

    @property
    def messages(self) -> list[JsonObject]:
        return [event for event in self.rows if event["kind"] == "message"]

    @property
    def parts(self) -> list[JsonObject]:
        return [event for event in self.rows if event["kind"] == "part"]

    @property
    def queued(self) -> set[str]:
        """Return the messages that only tell of a prompt in Claude Code's queue: they are no turns where they stand."""
        labels = ((message["id"], message["options"].get("pond")) for message in self.messages)
        return {own for own, pond in labels if type(pond) is dict and pond.get("as") == "queue-operation/content"}


def read(path: Path, client: str | None = None, project: str | None = None) -> Passage:
    """Read a session file into canonical events."""
    with open(path, "rb") as file:
        report = Report()
        source = open_input(OpenFile(file, str(path), path), ConversionRequest(CANONICAL, client, project), report)
        (session,) = source.sessions
        return Passage(session.row, [*session.groups], report)


@lru_cache(maxsize=4096)
def canonical_text(path: Path, client: str) -> bytes:
    """Return the canonical JSONL of a session file."""
    return to_canonical(path, client)


def to_canonical(path: Path, client: str) -> bytes:
    """Convert a session file to canonical JSONL, again each time."""
    out = io.BytesIO()
    with open(path, "rb") as file:
        for session in open_input(
            OpenFile(file, str(path), path), ConversionRequest(CANONICAL, client), Report()
        ).sessions:
            write_canonical(session, out)
    return out.getvalue()


@dataclass(frozen=True)
class Restored:
    """What restoring wrote: the session file's values, and the files beside it."""

    values: list[Json]
    beside: dict[str, bytes]
    listed: list[Json]  # lines for a list that the client keeps of all sessions


def restore(path: Path, client: str) -> Restored:
    """Read a file and write it back directly."""
    with open(path, "rb") as file:
        source = open_input(OpenFile(file, str(path), path), ConversionRequest(client, client), Report())
        return _written(source.sessions, client)


def restore_text(text: bytes, client: str) -> Restored:
    """Write the sessions of canonical text back as their client's records."""
    with tempfile.TemporaryFile() as file:
        file.write(text)
        report = Report()
        source = open_input(OpenFile(file, "canonical", None), ConversionRequest(client, CANONICAL), report)
        restored = _written(source.sessions, client)
        assert report.errors == 0, report.diagnostics
        return restored


def _written(sessions: Iterator[SessionStream], client: str) -> Restored:
    out, report = io.BytesIO(), Report()
    beside: list[SideFile] = []
    for session in sessions:
        ready = towards(ConversionRequest(client), session, report, "restored")
        beside += write_session(ready, client, out, report, "restored").beside
    assert report.errors == 0, report.diagnostics
    files = {file.name: file.data for file in beside if not file.shared}
    lines = b"".join(file.data for file in beside if file.shared)
    return Restored(strict_values(out.getvalue()), files, strict_values(lines))


def strict_values(data: bytes) -> list[Json]:
    """Return what an independent reader sees in a session file: the one document, or a value for each line."""
    text = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return [_strictly(text)]
    except NotJson:
        pass
    values = []
    for line in text.split(b"\n"):
        if line.strip():
            try:
                values.append(_strictly(line))
            except NotJson:
                continue  # a fault of its own, told by the reader; there is nothing to compare
    return values


def _strictly(text: bytes) -> Json:
    return decode_strictly(text.strip(), lambda _: None)
