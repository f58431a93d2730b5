"""A session that moves between clients, with words added at each stop: the files, as both clients write them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pond.codec.batch import convert_job
from pond.codec.finding import FoundSource, find_files
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from tests.cli.sessions import CLAUDE_CODE, dumps, session_id

CWD = "/home/mira/orrery"
STOPS = ("claude-code", "codex", "claude-code", "codex")
WORDS = ("quillwort", "moonwort", "adderstongue", "hartstongue")  # one is said at each stop, by person and model
HELPER = "spleenwort"  # said in a subagent of the first stop
EARLY = "maidenhair"  # said before the compaction
_SUMMARY = "This session is being continued from a previous conversation that ran out of context."


@dataclass(frozen=True)
class Journey:
    """The stores of all stops, as they were left."""

    stores: list[Path]
    words: list[set[str]]  # at each stop: what was first said there

    def said(self, stops: set[int]) -> set[str]:
        """Return all that was said in what the stores of some stops hold: their own words, and what they copied."""
        return {word for stop in stops for own in self.words[: stop + 1] for word in own}


def journey(folder: Path, *, helper: bool = False, compacted: bool = False, keep_origin: bool = False) -> Journey:
    """Let a session of Claude Code travel to Codex, back, and to Codex again."""
    stores = [folder / f"{stop}-{client}" for stop, client in enumerate(STOPS)]
    words = [{f"{who} {word}" for who in ("ask", "answer")} for word in WORDS]
    _begin(stores[0], helper, compacted)
    if helper:
        words[0] |= {f"ask {HELPER}", f"answer {HELPER}"}
    if compacted:
        words[0] |= {f"ask {EARLY}", f"answer {EARLY}"}
    for stop in range(1, len(STOPS)):
        move(stores[stop - 1], STOPS[stop], stores[stop], keep_origin=keep_origin)
        (main,) = mains(stores[stop], STOPS[stop])
        say(main, STOPS[stop], WORDS[stop], stop)
    return Journey(stores, words)


def move(store: Path, to: str, target: Path, **options: Any) -> Report:
    """Convert every session of a store for another client."""
    report = Report()
    for file in find_files(store, report):
        done = convert_job(
            FoundSource(file, str(file), child=True), ConversionRequest(to, None, **options), target, target
        )
        assert done.errors == 0, done.diagnostics
    return report


def mains(store: Path, client: str) -> list[Path]:
    """Return the files of the sessions that nobody spawned."""
    files = [file for file in sorted(store.rglob("*.jsonl")) if "subagents" not in file.parts]
    return [file for file in files if client != "codex" or b'"thread_spawn"' not in file.read_bytes().split(b"\n")[0]]


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def say(file: Path, client: str, word: str, stop: int) -> None:
    """Let person and model say a word in a session, as its client writes it."""
    time = f"2026-05-{stop + 1:02}T10:00:00.000Z"
    new = _codex(time, word) if client == "codex" else _claude(rows(file), file.stem, time, word)
    with file.open("ab") as out:
        out.write(b"".join(line + b"\n" for line in dumps(new)))


def _codex(time: str, word: str) -> list[dict[str, Any]]:
    def item(role: str, kind: str, text: str) -> dict[str, Any]:
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return {"timestamp": time, "type": "response_item", "payload": payload}

    def event(kind: str, text: str) -> dict[str, Any]:
        return {"timestamp": time, "type": "event_msg", "payload": {"type": kind, "message": text}}

    asked, answered = f"ask {word}", f"answer {word}"
    return [
        item("user", "input_text", asked), event("user_message", asked),
        item("assistant", "output_text", answered), event("agent_message", answered),
    ]  # fmt: skip


def _claude(before: list[dict[str, Any]], session: str, time: str, word: str, **more: Any) -> list[dict[str, Any]]:
    parent = next((row["uuid"] for row in reversed(before) if "uuid" in row), None)
    common = {"isSidechain": False, "userType": "external", "cwd": CWD, "sessionId": session, "version": "2.1.300"}
    made: list[dict[str, Any]] = []
    for role, text in (("user", f"ask {word}"), ("assistant", f"answer {word}")):
        message: dict[str, Any] = {"role": role, "content": text}
        if role == "assistant":
            message |= {"id": f"msg_{word}", "type": "message", "content": [{"type": "text", "text": text}]}
        uuid = session_id(f"{session}/{word}/{role}")
        made.append(
            {"parentUuid": parent, **common, "type": role, "message": message, "uuid": uuid, "timestamp": time, **more}
        )
        parent = uuid
    return made


def _begin(store: Path, helper: bool, compacted: bool) -> None:
    session = session_id("travelling")
    made: list[dict[str, Any]] = []
    if compacted:
        made += _claude(made, session, "2026-05-01T08:00:00.000Z", EARLY)
        boundary = {
            **made[-1], "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "uuid": session_id("boundary"), "parentUuid": None, "logicalParentUuid": made[-1]["uuid"],
            "timestamp": "2026-05-01T08:30:00.000Z", "compactMetadata": {"trigger": "auto", "preTokens": 9},
        }  # fmt: skip
        del boundary["message"]
        made.append(boundary)
        summary = _claude(made, session, "2026-05-01T08:31:00.000Z", "summary", isCompactSummary=True)[0]
        summary["message"]["content"] = _SUMMARY
        made.append(summary)
    made += _claude(made, session, "2026-05-01T09:00:00.000Z", WORDS[0])
    file = CLAUDE_CODE.file(store, session, dumps(made))
    if helper:
        beside = file.with_suffix("") / "subagents" / "agent-a1.jsonl"
        beside.parent.mkdir(parents=True)
        more = {"isSidechain": True, "agentId": "a1"}
        records = _claude([], session, "2026-05-01T09:00:01.000Z", HELPER, **more)
        beside.write_bytes(b"".join(line + b"\n" for line in dumps(records)))
