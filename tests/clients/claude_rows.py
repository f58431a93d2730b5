"""A script as Claude Code would have written it: records of a session, and of its subagents beside it."""

import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.clients.install import CLAUDE
from tests.clients.jsonl import PICTURE, stamp, write
from tests.clients.script import Case, Command, Compact, Helper, Prompt, Rewind, Say, Step, Think, Together, Use

Row = dict[str, Any]
MODEL = "claude-sonnet-4-5"
_SPACE = uuid.UUID("6f1c3d0e-58a4-4f0b-9c55-0d7a51c0a001")
_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}


def session_id(case: Case) -> str:
    """Return the id of a case's session, the same on each run."""
    return str(uuid.uuid5(_SPACE, f"claude/{case.name}"))


def write_store(case: Case, projects: Path, slug: str, work: Path) -> None:
    """Write a case's files below `projects`; the session itself last, as it is the one that was worked on last."""
    session = _Session(session_id(case), work)
    session.play(case.steps)
    for helper in session.helpers:
        folder = projects / slug / session.id / "subagents"
        write(folder / f"agent-{helper.agent}.jsonl", helper.rows)
        write(folder / f"agent-{helper.agent}.meta.json", [{"agentType": "general-purpose", "spawnDepth": 1}])
    write(projects / slug / f"{session.id}.jsonl", session.rows)


class _Session:
    """The records of one file, each hung on the one before."""

    def __init__(self, identity: str, work: Path, agent: str | None = None, start: float = 0) -> None:
        self.id, self.agent, self.work = identity, agent, work
        self.rows: list[Row] = []
        self.helpers: list[_Session] = []
        self.clock = start
        self.leaf: str | None = None
        self.answer: str | None = None  # the message id while one answer continues
        self.turns: list[tuple[str | None, float]] = []  # where each prompt was hung

    def play(self, steps: Iterable[Step]) -> None:
        """Write the records of all steps."""
        for step in steps:
            match step:
                case Prompt():
                    self._prompt(step)
                case Think():
                    sealed = {"signature": f"c2VhbGVk{self._new('sig')[:24]}"} if step.sealed else {}
                    self._model({"type": "thinking", "thinking": step.text, **sealed}, "end_turn")
                case Say():
                    self._model({"type": "text", "text": step.text}, "end_turn")
                case Use():
                    self._together((step,))
                case Together():
                    self._together(step.uses)
                case Compact():
                    self._compact(step)
                case Helper():
                    self._helper(step)
                case Command():
                    words = "<command-name>/ask</command-name>\n<command-message>ask</command-message>"
                    self._user(f"{words}\n<command-args>{step.words}</command-args>")
                    self._user("<local-command-stdout>asked</local-command-stdout>")
                case Rewind():
                    self.leaf, _ = self.turns.pop()

    def _prompt(self, step: Prompt) -> None:
        self.turns.append((self.leaf, self.clock))
        first = self.leaf is None
        content = [{"type": "text", "text": step.text}, _IMAGE] if step.picture else step.text
        self._user(content, promptSource="typed")
        if first and self.agent is None:
            note = [{"content": "<system-reminder>\nToday is a made-up day.\n</system-reminder>"}]
            attachment = {"type": "date", "date": "2026-03-04"}
            self._row("attachment", {"attachment": attachment, "rendered": note, "renderedRole": "system"})

    def _together(self, uses: tuple[Use, ...]) -> None:
        """Write a record for each call, then one for each result; each result's parent is its own call, as in the
        client.
        """
        calls = []
        for use in uses:
            name, arguments = _tool(use)
            call = f"toolu_01{self._new('call')[:22]}"
            self._model({"type": "tool_use", "id": call, "name": name, "input": arguments}, "tool_use")
            calls.append((call, use, self.leaf))
        for call, use, record in calls:
            if use.result is None:
                continue
            content: Any = [_IMAGE] if use.tool == "picture" else use.result
            result = {"tool_use_id": call, "type": "tool_result", "content": content, "is_error": use.failed}
            self.leaf = record
            self._user([result], sourceToolAssistantUUID=record, toolUseResult={"stdout": use.result, "stderr": ""})
        self.answer = None

    def _compact(self, step: Compact) -> None:
        """Write the boundary and the summary; what is kept is named by its ids, and stays where it is."""
        before, self.leaf = self.leaf, None
        metadata: Row = {"trigger": "manual", "preTokens": 900}
        boundary = {
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "level": "info",
            "isMeta": False,
        }
        self._row("system", {**boundary, "logicalParentUuid": before, "compactMetadata": metadata})
        self._user(step.summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        if step.keeps_answer:
            metadata["preservedSegment"] = {"headUuid": before, "anchorUuid": self.leaf, "tailUuid": before}
            metadata["preservedMessages"] = {"anchorUuid": self.leaf, "uuids": [before], "allUuids": [before]}

    def _helper(self, step: Helper) -> None:
        child = _Session(self.id, self.work, self._new("agent")[:17], self.clock)
        child.play((Prompt(step.task), *step.steps))
        self.helpers.append(child)
        self.clock = child.clock + 5
        call = f"toolu_01{self._new('call')[:22]}"
        arguments = {"description": "Look around", "prompt": step.task, "subagent_type": "general-purpose"}
        self._model({"type": "tool_use", "id": call, "name": "Agent", "input": arguments}, "tool_use")
        content = [{"type": "text", "text": step.report}]
        done = {"status": "completed", "prompt": step.task, "agentId": child.agent, "content": content}
        result = {"tool_use_id": call, "type": "tool_result", "content": content}
        self._user([result], toolUseResult=done, sourceToolAssistantUUID=self.leaf)

    def _user(self, content: Any, **more: Any) -> None:
        self.answer = None
        self._row("user", {"message": {"role": "user", "content": content}, **more})

    def _model(self, block: Row, stop: str) -> None:
        self.answer = self.answer or f"msg_01{self._new('answer')[:22]}"
        usage = {"input_tokens": 12, "output_tokens": 7, "cache_read_input_tokens": 0, "service_tier": "standard"}
        message = {"id": self.answer, "type": "message", "role": "assistant", "model": MODEL, "content": [block]}
        ending = {"stop_reason": stop, "stop_sequence": None, "usage": usage}
        self._row("assistant", {"message": {**message, **ending}, "requestId": f"req_{self.answer[6:]}"})

    def _row(self, kind: str, fields: Row) -> None:
        self.clock += 0.25
        identity = str(uuid.UUID(self._new("row")))
        head = {"parentUuid": self.leaf, "isSidechain": self.agent is not None}
        agent = {"agentId": self.agent} if self.agent else {}
        own = {"uuid": identity, "timestamp": stamp(self.clock), "userType": "external", "entrypoint": "cli"}
        place = {"cwd": str(self.work), "sessionId": self.id, "version": CLAUDE.version, "gitBranch": "main"}
        self.rows.append({**head, **agent, "type": kind, **fields, **own, **place})
        self.leaf = identity

    def _new(self, what: str) -> str:
        """Return 32 hexadecimal digits that no other record has."""
        return uuid.uuid5(_SPACE, f"{self.id}/{self.agent}/{what}/{len(self.rows)}/{len(self.helpers)}").hex


def _tool(use: Use) -> tuple[str, Row]:
    match use.tool:
        case "shell":
            return "Bash", {"command": use.words, "description": "Run it"}
        case "patch":
            return "Edit", {"file_path": "labels.txt", "old_string": "plum", "new_string": use.words}
        case "mcp":
            return "mcp__almanac__lookup", {"subject": use.words, "year": 2026}
        case "picture":
            return "Read", {"file_path": use.words}
