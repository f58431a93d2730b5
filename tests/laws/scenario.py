"""What a captured session must contain, computed from the script that was played to the client."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pond.model.json_text import Json, JsonObject
from tests.laws.corpus import capture_files, capture_folders
from tests.laws.passage import Passage, read

# A slash command's prompt is the command's text, which the harness puts in; the person typed its name.
_PUT_IN = "slash"


@dataclass(frozen=True)
class Said:
    """One thing that was said, thought or called."""

    role: str
    type: str
    text: str
    params: Json = None

    def fits(self, role: str, part: JsonObject, provenance: str) -> bool:
        if (role, part["type"], part["provenance"]) != (self.role, self.type, provenance):
            return False
        if self.type == "tool_call":
            return bool(part["name"] == self.text and _within(self.params, part["params"]))
        # A client may add to a prompt what it was told to attach.
        return bool(part["text"] == self.text or (self.role == "user" and part["text"].startswith(self.text)))


@dataclass
class Scenario:
    """A script and the sessions it left behind."""

    folder: Path
    said: list[Said]
    sessions: list[Passage]

    def positions(self, session: Passage) -> list[int]:
        """Return which of the things said are in a session, in the session's order; each has its own row."""
        roles = {message["id"]: message["role"] for message in session.messages}
        queued = session.queued
        found: list[int] = []
        for part in session.parts:
            if part["message_id"] in queued:
                continue
            role = roles[part["message_id"]]
            fitting = [n for n, said in enumerate(self.said) if said.fits(role, part, self._provenance(said))]
            # The same words may be said twice: prefer the place that keeps the order.
            later = [n for n in fitting if not found or n > found[-1]]
            if fitting:
                found.append((later or fitting)[0])
        return list(dict.fromkeys(found))

    def holds(self, said: Said) -> bool:
        """Tell whether the client wrote it down at all: a stream that broke off leaves nothing."""
        return json.dumps(said.text)[1:-1] in self._raw

    @cached_property
    def _raw(self) -> str:
        return "".join(file.read_text(encoding="utf-8") for file in sorted(self.folder.rglob("*.jsonl")))

    def _provenance(self, said: Said) -> str:
        put_in = said.role == "user" and self.folder.name == _PUT_IN
        return "injected" if put_in else "conversational"


def scenarios(directory: Path) -> Iterator[Scenario]:
    """Yield every captured scenario of the clients that have an adapter."""
    files = capture_files(directory)
    for client, folder in capture_folders(directory):
        script = json.loads((folder / "scenario.json").read_text(encoding="utf-8"))
        sessions = [read(file.path, client) for file in files if file.path.is_relative_to(folder)]
        yield Scenario(folder, list(_said(script)), sessions)


def _said(script: JsonObject) -> Iterator[Said]:
    for turn in script["turns"]:
        yield Said("user", "text", turn["prompt"])
        for reply in turn["replies"]:
            for thought in [*reply.get("thoughts", ()), *filter(None, [reply.get("thinking")])]:
                yield Said("assistant", "reasoning", thought)
            if "text" in reply:
                yield Said("assistant", "text", reply["text"])
            for call in reply.get("tool_calls", ()):
                yield Said("assistant", "tool_call", call["name"], call.get("input", call.get("raw_input")))


def _within(wanted: Json, found: Json) -> bool:
    """Tell whether all of `wanted` is in `found`; a client may add defaults, `@...@` stands for an earlier result."""
    if type(wanted) is dict:
        return type(found) is dict and all(key in found and _within(item, found[key]) for key, item in wanted.items())
    if type(wanted) is list:
        return type(found) is list and len(wanted) == len(found) and all(map(_within, wanted, found))
    return (type(wanted) is str and wanted.startswith("@")) or bool(wanted == found)
