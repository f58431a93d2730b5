"""Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<session id>.jsonl`, subagents among them."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.clients import codex_rows, codex_source
from tests.clients.client import PEBBLE, Client
from tests.clients.expected import Item
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
