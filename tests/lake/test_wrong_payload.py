"""Bytes of a payload that changed on disk: no command passes them on as if they were right."""

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import pond
from tests.cli.sessions import CLAUDE_CODE, dumps, session_id
from tests.lake.build import TOURS

PICTURE = random.Random(5).randbytes(4000)


def _spoiled(folder: Path) -> tuple[str, str]:
    """Change a byte of a payload in the lake; return its session and its part."""
    shown = pond("restore", "--all", "--to", "canonical", "--lake", folder)
    assert shown.code == 0, shown.err
    events = [json.loads(line) for line in shown.out.splitlines()]
    part = next(event for event in events if event["kind"] == "part" and len(event.get("data", "")) > 600)
    for file in folder.rglob("parts.lance/data/**/*"):
        if file.is_file() and PICTURE in (data := file.read_bytes()):
            at = data.index(PICTURE) + len(PICTURE) // 2
            file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            return part["session_id"], part["id"]
    raise AssertionError("the payload is not stored as it is")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PICTURE).decode()}
    records = CLAUDE_CODE.records(session_id("picture"), 1)
    shown = {"role": "user", "content": [{"type": "image", "source": source}]}
    shows = {**next(record for record in records if record["type"] == "user"), "uuid": "u", "message": shown}
    file = CLAUDE_CODE.file(tmp_path / "in", session_id("picture"), dumps([*records, shows]))
    done = pond("ingest", file, TOURS[1], "--lake", tmp_path / "lake")
    assert done.code == 0, done.err
    return tmp_path / "lake"


COMMANDS: dict[str, Callable[[str, Path], list[str | Path]]] = {
    "restore": lambda session, out: ["restore", session, "-o", out],
    "restore, for another client": lambda session, out: ["restore", session, "--to", "codex", "-o", out],
    "restore, as canonical text": lambda session, out: ["restore", session, "--to", "canonical"],
    "get": lambda session, out: ["get", session, "--full"],
    "export": lambda session, out: ["export", "-o", out / "a.pond"],
    "export, of one session": lambda session, out: ["export", session, "-o", out / "a.pond"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_payload_that_is_not_the_one_its_hash_names_is_told(command: str, place: Path, tmp_path: Path) -> None:
    session, part = _spoiled(place)
    (tmp_path / "out").mkdir()
    done = pond(*COMMANDS[command](session, tmp_path / "out"), "--lake", place)
    assert done.code == 1, done.err
    (fault,) = done.errors
    assert (fault.code, fault.file) == ("lake-payload", session)
    assert part in fault.reason
    assert list((tmp_path / "out").rglob("*.*")) == []


def test_the_other_sessions_come_back(place: Path, tmp_path: Path) -> None:
    session, _ = _spoiled(place)
    done = pond("restore", "--all", "-o", tmp_path / "out", "--lake", place)
    assert (done.code, [fault.code for fault in done.errors]) == (1, ["lake-payload"])
    (tour,) = TOURS[1].rglob("*.jsonl")
    assert tour.name in [path.name for path in (tmp_path / "out").rglob("*.jsonl")]
    assert session not in done.out.decode()
