"""A session on its way to another client: the files a conversion wrote, the report, and the files read again."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pond.codec.batch import convert_job
from pond.codec.finding import FoundSource
from pond.codec.registry import CANONICAL, adapter
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.model.json_text import Json, JsonObject, encode_line
from pond.portable.loss import Loss
from tests.laws.passage import Passage, read, strict_values

CLIENTS = ("claude-code", "codex")
_IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of tiny directories come and go
OTHER = dict(zip(CLIENTS, reversed(CLIENTS), strict=True))


@dataclass
class Made:
    """What a conversion left in its target directory, and what it said about it."""

    client: str
    folder: Path
    report: Report

    @property
    def files(self) -> list[Path]:
        return sorted(file for file in self.folder.rglob("*.jsonl") if file.name != adapter(self.client).list_name)

    @property
    def losses(self) -> list[Loss]:
        return [loss for losses in self.report.losses for loss in losses.all()]

    @property
    def kinds(self) -> set[str]:
        return {loss.kind for loss in self.losses}

    @property
    def empty(self) -> bool:
        """Tell whether the session was refused because nobody says anything in it."""
        return not self.files and {fault.code for fault in self.report.diagnostics} == {"foreign-empty"}

    def rows(self) -> Iterator[tuple[Path, list[Json]]]:
        """Yield every file with its values, as an independent reader sees them."""
        for file in self.files:
            yield file, strict_values(file.read_bytes())

    def sessions(self) -> tuple[Passage, list[Passage]]:
        """Return the session that was converted, read again, and the children it was split into."""
        found = {file: read(file, self.client) for file in self.files}
        ids = {passage.session["id"] for passage in found.values()}
        heads = [file for file, p in found.items() if p.session.get("parent_session_id") not in ids]
        assert len(heads) == 1, f"one session became {len(heads)}"
        return found.pop(heads[0]), list(found.values())

    @property
    def main(self) -> Path:
        """Return the file of the session itself."""
        session = self.sessions()[0].session
        (file,) = [file for file in self.files if read(file, self.client).session == session]
        return file


def convert(file: Path, to: str, folder: Path, client: str | None = None, note: bool = True) -> Made:
    """Convert a session file into a directory."""
    spool = folder.with_name(f"{folder.name}.spool")
    request = ConversionRequest(to, client, note=note)
    return Made(to, folder, convert_job(FoundSource(file, str(file)), request, folder, spool))


def write_events(events: list[JsonObject], folder: Path) -> Path:
    """Write canonical text to a file."""
    file = folder / "session.canonical.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(map(encode_line, events)))
    return file


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a directory that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="pond-foreign-", dir=_IN_MEMORY) as folder:
        yield Path(folder)


@contextmanager
def converted(events: list[JsonObject], to: str, note: bool = True) -> Iterator[Made]:
    """Convert canonical events in a directory that is gone afterwards."""
    with scratch() as folder:
        yield convert(write_events(events, folder / "in"), to, folder / "out", CANONICAL, note)


def whole(file: Path, client: str) -> Passage:
    """Read a session with the history it continues: a Codex fork holds only its own tail."""
    passage = read(file, client)
    base = _base(passage)
    if base is None:
        return passage
    store = next(folder for folder in file.parents if folder.name == "sessions")
    (parent,) = store.rglob(f"*-{base['thread_id']}.jsonl")
    earlier = [
        group
        for group in whole(parent, client).groups
        if group[0]["options"]["source"].get("ordinal", 0) < base["end_ordinal_exclusive"]
    ]
    return Passage(passage.session, earlier + passage.groups, passage.report)


def _base(passage: Passage) -> JsonObject | None:
    payload = passage.messages[0]["options"].get("source", {}).get("payload", {})
    found: JsonObject | None = payload.get("history_base") if type(payload) is dict else None
    return found
