"""Claude Code: `~/.claude/projects/<slug>/<session id>.jsonl`, and `<session id>/subagents/` beside it."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from tests.clients import claude_rows, claude_source
from tests.clients.client import PEBBLE, Client
from tests.clients.expected import Item, rows
from tests.clients.install import CLAUDE, program
from tests.clients.isolation import Room
from tests.clients.script import Case

_NAME_LIMIT = 200
_SHOWN = 60  # characters of an error that the screen shows in any case


def slug(work: Path) -> str:
    """Return the project folder of a work directory; what stands for a longer name than 200 is not needed here."""
    name = re.sub(r"[^A-Za-z0-9]", "-", str(work))
    if len(name) > _NAME_LIMIT:
        raise ValueError(f"the work directory has too long a name: {work}")
    return name


class ClaudeCode(Client):
    """Resumed with `claude -p --continue` and `claude -p --resume <id>`."""

    name, short, root, folder = "claude-code", "claude", ".claude", "projects"

    def __init__(self, prefix: Path) -> None:
        self.program = str(program(prefix, CLAUDE))
        self.call = ("Read", {"file_path": PEBBLE})

    def write(self, case: Case, store: Path, work: Path) -> None:
        claude_rows.write_store(case, store / self.folder, slug(work), work)

    def sessions(self, store: Path) -> Mapping[str, Path]:
        return {path.stem: path for path in sorted((store / self.folder).glob("*/*.jsonl"))}

    def children(self, store: Path) -> list[Path]:
        return sorted((store / self.folder).glob("*/*/subagents/*.jsonl"))

    def read(self, session: Path) -> list[Item]:
        return claude_source.read(session)

    def settle(self, store: Path, work: Path) -> None:
        (project,) = (store / self.folder).iterdir()
        project.rename(project.with_name(slug(work)))

    def command(self, room: Room, url: str, prompt: str, session: str | None) -> tuple[list[str], dict[str, str]]:
        which = ["--continue"] if session is None else ["--resume", session]
        quiet = {"DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1"}
        model = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy", "IS_SANDBOX": "1"}
        environment = room.environment(CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", **quiet, **model)
        return [self.program, "-p", "--model", claude_rows.MODEL, *which, prompt], environment

    def title(self, session: Path) -> str:
        titles = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
        found = [row[titles[row["type"]]] for row in rows(session) if row.get("type") in titles]
        return str(found[-1]) if found else ""

    def begin(self, room: Room, url: str, prompt: str) -> tuple[list[str], dict[str, str]]:
        (program, p, *_), environment = self.command(room, url, prompt, None)
        return [program, p, "--model", claude_rows.MODEL, prompt], environment

    def at_terminal(self, room: Room, url: str, session: str | None) -> tuple[list[str], dict[str, str]]:
        _, environment = self.command(room, url, "", session)
        seen = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        known = {"approved": [environment["ANTHROPIC_API_KEY"]], "rejected": []}
        begun = {"hasCompletedOnboarding": True, "theme": "dark", "numStartups": 3, "customApiKeyResponses": known}
        settings = room.home / ".claude.json"
        there = json.loads(settings.read_text(encoding="utf-8")) if settings.exists() else {}
        text = json.dumps({**there, **begun, "projects": {str(room.work): seen}})
        settings.write_text(text, encoding="utf-8")
        which = ["--resume"] if session is None else ["--resume", session, "--verbose"]
        return [self.program, "--model", claude_rows.MODEL, *which], room.at_terminal(environment)

    def shown_call(self, item: Item, source: Client) -> tuple[str, ...]:
        failed = f"Error: {(item.result or '[pond: interrupted')[:_SHOWN]}"  # the screen has no name for it
        if item.failed or item.result is None:
            return (failed,)
        server, tool = source.name, item.name
        if item.name.startswith("mcp__"):
            _, server, tool = item.name.split("__", 2)
        return (f"{server} - {tool} (MCP)", failed)
