"""Invented session files with the record sizes of real ones: the same bytes for the same seed, kept between runs."""

import base64
import hashlib
import random
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import exp, log
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

Record = dict[str, Any]
SEED = 20260402
CLIENTS = ("claude-code", "codex")
# Parts of the name under which a corpus is kept: it must change whenever the bytes do.
_SOURCES = (Path(__file__), Path(__file__).with_name("words.py"))


@dataclass(frozen=True)
class Sizes:
    """Line lengths of one kind of record, in bytes, as measured: 10th, 50th, 90th, 99th percentile and greatest."""

    p10: int
    p50: int
    p90: int
    p99: int
    greatest: int

    def draw(self, dice: random.Random) -> int:
        """Return a length; between two percentiles lengths spread evenly on a logarithmic scale."""
        ranks = (0.0, 0.1, 0.5, 0.9, 0.99, 1.0)
        lengths = (self.p10 * 0.8, self.p10, self.p50, self.p90, self.p99, self.greatest)
        rank = dice.random()
        upper = min(bisect_right(ranks, rank), len(ranks) - 1)
        part = (rank - ranks[upper - 1]) / (ranks[upper] - ranks[upper - 1])
        return int(exp(log(lengths[upper - 1]) * (1 - part) + log(lengths[upper]) * part))


