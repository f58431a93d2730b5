"""Labelled searches from outside the repository: chats (LoCoMo) and coding sessions (`dev`), as lakes and questions.

`POND_BENCH` names the directory of both sets, `POND_SAMPLES` the session files that `dev` is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pond
from pond.config.load import load
from pond.model.json_text import JsonObject
from pond.operations.service import Service
from pond.operations.sync import EMBED, UPDATE_INDEXES, SyncRequest, sync

if TYPE_CHECKING:
    from pond.types import Event, SearchFilters

_TURN = re.compile(r"D\d+:\d+")
_NAMES = {"client": "source_agent", "after": "since", "before": "until"}
DEV_CLIENTS = ("claude-code", "codex")


@dataclass(frozen=True)
class Question:
    """A query and the messages that answer it, as (session, message); none where nothing does."""

    query: str
    kind: str
    answers: frozenset[tuple[str, str]]
    sessions: frozenset[str]
    filters: SearchFilters = field(default_factory=lambda: cast("SearchFilters", {}))


@dataclass(frozen=True)
class Chat:
    """One long conversation: its events, and its questions; `project` is what a filter knows it by."""

    project: str
    events: list[JsonObject]
    questions: list[Question]


def indexed(place: Path) -> pond.Lake:
    """Return the lake there with its indexes up to date, and embedded where the settings name a model."""
    settings = load({"lake": str(place)})
    if settings.embed.model is not None:
        sync(Service(settings), SyncRequest(only=EMBED))
    sync(Service(settings), SyncRequest(only=UPDATE_INDEXES))
    return pond.Lake(place)


def searched(lake: pond.Lake) -> set[tuple[str, str]]:
    """Return session and message of everything that search looks at."""
    rows = lake.to_arrow("messages", ["session_id", "id", "search_text"]).to_pylist()
    return {(row["session_id"], row["id"]) for row in rows if row["search_text"] is not None}


# --- chats ------------------------------------------------------------------------------------------------------------


def chats(bench: Path) -> list[Chat]:
    """Return the ten conversations of LoCoMo."""
    read = json.loads((bench / "locomo" / "locomo10.json").read_text("utf-8"))
    return [_chat(f"/chats/{number}", each) for number, each in enumerate(read)]


def chat_lake(place: Path, found: list[Chat]) -> pond.Lake:
    """Store all conversations in one new lake."""
    with pond.Lake(place) as lake:
        lake.ingest_events(cast("list[Event]", [event for chat in found for event in chat.events]))
    return indexed(place)


def _chat(project: str, read: dict[str, Any]) -> Chat:
    said = {name: turns for name, turns in read["conversation"].items() if re.fullmatch(r"session_\d+", name)}
    events = [event for name, turns in said.items() for event in _session(project, name, turns)]
    return Chat(project, events, [question for each in read["qa"] if (question := _asked(project, each))])


def _session(project: str, name: str, turns: list[dict[str, Any]]) -> Iterator[JsonObject]:
    session_id = _session_id(project, f"D{name.removeprefix('session_')}:")
    yield {"kind": "session", "id": session_id, "source_agent": "chat", "project": project, "options": {}}
    speakers = list(dict.fromkeys(turn["speaker"] for turn in turns))
    for turn in turns:
        role = "user" if turn["speaker"] == speakers[0] else "assistant"
        message = {"session_id": session_id, "id": turn["dia_id"], "role": role, "options": {}}
        yield {"kind": "message", **message}
        part = {"session_id": session_id, "message_id": turn["dia_id"], "id": f"{turn['dia_id']}:0", "type": "text"}
        said = f"{turn['speaker']}: {turn['text']}"
        yield {"kind": "part", **part, "text": said, "provenance": "conversational", "options": {}}


def _session_id(project: str, turn: str) -> str:
    return f"{project.rsplit('/', 1)[1]}-{turn.split(':')[0]}"


def _asked(project: str, read: dict[str, Any]) -> Question | None:
    turns = [turn for text in read.get("evidence", ()) for turn in _TURN.findall(text)]
    if not turns:
        return None
    answers = frozenset((_session_id(project, turn), turn) for turn in turns)
    return Question(read["question"], "chat", answers, frozenset(session for session, _ in answers))


# --- coding sessions --------------------------------------------------------------------------------------------------


def dev_questions(bench: Path) -> list[Question]:
    """Return the queries over coding sessions."""
    return [
        _dev_question(json.loads(line)) for line in (bench / "dev" / "queries.jsonl").read_text("utf-8").splitlines()
    ]


def dev_lake(place: Path, samples: Path) -> pond.Lake:
    """Store the sessions that the queries are about in a new lake."""
    with pond.Lake(place) as lake:
        lake.ingest(*(samples / client for client in DEV_CLIENTS))
    return indexed(place)


def _dev_question(read: dict[str, Any]) -> Question:
    answers = frozenset((session, message) for session, message in read["message_ids"])
    filters = {_NAMES.get(name, name): _value(name, value) for name, value in read["filters"].items()}
    sessions = frozenset(read["session_ids"])
    return Question(read["query"], read["kind"], answers, sessions, cast("SearchFilters", filters))


def _value(name: str, value: str) -> Any:
    if name in ("after", "before"):
        return value if "T" in value else f"{value}T00:00:00Z"
    return [value]
