"""Minimal records of the two clients that the hard cases are told with, and a store to put them in."""

import json
from pathlib import Path
from typing import Any

from pond.model.equal import first_difference, same
from tests.laws.passage import Passage, read, restore, restore_text, strict_values, to_canonical

PROJECT = "/home/ada/bench"
SESSION = "5e55-10"
ROLLOUT = "0199-ada"
TIME = "2026-01-02T03:04:05.678Z"


def turn(role: str, content: Any, uuid: str = "u-1", **more: Any) -> dict[str, Any]:
    """Return a Claude Code row of a person or the model."""
    row = {"type": role, "uuid": uuid, "timestamp": TIME, "sessionId": SESSION, "cwd": PROJECT}
    return {**row, "message": {"role": role, "content": content}, **more}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def call(call_id: str, name: str = "Read") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"file_path": "a"}}


def result(call_id: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, **more}


def item(kind: str, **payload: Any) -> dict[str, Any]:
    """Return a Codex response item."""
    return {"timestamp": TIME, "type": "response_item", "payload": {"type": kind, **payload}}


def event(kind: str, **payload: Any) -> dict[str, Any]:
    """Return a row of the Codex event log."""
    return {"timestamp": TIME, "type": "event_msg", "payload": {"type": kind, **payload}}


def prompt(text: str) -> dict[str, Any]:
    return item("message", role="user", content=[{"type": "input_text", "text": text}])


HEADER: dict[str, Any] = {
    "timestamp": TIME,
    "type": "session_meta",
    "payload": {"id": ROLLOUT, "timestamp": TIME, "cwd": PROJECT},
}


class Store:
    """A store of one client in its own directory; what is put in is read, restored in both ways and compared."""

    def __init__(self, folder: Path, client: str, place: str) -> None:
        self.folder, self.client, self.place = folder, client, place

    def read(self, *rows: Any, place: str = "") -> Passage:
        """Write the rows (values, or lines as they are) to a session file, prove the round trip, return the reading."""
        path = self.folder / (place or self.place)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [row if type(row) is bytes else json.dumps(row).encode() for row in rows]
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        passage = read(path, self.client)
        source = strict_values(path.read_bytes())
        text = to_canonical(path, self.client)
        for restored in (restore(path, self.client), restore_text(text, self.client)):
            assert same(restored.values, source), first_difference(source, restored.values)
        return passage

    def row(self, row: Any, *before: Any) -> Passage:
        """Read one row after others that only set the scene; return what it gave alone."""
        passage = self.read(*before, row)
        return Passage(passage.session, passage.groups[-1:], passage.report)


def claude(folder: Path) -> Store:
    return Store(folder, "claude-code", f"projects/-home-ada-bench/{SESSION}.jsonl")


def codex(folder: Path) -> Store:
    return Store(folder, "codex", "sessions/2026/01/02/rollout-2026-01-02T03-04-05-0199-ada.jsonl")
