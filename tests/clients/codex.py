"""Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<session id>.jsonl`, subagents among them."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.clients import codex_rows, codex_source
from tests.clients.client import PEBBLE, Client
from tests.clients.expected import Item, rows
from tests.clients.install import CODEX, program
from tests.clients.isolation import Room
from tests.clients.script import Case

_ID_LENGTH = 36

_CONFIGURATION = """\
model = "{model}"
model_provider = "{provider}"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
[model_providers.{provider}]
name = "{provider}"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
"""


class Codex(Client):
    """Resumed with `codex exec resume --last --all` and `codex exec resume <id>`."""

    name, short, root, folder = "codex", "codex", ".codex", "sessions"

    def __init__(self, prefix: Path) -> None:
        self.program = str(program(prefix, CODEX))
        self.call = ("exec_command", {"cmd": f"cat {PEBBLE}"})

    def write(self, case: Case, store: Path, work: Path) -> None:
        codex_rows.write_store(case, store / self.folder, work)

    def sessions(self, store: Path) -> Mapping[str, Path]:
        return {path.stem[-_ID_LENGTH:]: path for path, child in self._rollouts(store) if not child}

    def children(self, store: Path) -> list[Path]:
        return [path for path, child in self._rollouts(store) if child]

    def _rollouts(self, store: Path) -> Iterator[tuple[Path, bool]]:
        """Yield each rollout, and whether it is a subagent's."""
        for path in sorted((store / self.folder).rglob("rollout-*.jsonl")):
            with open(path, "rb") as file:
                source = json.loads(file.readline())["payload"].get("source")
            yield path, isinstance(source, dict) and "subagent" in source

    def read(self, session: Path) -> list[Item]:
        return codex_source.read(session)

    def settle(self, store: Path, work: Path) -> None:
        """Do nothing: a rollout's place does not tell of the work directory."""

    def command(self, room: Room, url: str, prompt: str, session: str | None) -> tuple[list[str], dict[str, str]]:
        home = room.home / self.root
        home.mkdir(exist_ok=True)
        configuration = _CONFIGURATION.format(model=codex_rows.MODEL, provider=codex_rows.PROVIDER, url=url)
        (home / "config.toml").write_text(configuration, encoding="utf-8")
        which = ["--last", "--all"] if session is None else [session]
        flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        environment = room.environment(MOCK_KEY="dummy", CODEX_HOME=str(home))
        return [self.program, "exec", "resume", *flags, *which, prompt], environment

    def set_up(self, room: Room) -> dict[str, str]:
        home = room.root / "settings"
        home.mkdir(exist_ok=True)
        text = _CONFIGURATION.format(model=codex_rows.MODEL, provider=codex_rows.PROVIDER, url="")
        (home / "config.toml").write_text(text, encoding="utf-8")
        return {"CODEX_HOME": str(home)}

    def title(self, session: Path) -> str:
        index = next(folder.parent for folder in session.parents if folder.name == self.folder) / "session_index.jsonl"
        listed = rows(index) if index.exists() else []
        found = [row["thread_name"] for row in listed if row.get("id") == session.stem[-_ID_LENGTH:]]
        return str(found[-1]) if found else ""

    def begin(self, room: Room, url: str, prompt: str) -> tuple[list[str], dict[str, str]]:
        (program, exec_, _, *flags, _), environment = self.command(room, url, prompt, "")
        return [program, exec_, *flags[:-1], prompt], environment

    def at_terminal(self, room: Room, url: str, session: str | None) -> tuple[list[str], dict[str, str]]:
        _, environment = self.command(room, url, "", session)
        file = room.home / self.root / "config.toml"
        # Of a model that it knows the client first tells that there is a newer one.
        text = file.read_text(encoding="utf-8").replace(f'model = "{codex_rows.MODEL}"', 'model = "mock-model"')
        trust = f'\n[projects."{room.work}"]\ntrust_level = "trusted"\n'
        file.write_text(text + trust, encoding="utf-8")
        which = ["resume"] if session is None else ["resume", session]
        return [self.program, *which], room.at_terminal(environment)

    def shown_call(self, item: Item, source: Client) -> tuple[str, ...]:
        server, tool = source.name, item.name
        if item.name.startswith("mcp__"):
            _, server, tool = item.name.split("__", 2)
        return (f"{'Failed' if item.failed or item.result is None else 'Called'} {server}.{tool}",)
