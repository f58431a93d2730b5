"""A script as Codex would have written it: a rollout with ordinals, and one more for each subagent."""

import json
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.clients.install import CODEX
from tests.clients.jsonl import PICTURE, stamp, write
from tests.clients.script import Case, Command, Compact, Helper, Prompt, Rewind, Say, Step, Think, Together, Use

Row = dict[str, Any]
MODEL = "gpt-5.5"
PROVIDER = "mock"
_SPACE = uuid.UUID("6f1c3d0e-58a4-4f0b-9c55-0d7a51c0a002")
_IMAGE = {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}", "detail": "high"}


def session_id(case: Case) -> str:
    """Return the id of a case's session, the same on each run: a UUID of version 7, as the client's own are."""
    return _as_version_7(uuid.uuid5(_SPACE, f"codex/{case.name}").hex)


def write_store(case: Case, sessions: Path, work: Path) -> None:
    """Write a case's rollouts below `sessions`; the session itself last, as it is the one that was worked on last."""
    session = _Rollout(session_id(case), work)
    session.play(case.steps)
    for rollout in [*session.helpers, session]:
        start = rollout.rows[0]["timestamp"][:19].replace(":", "-")
        write(sessions / start[:10].replace("-", "/") / f"rollout-{start}-{rollout.id}.jsonl", rollout.rows)


def _as_version_7(digits: str) -> str:
    return str(uuid.UUID(f"{digits[:12]}7{digits[13:16]}8{digits[17:]}"))


