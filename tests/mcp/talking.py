"""A client of `pond mcp` that writes and reads JSON lines itself, and lakes to ask about."""

import json
import os
import select
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pond import Lake
from tests.cli.command import POND, environment
from tests.operations import invented

PATIENCE = 120.0  # seconds; only a hang is that slow
GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tern", "version": "1"}}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tern", "version": "1"},
}


class Refused(Exception):
    """An error of JSON-RPC."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code, self.message = error["code"], error["message"]
        self.data: Any = error.get("data")


class Talk:
    """A running `pond mcp`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process, self._next = process, 0
        self.beside: list[Any] = []  # what came that was no answer

    def send(self, message: object) -> None:
        """Write one line; a text goes as it is."""
        assert self.process.stdin is not None
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def line(self) -> Any:
        """Return the next line that comes."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        assert ready, "nothing came"
        line = self.process.stdout.readline()
        assert line, "the server has ended"
        return json.loads(line)

    def ask(self, method: str, **params: Any) -> Any:
        """Return the result of a request; raise Refused."""
        self._next += 1
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        while (found := self.line()).get("id") != self._next:
            self.beside.append(found)
        if "error" in found:
            raise Refused(found["error"])
        return found["result"]

    def greet(self, version: str = "2025-06-18") -> Any:
        """Shake hands as clients do."""
        found = self.ask("initialize", **GREETING | {"protocolVersion": version})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return found

    def call(self, tool: str, _meta: Mapping[str, Any] | None = None, /, **arguments: Any) -> str:
        """Return the text that a tool answers with."""
        meta = {} if _meta is None else {"_meta": dict(_meta)}
        found = self.ask("tools/call", name=tool, arguments=arguments, **meta)
        assert "structuredContent" not in found
        return str(found["content"][0]["text"])

    def end(self) -> int:
        """Go away as clients do: close the pipe, and wait."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE)


def variables(lake: Path, **more: str) -> dict[str, str]:
    """Return the environment of a server, with a home of its own beside the lake."""
    home = lake.parent / "home"
    home.mkdir(exist_ok=True)
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "XDG_CACHE_HOME": str(home / ".cache")}
    inherited = {name: "" for name in os.environ if name.endswith("_SESSION_ID")}
    return environment(**inherited, **own, POND_LAKE=str(lake), **more)


def start(
    lake: Path, words: Sequence[str] = ("mcp",), **more: str
) -> subprocess.Popen[bytes]:  # fmt: skip
    """Start a server."""
    pipe = subprocess.PIPE
    return subprocess.Popen([*POND, *words], stdin=pipe, stdout=pipe, stderr=pipe, env=variables(lake, **more))


@contextmanager
def talking(lake: Path, words: Sequence[str] = ("mcp",), **more: str) -> Iterator[Talk]:
    """Run a server, and end it with the test at the latest."""
    process = start(lake, words, **more)
    try:
        yield Talk(process)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with open(os.devnull, "wb"):
                    try:
                        stream.close()
                    except BrokenPipeError:
                        continue


def store(lake: Path, *events: Any) -> None:
    """Store canonical events."""
    response = Lake(lake).ingest_events([event for each in events for event in each])
    assert not response["rejected"], response["rejected"]


def conversation(id: str, turns: int, text: str = "the lamp of turn {n}", **facts: str) -> list[Any]:
    """Return a session of so many prompts and answers; each answer calls a tool, and every third call fails."""
    events = [invented.session(id, **facts)]
    for n in range(turns):
        events += invented.said(id, f"{id}-p{n}", text.format(n=n), at=2 * n)
        answer = invented.message(id, f"{id}-a{n}", "assistant", at=2 * n)
        events += [answer, invented.part(answer, 0, "text", text=f"answer {n}")]
        call: Any = {"name": "Look", "call_id": f"call{n}", "params": {"n": n}, "provider_executed": False}
        events += [invented.part(answer, 1, "tool_call", **call)]
        result = invented.message(id, f"{id}-r{n}", "tool", at=2 * n + 1)
        came: Any = {"name": "Look", "call_id": f"call{n}", "is_failure": n % 3 == 2, "result": f"seen {n}"}
        events += [result, invented.part(result, 0, "tool_result", **came)]
    return events
