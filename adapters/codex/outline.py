"""How to understand Codex's log: turns taken back, summaries, titles; and where related sessions are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pond.lang.runtime import CARRIED, LISTED
from pond.model.compressed import SUFFIX, first_bytes
from pond.model.json_text import JsonObject, encode
from pond.portable.conversation import ASSISTANT, USER, Rewound, Said, Title
from pond.portable.inserted import OPEN, WRITER, tagged
from pond.portable.outline import Compact, Note, Outline, Recall, Record, of, text_of

from .compiled import Kind

_NOTED = ("thread_name_updated", "thread_rolled_back", "agent_reasoning")
_SPOKEN = {
    Kind.response_item_message_user: USER, Kind.message_user: USER, Kind.event_msg_user_message_unheard: USER,
    Kind.response_item_message_assistant: ASSISTANT, Kind.message_assistant: ASSISTANT,
    Kind.event_msg_agent_message_unheard: ASSISTANT,
}  # fmt: skip
_REVIEW = Kind.event_msg_entered_review_mode_instructions
_DEVELOPER = Kind.response_item_message_developer_
_HOOKS = "hooks.additional_context"  # what the client calls words that a hook gave the model
_KEPT = 80_000  # characters of prompts that a summary without a history keeps: 20,000 tokens


class CodexOutline(Outline):
    """An event takes turns back; a `compacted` row holds the history that continues, with copies of messages."""

    renewed = (
        "<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions for ",
        "# AGENTS.md instructions\n\n<INSTRUCTIONS>",
        "<permissions instructions>", "<skills_instructions>", "<recommended_plugins>", "<session_context>",
        "<plan_mode>",
    )  # fmt: skip
    known = frozenset(("success", "payload"))
    inner = "payload"
    watched_labels = frozenset((CARRIED, Kind.session_meta, Kind.compacted, _REVIEW, _DEVELOPER, *_SPOKEN))

    def __init__(self, session: JsonObject, recall: Recall | None = None) -> None:
        super().__init__(session, recall)
        self._ours = False  # pond wrote the file: the event log holds what does not fit into items
        self._said: dict[int, str] = {}  # who said what -> the Part that says it
        self._people: list[Said] = []  # the last things people said, as much as the client keeps
        self._size = 0  # total length of their texts
        self._asked: list[int] = []  # user messages in each live turn, as the client counts them

    def notices(self, record: JsonObject) -> bool:
        payload = record.get("payload")
        noted = type(payload) is dict and payload.get("type") in _NOTED
        return noted or record.get("type") == "turn_context" or "thread_name" in record

    def look(self, record: Record) -> Note | None:
        label = record.label
        if label in _SPOKEN:
            self._heard(record, _SPOKEN[label])
        elif label in (CARRIED, LISTED):
            return self._event(record, record.residue.get("payload"))
        elif label == _REVIEW and record.human:
            self._asked.append(0)  # a turn here; the client counts it in the reviewer's thread
        elif label == _DEVELOPER:
            return _hook_said(record)
        elif label == Kind.session_meta:
            self._session(record.residue.get("payload"))
        elif label == Kind.compacted:
            return self._compacted(record, record.residue.get("payload"))
        return None

    @staticmethod
    def title_of(residue: JsonObject) -> str | None:
        if "thread_name" in residue:  # a line of the client's list of sessions
            return text_of(residue, "thread_name")
        named = of(residue, "payload", "type") == "thread_name_updated"
        return text_of(residue, "payload", "thread_name") if named else None

    @staticmethod
    def number_of(residue: JsonObject) -> int | None:
        ordinal = residue.get("ordinal")
        return ordinal if type(ordinal) is int else None

    @staticmethod
    def is_sealed(options: JsonObject) -> bool:
        return any(type(held) is dict and "encrypted_content" in held for held in options.values())

    def _heard(self, record: Record, role: str) -> None:
        """Remember a message: a summary may keep it, and rewinds count it."""
        part_id = self._first_part(record)
        if part_id is None:
            return
        text = record.text()
        if role == USER:
            if record.human:
                self._asked.append(0)
                self._remember(text, part_id)
            if self._asked and (record.human or OPEN in text):
                self._asked[-1] += 1
        self._said[hash((role, text))] = part_id

    def _remember(self, text: str, part_id: str) -> None:
        self._people.append(self._copy(USER, text, part_id))
        self._size += len(text)
        while self._size > _KEPT and len(self._people) > 1:
            self._size -= len(self._people.pop(0).parts[0]["text"])

    def _first_part(self, record: Record) -> str | None:
        """Return the id of the first Part that a target gets; None if the target writes all of them again."""
        for part in record.events[1:]:
            text = part.get("text")
            if type(text) is not str or not text.lstrip().startswith(self.renewed):
                return str(part["id"])
        return None

    def _copy(self, role: str, text: str, part_id: str) -> Said:
        part: JsonObject = {"kind": "part", "id": part_id, "type": "text", "text": text, "options": {}}
        return Said(role, part_id.rpartition(":")[0], "", 0, [part], human=role == USER)

    def _session(self, payload: object) -> None:
        self._ours = of(payload, "originator") == WRITER
        self.branch = text_of(payload, "git", "branch")
        self.spawned = of(payload, "source", "subagent") is not None or text_of(payload, "parent_thread_id") is not None
        self.name = text_of(payload, "agent_nickname") or ""
        self.kind = _kind_of(payload)
        base, end = text_of(payload, "history_base", "thread_id"), of(payload, "history_base", "end_ordinal_exclusive")
        self.base = (base, end) if base is not None and type(end) is int else None

    def _event(self, record: Record, payload: object) -> Note | None:
        kind = of(payload, "type")
        if record.residue.get("type") == "turn_context":
            self.model = text_of(payload, "model") or self.model
        elif (name := self.title_of(record.residue)) is not None:
            return Title(name, record.id, record.time)
        elif kind == "thread_rolled_back" and type(turns := of(payload, "num_turns")) is int:
            return Rewound(self._taken_back(turns), record.id, record.time)
        elif kind == "agent_reasoning" and self._ours and (text := text_of(payload, "text")):
            options = of(payload, "options")
            part: JsonObject = {
                "kind": "part", "id": record.id, "type": "reasoning", "text": text,
                "options": options if type(options) is dict else {},
            }  # fmt: skip
            said = Said(ASSISTANT, record.id, record.time, record.line, [part])
            said.model = text_of(payload, "model")
            return said
        return None

    def _compacted(self, record: Record, payload: object) -> Note:
        summary = record.events[0].get("content")
        history = of(payload, "replacement_history")
        if type(summary) is not str or not summary:
            return Compact(None)  # an opaque state that only its own service can read
        if type(history) is not list:
            return Compact(summary, self._people, kept_first=True)
        kept = []
        for item in history:
            role, text = str(of(item, "role")), _spoken(item)
            if text != summary and (part_id := self._said.get(hash((role, text)))) is not None:
                kept.append(self._copy(role, text, part_id))
        first = len(history) > 1 and _spoken(history[0]) != summary
        return Compact(summary, kept, kept_first=first)

    def _taken_back(self, messages: int) -> int:
        """Return how many turns the client takes back for this number of user messages."""
        turns = 0
        while messages > 0 and self._asked:
            messages -= self._asked.pop()
            turns += 1
        return turns


def _hook_said(record: Record) -> Said | None:
    """Return what a hook told the model as context; None for other words of the harness."""
    kinds = of(record.residue, "payload", "internal_chat_message_metadata_passthrough", "content_item_kinds")
    text = record.events[0].get("content")
    if type(kinds) is not list or not kinds or {*map(str, kinds)} != {_HOOKS} or type(text) is not str or not text:
        return None
    words = tagged(text, "codex", hook="additional context")
    part: JsonObject = {"kind": "part", "id": record.id, "type": "text", "text": words, "options": {}}
    return Said(USER, record.id, record.time, record.line, [part])


def _kind_of(payload: object) -> str:
    """Return the kind of agent that a thread was started for: a role, or the client's own purpose."""
    begun = of(payload, "source", "subagent")
    spawned = text_of(payload, "agent_role") or text_of(begun, "thread_spawn", "agent_role")
    return spawned or (begun if type(begun) is str else text_of(begun, "other")) or ""