class _Rollout:
    """The records of one file, numbered."""

    def __init__(self, identity: str, work: Path, parent: str | None = None, start: float = 0) -> None:
        self.id, self.work = identity, work
        self.rows: list[Row] = []
        self.helpers: list[_Rollout] = []
        self.clock = start
        self.prompts: list[Row] = []  # what a compaction keeps
        self.notes: list[Row] = []  # what the client itself said at the beginning
        self.turn = ""
        self._meta(parent)

    def _meta(self, parent: str | None) -> None:
        spawn = {
            "parent_thread_id": parent,
            "depth": 1,
            "agent_path": None,
            "agent_nickname": "Ida",
            "agent_role": None,
        }
        child = {"parent_thread_id": parent, "thread_source": "subagent", "agent_nickname": "Ida"} if parent else {}
        own = {"id": self.id, "session_id": parent or self.id, "timestamp": stamp(self.clock), "cwd": str(self.work)}
        client = {"originator": "codex_cli_rs", "cli_version": CODEX.version, "model_provider": PROVIDER}
        source: Any = {"subagent": {"thread_spawn": spawn}} if parent else "cli"
        base = {"base_instructions": {"text": "You tend a cellar."}, "history_mode": "paginated"}
        self._row("session_meta", {**own, **child, **client, "source": source, **base})
        rules = "<permissions instructions>\nAll may be read."
        self.notes.append(self._item("message", "msg", role="developer", content=[_text(rules)]))
        place = f"<environment_context>\n  <cwd>{self.work}</cwd>\n</environment_context>"
        self.notes.append(self._item("message", "msg", role="user", content=[_text(place)]))

    def play(self, steps: Iterable[Step]) -> None:
        """Write the records of all steps."""
        for step in steps:
            match step:
                case Prompt():
                    self._prompt(step)
                case Think():
                    sealed = {"encrypted_content": f"gAAAAA{self._new('seal')}"} if step.sealed else {}
                    summary = [{"type": "summary_text", "text": step.text}]
                    self._item("reasoning", "rs", summary=summary, content=None, **sealed)
                case Say():
                    content = [{"type": "output_text", "text": step.text, "annotations": []}]
                    self._completed("AgentMessage", [{"type": "Text", "text": step.text}])
                    self._item("message", "msg", role="assistant", status="completed", content=content)
                case Use():
                    self._together((step,))
                case Together():
                    self._together(step.uses)
                case Compact():
                    self._compact(step)
                case Helper():
                    self._helper(step)
                case Command():
                    outcome = "<result>\nExit code: 0\nOutput:\nnine\n</result>\n</user_shell_command>"
                    text = f"<user_shell_command>\n<command>\n{step.words}\n</command>\n{outcome}"
                    self._item("message", "msg", role="user", content=[_text(text)])
                case Rewind():
                    self._row("event_msg", {"type": "thread_rolled_back", "num_turns": 1})
                    self.prompts.pop()

    def _prompt(self, step: Prompt) -> None:
        self.turn = _as_version_7(self._new("turn"))
        self._row("event_msg", {"type": "task_started", "turn_id": self.turn, "model_context_window": 258400})
        self._row(
            "turn_context", {"turn_id": self.turn, "cwd": str(self.work), "approval_policy": "never", "model": MODEL}
        )
        before = [_text('<image name=[Image #1] path="leaf.png">'), _IMAGE, _text("</image>")] if step.picture else []
        self.prompts.append(self._item("message", "msg", role="user", content=[*before, _text(step.text)]))
        self._completed("UserMessage", [{"type": "text", "text": step.text, "text_elements": []}])

    def _together(self, uses: tuple[Use, ...]) -> None:
        calls = [(self._patch(use) if use.tool == "patch" else self._call(*_tool(use)), use) for use in uses]
        for call, use in calls:
            if use.result is not None:
                kind = "custom_tool_call_output" if use.tool == "patch" else "function_call_output"
                output = [_IMAGE] if use.tool == "picture" else _report(use)
                self._item(kind, "fco", call_id=call, output=output)

    def _patch(self, use: Use) -> str:
        """Write the call of a tool that takes a text instead of arguments."""
        call = f"call_{self._new('call')[:24]}"
        self._item("custom_tool_call", "ctc", status="completed", name="apply_patch", input=use.words, call_id=call)
        return call

    def _call(self, name: str, arguments: Row) -> str:
        call = f"call_{self._new('call')[:24]}"
        text = json.dumps(arguments)
        self._item("function_call", "fc", status="completed", name=name, arguments=text, call_id=call)
        return call

    def _compact(self, step: Compact) -> None:
        text = f"Someone else began this work and left a note: {step.summary}"
        summary = {"type": "message", "role": "user", "content": [_text(text)]}
        answers = [row["payload"] for row in self.rows if row["payload"].get("role") == "assistant"]
        # The client writes its own notes again, before the last prompt that it keeps.
        kept = [
            *self.prompts[:-1],
            *self.notes,
            *self.prompts[-1:],
            *(answers[-1:] if step.keeps_answer else []),
            summary,
        ]
        self._row("compacted", {"message": text, "replacement_history": kept, "window_number": 1})
        self.prompts = []

    def _helper(self, step: Helper) -> None:
        child = _Rollout(_as_version_7(self._new("helper")), self.work, self.id, self.clock + 1)
        child.play((Prompt(step.task), *step.steps))
        self.helpers.append(child)
        self.clock = child.clock + 5
        call = self._call("spawn_agent", {"message": step.task})
        self._item(
            "function_call_output", "fco", call_id=call, output=json.dumps({"agent_id": child.id, "nickname": "Ida"})
        )
        call = self._call("wait_agent", {"targets": [child.id], "timeout_ms": 20000})
        done = {"status": {child.id: {"completed": step.report}}, "timed_out": False}
        self._item("function_call_output", "fco", call_id=call, output=json.dumps(done))

    def _item(self, kind: str, prefix: str, **fields: Any) -> Row:
        payload = {"type": kind, "id": f"{prefix}_{self._new('item')}", **fields}
        self._row("response_item", payload)
        return payload

    def _completed(self, kind: str, content: list[Row]) -> None:
        item = {"type": kind, "id": self._new("done"), "content": content}
        self._row("event_msg", {"type": "item_completed", "thread_id": self.id, "turn_id": self.turn, "item": item})

    def _row(self, kind: str, payload: Row) -> None:
        self.clock += 0.25
        self.rows.append({"timestamp": stamp(self.clock), "ordinal": len(self.rows), "type": kind, "payload": payload})

    def _new(self, what: str) -> str:
        """Return 32 hexadecimal digits that no other record has."""
        return uuid.uuid5(_SPACE, f"{self.id}/{what}/{len(self.rows)}/{len(self.helpers)}").hex


def _text(text: str) -> Row:
    return {"type": "input_text", "text": text}


def _tool(use: Use) -> tuple[str, Row]:
    match use.tool:
        case "shell":
            return "exec_command", {"cmd": use.words}
        case "mcp":
            return "mcp__almanac__lookup", {"subject": use.words, "year": 2026}
        case _:
            return "view_image", {"path": use.words}


def _report(use: Use) -> str:
    """Return a result as the shell tool of the client words it."""
    if use.tool != "shell":
        return str(use.result)
    return f"Wall time: 0.0000 seconds\nProcess exited with code {int(use.failed)}\nOutput:\n{use.result}"
