"""Small invented sessions of both clients, and their stores."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

Record = dict[str, Any]

_SPACE = UUID("5f0c3a52-8a4e-4c0c-9d53-6f2f0a1b7c11")
_CWD = "/home/mira/orrery"


@dataclass(frozen=True)
class Client:
    """A client as the tests see it: its name on the command line and how it writes and files a session."""

    name: str
    records: Callable[[str, int], list[Record]]
    path: Callable[[str], str]

    def file(self, directory: Path, session: str, lines: Iterable[bytes], end: bytes = b"\n") -> Path:
        """Write `lines` where this client would keep `session` below `directory`."""
        file = directory / self.path(session)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"".join(line + end for line in lines))
        return file

    def session(self, directory: Path, seed: str, turns: int = 2) -> Path:
        """Write a healthy session and return its file."""
        session = session_id(seed)
        return self.file(directory, session, map(dump, self.records(session, turns)))


def session_id(seed: str) -> str:
    """Return an id that depends on `seed` alone."""
    return str(uuid5(_SPACE, seed))


def dump(record: object) -> bytes:
    """Return `record` as the clients write it: compact, real characters; lone surrogates escaped."""
    text = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(record, separators=(",", ":")).encode()


def dumps(records: Sequence[object]) -> list[bytes]:
    """Return each record as one line."""
    return [dump(record) for record in records]


def _claude_code(session: str, turns: int) -> list[Record]:
    rows: list[Record] = [{"type": "mode", "mode": "normal", "sessionId": session}]
    parent: str | None = None

    def row(second: int, kind: str, message: Record, **more: object) -> None:
        nonlocal parent
        own = session_id(f"{session}/{len(rows)}")
        rows.append(
            {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": _CWD,
                "sessionId": session,
                "version": "2.1.300",
                "gitBranch": "main",
                "type": kind,
                "message": message,
                "uuid": own,
                "timestamp": f"2026-04-02T10:{second // 60:02}:{second % 60:02}.125Z",
                **more,
            }
        )
        parent = own

    for turn in range(turns):
        at, call, model = turn * 10 % 3000, f"toolu_{session[:8]}{turn:04}", "claude-sonnet-4-5"
        said = {"id": f"msg_{session[:8]}{turn:04}", "type": "message", "role": "assistant", "model": model}
        usage = {"input_tokens": 12 + turn, "output_tokens": 80, "service_tier": "standard"}
        row(at, "user", {"role": "user", "content": f"Turn the orrery to day {turn} — where is Saturn? ♄"})
        row(
            at + 1,
            "assistant",
            {
                **said,
                "content": [{"type": "thinking", "thinking": "The gear table says.", "signature": "c2lnbmF0dXJl"}],
                "stop_reason": None,
                "usage": usage,
            },
            requestId=f"req_{turn:08}",
        )
        row(
            at + 2,
            "assistant",
            {
                **said,
                "content": [{"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": "gears.csv"}}],
                "stop_reason": "tool_use",
                "usage": usage,
            },
            requestId=f"req_{turn:08}",
        )
        row(
            at + 3,
            "user",
            {
                "role": "user",
                "content": [{"tool_use_id": call, "type": "tool_result", "content": "saturn,29.457,0.5\n"}],
            },
            toolUseResult={"type": "text", "file": {"filePath": "gears.csv", "numLines": 1}},
        )
        row(
            at + 4,
            "assistant",
            {
                **said,
                "content": [{"type": "text", "text": f"On day {turn} Saturn stands near the brass pin."}],
                "stop_reason": "end_turn",
                "usage": usage,
            },
            requestId=f"req_{turn:08}",
        )
    return rows


def _codex(session: str, turns: int) -> list[Record]:
    def row(second: int, kind: str, payload: Record) -> Record:
        return {"timestamp": f"2026-04-02T10:{second // 60:02}:{second % 60:02}.250Z", "type": kind, "payload": payload}

    def said(role: str, kind: str, text: str) -> Record:
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    head = {"id": session, "timestamp": "2026-04-02T10:00:00.100Z", "cwd": _CWD, "originator": "codex_cli_rs"}
    rows = [row(0, "session_meta", {**head, "cli_version": "0.118.0", "source": "cli", "model_provider": "openai"})]
    for turn in range(turns):
        at, call = turn * 10 % 3000, f"call_{session[:8]}{turn:04}"
        question, arguments = (
            f"Turn the orrery to day {turn} — where is Saturn? ♄",
            f'{{"cmd":"cat gears.csv","day":{turn}}}',
        )
        rows += [
            row(at, "response_item", said("user", "input_text", question)),
            row(at, "event_msg", {"type": "user_message", "message": question, "images": []}),
            row(
                at + 1,
                "response_item",
                {
                    "type": "reasoning",
                    "summary": [{"type": "summary_text", "text": "The gear table says."}],
                    "content": None,
                    "encrypted_content": "Z2VhcnM=",
                },
            ),
            row(
                at + 2,
                "response_item",
                {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call},
            ),
            row(
                at + 3,
                "response_item",
                {"type": "function_call_output", "call_id": call, "output": "Output:\nsaturn,29.457,0.5\n"},
            ),
            row(
                at + 4, "response_item", said("assistant", "output_text", f"On day {turn} Saturn stands near the pin.")
            ),
            row(
                at + 5,
                "event_msg",
                {"type": "token_count", "info": {"total_tokens": 900 + turn}, "rate": {"used": 3.5}},
            ),
        ]
    return rows


CLAUDE_CODE = Client("claude-code", _claude_code, lambda session: f"projects/-home-mira-orrery/{session}.jsonl")
CODEX = Client("codex", _codex, lambda session: f"sessions/2026/04/02/rollout-2026-04-02T12-00-00-{session}.jsonl")
CLIENTS = (CLAUDE_CODE, CODEX)