class Texts:
    """Endless invented text: slices of a few million letters made once."""

    def __init__(self, dice: random.Random) -> None:
        from tests.bench.words import code, prose

        self._dice = dice
        self._prose, self._code = prose(dice, 1_000_000), code(dice, 1_000_000)
        self._base64 = base64.b64encode(dice.randbytes(750_000)).decode()

    def prose(self, length: int) -> str:
        return self._slice(self._prose, length)

    def code(self, length: int) -> str:
        return self._slice(self._code, length)

    def base64(self, length: int) -> str:
        return self._slice(self._base64, length // 4 * 4)

    def identifier(self) -> str:
        return str(UUID(int=self._dice.getrandbits(128), version=4))

    def token(self, length: int) -> str:
        return self._slice(self._base64, length).replace("+", "x").replace("/", "y")

    def _slice(self, pool: str, length: int) -> str:
        length = max(1, min(length, len(pool) - 1))
        start = self._dice.randrange(len(pool) - length)
        return pool[start : start + length]


Make = Callable[["Session", int], Record]


@dataclass(frozen=True)
class Kind:
    """A kind of record: how often it comes, how long its line is, how to make one with about that much text in it."""

    weight: int
    sizes: Sizes
    make: Make
    answer: "Kind | None" = None  # what follows it, right away or after `_BETWEEN` others: a call's result, say


class Session:
    """What the records of one invented session share."""

    def __init__(self, texts: Texts, number: int) -> None:
        self.texts, self.number = texts, number
        self.id = texts.identifier()
        self.parent: str | None = None
        self.second = 0
        self.calls: list[str] = []

    def now(self) -> str:
        self.second += 1
        minutes, seconds = divmod(self.second, 60)
        hours, minutes = divmod(minutes, 60)
        return (
            f"2026-04-{2 + hours // 24 % 28:02}T{hours % 24:02}:{minutes:02}:{seconds:02}.{self.second * 37 % 1000:03}Z"
        )

    def call(self, prefix: str) -> str:
        self.calls.append(f"{prefix}{self.texts.token(24)}")
        return self.calls[-1]

    def last_call(self, prefix: str) -> str:
        return self.calls.pop() if self.calls else self.call(prefix)


def _row(session: Session, **fields: object) -> Record:
    own = session.texts.identifier()
    record: Record = {"parentUuid": session.parent, "isSidechain": False, **fields}
    record |= {
        "uuid": own,
        "timestamp": session.now(),
        "userType": "external",
        "entrypoint": "cli",
        "cwd": f"/home/mira/orrery-{session.number % 9}",
        "sessionId": session.id,
        "version": "2.1.300",
        "gitBranch": "main",
        "slug": "brass-quiet-moon",
    }
    session.parent = own
    return record


def _said(session: Session, block: Record) -> Record:
    usage = {
        "input_tokens": session.second % 977,
        "cache_creation_input_tokens": 1820,
        "cache_read_input_tokens": 9400 + session.second,
        "output_tokens": 88,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 1820},
    }
    message = {
        "id": f"msg_{session.texts.token(24)}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [block],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    return _row(session, message=message, requestId=f"req_{session.texts.token(24)}", type="assistant")


def _thinking(session: Session, size: int) -> Record:
    text = session.texts.prose(size // 2 - 300)
    return _said(session, {"type": "thinking", "thinking": text, "signature": session.texts.base64(size // 2 - 300)})


def _text(session: Session, size: int) -> Record:
    return _said(session, {"type": "text", "text": session.texts.prose(size - 900)})


def _tool_use(session: Session, size: int) -> Record:
    given = {"command": session.texts.code(size - 1050), "description": session.texts.prose(40)}
    return _said(session, {"type": "tool_use", "id": session.call("toolu_"), "name": "Bash", "input": given})


def _tool_result(session: Session, size: int) -> Record:
    call = session.last_call("toolu_")
    if size > 60_000:
        picture = {"type": "base64", "media_type": "image/png", "data": session.texts.base64(size - 900)}
        content: object = [{"type": "image", "source": picture}]
        own: object = {"type": "image", "file": {"originalSize": size, "dimensions": {"width": 800, "height": 600}}}
    else:
        # As measured, two results of five hold their text a second time in the client's own view of them.
        twice = session.second % 5 < 2
        output = session.texts.code((size - 800) // (2 if twice else 1))
        content = output
        own = {"stdout": output if twice else "", "stderr": "", "interrupted": False, "isImage": False}
    block = {"tool_use_id": call, "type": "tool_result", "content": content, "is_error": False}
    return _row(session, message={"role": "user", "content": [block]}, toolUseResult=own, type="user")


def _prompt(session: Session, size: int) -> Record:
    return _row(session, message={"role": "user", "content": session.texts.prose(size - 450)}, type="user")


def _attachment(session: Session, size: int) -> Record:
    found = {
        "type": "hook_success",
        "hookName": "SessionStart",
        "content": session.texts.prose(size - 600),
        "exitCode": 0,
    }
    return _row(session, attachment=found, type="attachment")


def _progress(session: Session, size: int) -> Record:
    data = {"type": "bash_progress", "output": session.texts.code(size - 620), "elapsedTimeSeconds": session.second}
    return _row(session, data=data, toolUseID=session.texts.token(24), type="progress")


def _system(session: Session, size: int) -> Record:
    return _row(
        session,
        subtype="turn_duration",
        durationMs=session.second * 13,
        content=session.texts.prose(size - 500),
        type="system",
    )


def _queue(session: Session, size: int) -> Record:
    operation = {"operation": "enqueue", "timestamp": session.now(), "content": session.texts.prose(size - 150)}
    return {"type": "queue-operation", **operation, "sessionId": session.id}


def _dequeued(session: Session, _: int) -> Record:
    operation = {"operation": "dequeue", "timestamp": session.now()}
    return {"type": "queue-operation", **operation, "sessionId": session.id}


def _snapshot(session: Session, size: int) -> Record:
    backups = {
        f"src/{session.texts.token(12)}.py": {"backupFileName": session.texts.token(24), "version": n}
        for n in range(size // 110)
    }
    own = session.texts.identifier()
    snapshot = {"messageId": own, "trackedFileBackups": backups, "timestamp": session.now()}
    return {"type": "file-history-snapshot", "messageId": own, "snapshot": snapshot, "isSnapshotUpdate": False}


def _small(session: Session, size: int) -> Record:
    if size > 130:
        return {"type": "last-prompt", "lastPrompt": session.texts.prose(size - 110), "sessionId": session.id}
    return {"type": "permission-mode", "permissionMode": "default", "sessionId": session.id}


CLAUDE_CODE = [
    Kind(
        1315,
        Sizes(1020, 1350, 3766, 10787, 38527),
        _tool_use,
        Kind(0, Sizes(868, 4006, 31414, 66795, 163829), _tool_result),
    ),
    Kind(1084, Sizes(1270, 1872, 5950, 13226, 23515), _thinking),
    Kind(652, Sizes(922, 1177, 2537, 4936, 6151), _text),
    Kind(218, Sizes(498, 612, 8273, 47240, 48115), _prompt),
    Kind(571, Sizes(502, 879, 13676, 60000, 107867), _attachment),
    Kind(884, Sizes(567, 607, 2094, 33911, 91780), _progress),
    Kind(200, Sizes(446, 678, 850, 1623, 1887), _system),
    Kind(81, Sizes(166, 217, 27690, 47715, 47715), _queue, Kind(0, Sizes(137, 138, 138, 138, 138), _dequeued)),
    Kind(143, Sizes(236, 611, 1933, 4571, 4571), _snapshot),
    Kind(1000, Sizes(83, 105, 236, 343, 343), _small),
]


def _item(session: Session, kind: str, payload: Record) -> Record:
    return {"timestamp": session.now(), "type": kind, "payload": payload}


def _codex_message(session: Session, size: int) -> Record:
    role, item = ("user", "input_text") if session.second % 4 == 0 else ("assistant", "output_text")
    text = session.texts.prose(size - 180)
    return _item(session, "response_item", {"type": "message", "role": role, "content": [{"type": item, "text": text}]})


def _codex_call(session: Session, size: int) -> Record:
    arguments = orjson.dumps(
        {"cmd": session.texts.code(int((size - 240) * 0.85)), "workdir": "/home/mira/orrery"}
    ).decode()
    call = session.call("call_")
    return _item(
        session,
        "response_item",
        {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call},
    )


def _codex_output(session: Session, size: int) -> Record:
    output = f"Process exited with code 0\nOutput:\n{session.texts.code(size - 220)}"
    call = session.last_call("call_")
    return _item(session, "response_item", {"type": "function_call_output", "call_id": call, "output": output})


def _codex_patched(session: Session, size: int) -> Record:
    record = _codex_output(session, size)
    record["payload"]["type"] = "custom_tool_call_output"
    return record


def _codex_reasoning(session: Session, size: int) -> Record:
    summary = [{"type": "summary_text", "text": session.texts.prose(min(400, size // 4))}]
    opaque = session.texts.base64(size - 220 - min(400, size // 4))
    return _item(
        session,
        "response_item",
        {"type": "reasoning", "summary": summary, "content": None, "encrypted_content": opaque},
    )


def _codex_patch(session: Session, size: int) -> Record:
    call, patch = session.call("call_"), session.texts.code(size - 230)
    return _item(
        session,
        "response_item",
        {"type": "custom_tool_call", "status": "completed", "call_id": call, "name": "apply_patch", "input": patch},
    )


def _codex_tokens(session: Session, size: int) -> Record:
    usage = {
        "input_tokens": 2210 + session.second,
        "cached_input_tokens": 1024,
        "output_tokens": 61,
        "total_tokens": 2271,
    }
    info = {"total_token_usage": usage, "last_token_usage": usage, "model_context_window": 258400}
    window = {"used_percent": 3.5, "window_minutes": 10080, "resets_at": 1774000000}
    limits = {"limit_id": "codex", "limit_name": None, "primary": window, "secondary": window, "plan_type": "plus"}
    return _item(session, "event_msg", {"type": "token_count", "info": info, "rate_limits": limits})


def _codex_event(session: Session, size: int) -> Record:
    kind = "agent_message" if session.second % 4 else "user_message"
    return _item(
        session, "event_msg", {"type": kind, "message": session.texts.prose(size - 110), "phase": "commentary"}
    )


def _codex_completed(session: Session, size: int) -> Record:
    ran = {
        "type": "CommandExecution",
        "id": session.texts.identifier(),
        "command": ["/bin/bash", "-lc", session.texts.code(size - 330)],
        "cwd": "file:///home/mira/orrery",
        "exit_code": 0,
    }
    return _item(session, "event_msg", {"type": "item_completed", "item": ran, "turn_id": session.texts.identifier()})


def _codex_turn(session: Session, size: int) -> Record:
    return _item(
        session,
        "turn_context",
        {
            "turn_id": session.texts.identifier(),
            "cwd": "/home/mira/orrery",
            "approval_policy": "on-request",
            "sandbox_policy": {"type": "workspace-write", "writable_roots": [], "network_access": False},
            "model": "gpt-5.5",
            "collaboration_mode": {"mode": "default", "settings": {"model": "gpt-5.5", "reasoning_effort": "medium"}},
            "user_instructions": session.texts.prose(size - 480),
        },
    )


def _codex_head(session: Session) -> Record:
    head = {
        "id": session.id,
        "timestamp": session.now(),
        "cwd": "/home/mira/orrery",
        "originator": "codex_cli_rs",
        "cli_version": "0.118.0",
        "source": "cli",
        "model_provider": "openai",
        "base_instructions": {"text": session.texts.prose(22_000)},
        "git": {"commit_hash": session.texts.token(40), "branch": "main"},
    }
    return _item(session, "session_meta", head)


_CODEX_OUTPUT = Sizes(220, 320, 8400, 11600, 15500)
CODEX = [
    Kind(250, Sizes(220, 330, 3200, 10700, 14600), _codex_call, Kind(0, _CODEX_OUTPUT, _codex_output)),
    Kind(20, Sizes(360, 449, 3200, 10700, 14600), _codex_patch, Kind(0, _CODEX_OUTPUT, _codex_patched)),
    Kind(90, Sizes(370, 1780, 9450, 20500, 24400), _codex_reasoning),
    Kind(220, Sizes(210, 470, 3450, 7400, 9400), _codex_message),
    Kind(420, Sizes(707, 709, 712, 801, 801), _codex_tokens),
    Kind(420, Sizes(160, 240, 600, 1300, 2400), _codex_event),
    Kind(300, Sizes(400, 422, 728, 6783, 6823), _codex_completed),
    Kind(60, Sizes(621, 622, 962, 4804, 4804), _codex_turn),
]

# Whole files: their lengths as measured, and where the client would keep them.
FILE_SIZES = {
    "claude-code": Sizes(20_000, 250_000, 1_500_000, 4_100_000, 4_200_000),
    "codex": Sizes(8_000, 60_000, 600_000, 1_200_000, 2_000_000),
}


# In how many of a hundred cases another record is between a call and its result, as measured.
_BETWEEN = {"claude-code": 24, "codex": 1}


def records(client: str, session: Session, dice: random.Random) -> Iterator[Record]:
    """Give the records of one session, without end."""
    kinds = CLAUDE_CODE if client == "claude-code" else CODEX
    weights = list(accumulate(kind.weight for kind in kinds))

    def draw() -> Kind:
        return kinds[bisect_right(weights, dice.randrange(weights[-1]))]

    if client == "codex":
        yield _codex_head(session)
    while True:
        kind = draw()
        yield kind.make(session, kind.sizes.draw(dice))
        if kind.answer is None:
            continue
        while dice.randrange(100) < _BETWEEN[client] and (other := draw()).answer is None:
            yield other.make(session, other.sizes.draw(dice))
        yield kind.answer.make(session, kind.answer.sizes.draw(dice))


def write_file(file: Path, client: str, session: Session, dice: random.Random, size: int) -> int:
    """Write one session of about `size` bytes after its head and return its exact length."""
    file.parent.mkdir(parents=True, exist_ok=True)
    length = head = 0
    with file.open("wb") as out:
        for record in records(client, session, dice):
            line = orjson.dumps(record) + b"\n"
            length += out.write(line)
            # A session_meta row holds the client's whole prompt; a session is what comes after it.
            if record["type"] == "session_meta":
                head = length
            if length - head >= size:
                return length
    return length


def path_of(client: str, session: Session) -> str:
    """Return where the client would keep the session, relative to its store."""
    if client == "claude-code":
        return f"projects/-home-mira-orrery-{session.number % 9}/{session.id}.jsonl"
    return f"sessions/2026/04/{2 + session.number % 28:02}/rollout-2026-04-02T12-00-00-{session.id}.jsonl"


def store(client: str, megabytes: float) -> Path:
    """Return a store of one client with about that much in it; made on the first call, found again on the next."""

    def fill(directory: Path) -> None:
        dice = random.Random(f"{SEED}/{client}")
        texts = Texts(dice)
        left, number = int(megabytes * 1e6), 0
        while left > 0:
            session = Session(texts, number)
            number += 1
            size = min(FILE_SIZES[client].draw(dice), left)
            left -= write_file(directory / path_of(client, session), client, session, dice, size)

    return _kept(f"{client}-{megabytes:g}mb", fill)


def tiny_store(files: int) -> Path:
    """Return a store of so many Claude Code sessions of a few records."""

    def fill(directory: Path) -> None:
        client = "claude-code"
        dice = random.Random(f"{SEED}/{client}/tiny")
        texts = Texts(dice)
        for number in range(files):
            session = Session(texts, number)
            write_file(directory / path_of(client, session), client, session, dice, 1000)

    return _kept(f"tiny-{files}", fill)


def one_file(client: str, megabytes: float, directory: Path | None = None) -> Path:
    """Return one session of that length, in `directory`; without one it is kept for the next run."""

    def fill(directory: Path) -> None:
        dice = random.Random(f"{SEED}/{client}/one")
        session = Session(Texts(dice), 0)
        write_file(directory / path_of(client, session), client, session, dice, int(megabytes * 1e6))

    name = f"{client}-one-{megabytes:g}mb"
    if directory is None:
        return next(_kept(name, fill).rglob("*.jsonl"))
    fill(directory / name)
    return next((directory / name).rglob("*.jsonl"))


def _kept(name: str, fill: Callable[[Path], None]) -> Path:
    """Return the directory `name` of this version of the corpus, filled by `fill` if it is new."""
    version = hashlib.sha256(b"".join(source.read_bytes() for source in _SOURCES)).hexdigest()[:8]
    directory = Path(tempfile.gettempdir()) / f"pond-bench-{version}" / name
    if not directory.exists():
        directory.parent.mkdir(parents=True, exist_ok=True)
        # Made aside and renamed: a run that was stopped leaves no half-filled corpus under the name.
        partial = Path(tempfile.mkdtemp(dir=directory.parent))
        fill(partial)
        partial.rename(directory)
    return directory