def _spoken(item: object) -> str:
    content = of(item, "content")
    parts = content if type(content) is list else []
    return "".join(text for part in parts if (text := text_of(part, "text")) is not None)


_FOLDERS = ("sessions", "archived_sessions")
_NAME = re.compile(r"rollout-[0-9-]{10}T[0-9-]{8}-(.+)\.jsonl(?:\.zst)?")
_FIRST_ROW = 1 << 16  # bytes: the row that names a parent begins with the ids


def children(path: Path, session_id: str) -> list[Path]:
    """Return the rollouts of the store whose first row names this session as the one that spawned them."""
    # The id with its quotes, as in the file: an id is never part of another one.
    named = re.compile(rb'"parent_thread_id"\s*:\s*' + re.escape(encode(session_id)))
    others = (other for other in _rollouts(path) if other != path.absolute() and _id_of(other) != session_id)
    return [other for other in others if named.search(first_bytes(other, _FIRST_ROW).partition(b"\n")[0])]


def beginning(path: Path, session_id: str) -> Path | None:
    """Return the rollout of another session of the same store; most often one of the same day."""
    beside = (other for other in sorted(path.absolute().parent.glob("rollout-*.jsonl")) if other.is_file())
    found = next((other for other in beside if _id_of(other) == session_id), None)
    return found or next((other for other in _rollouts(path) if _id_of(other) == session_id), None)


def _id_of(path: Path) -> str | None:
    """Return the id in a rollout's name."""
    named = _NAME.fullmatch(path.name)
    return named[1] if named is not None else None


def _rollouts(path: Path) -> Iterator[Path]:
    """Yield the rollouts of the file's store, or of its folder if that is not a store.

    A store has two folders: an archived session moves to the other one without its relatives. The client prefers a
    plain file to the same file compressed.
    """
    store = next((folder.parent for folder in path.absolute().parents if folder.name in _FOLDERS), None)
    folders = [store / name for name in _FOLDERS] if store is not None else [path.absolute().parent]
    for folder in folders:
        found = folder.rglob if store is not None else folder.glob
        for other in sorted([*found("rollout-*.jsonl"), *found(f"rollout-*.jsonl{SUFFIX}")]):
            hidden = other.suffix == SUFFIX and other.with_suffix("").exists()
            if other.is_file() and not hidden:
                yield other


OUTLINE = CodexOutline
