"""`pond mcp install`: shows, asks, keeps a copy, registers, checks; and takes all of it back."""

import json
import os
import pty
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pond.registration import jsonc
from pond.registration.clients import BY_NAME, CLIENTS
from pond.registration.launching import Launch
from pond.registration.skill import TEXT
from tests.cli.command import Done, finish, pond, start
from tests.mcp.talking import conversation, store
from tests.registration.test_texts import is_within
from tests.transports.server import serving

# A home as somebody uses it: comments, other servers, other settings.
USED = {
    ".claude.json": '{"numStartups":7,"mcpServers":{"fern":{"type":"stdio","command":"fern","args":[]}},"x":[1]}',
    ".codex/config.toml": 'model = "m" # mine\n\n[mcp_servers.fern]\ncommand = "x"\n\n# I\n[profiles.a]\nmodel = "n"\n',
    ".config/opencode/opencode.json": '{\n  // the theme\n  "theme": "dark",\n  "mcp": {},\n}\n',
    ".gemini/settings.json": '{\r\n    "general": { "vimMode": true } /* keep */\r\n}\r\n',
    ".copilot/mcp-config.json": '{\n\t"mcpServers": {\n\t\t"fern": {"type": "local", "command": "fern"}\n\t}\n}',
    ".qwen/settings.json": "{}\n",
    ".config/kilo/kilo.json": '\ufeff{"$schema": "x"}\n',
    ".cline/data/settings/cline_mcp_settings.json": '{\n  "mcpServers": {}\n}\n',
    ".config/mcp/mcp.json": '{"mcpServers": {"fern": {"command": "fern"}}}\n',
}
NAMES = [client.name for client in CLIENTS]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    for name, text in USED.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_bytes(text.encode())
    return made


def _variables(home: Path, **more: str) -> dict[str, str]:
    nothing = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), "")
    moved = dict.fromkeys(("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "COPILOT_HOME"), "")
    return {**nothing, **moved, "HOME": str(home), "PATH": "/usr/bin:/bin", "POND_LAKE": str(home / "lake"), **more}


def _install(home: Path, *words: str, **more: str) -> Done:
    return pond("mcp", "install", *words, variables=_variables(home, **more))


def _files(home: Path) -> dict[str, bytes]:
    own = home / ".local"
    return {str(f.relative_to(home)): f.read_bytes() for f in home.rglob("*") if f.is_file() and own not in f.parents}


def _entry(home: Path, name: str) -> Any:
    client = BY_NAME[name]
    text = client.file(home, {}).read_text(encoding="utf-8-sig")
    value: Any = tomllib.loads(text) if name == "codex" else jsonc.parsed(text)
    for step in client.path:
        value = value.get(step, {})
    return value


def test_every_client_of_a_used_home_is_registered_and_forgotten_to_the_byte(home: Path) -> None:
    before = _files(home)
    done = _install(home, "--yes")
    assert done.code == 0, done.err
    assert "checked     pond_search, pond_get, pond_sql_query" in done.out.decode()
    for name in NAMES:
        told = json.dumps(_entry(home, name))
        assert '"mcp"' in told, name
        assert str(home / "lake") in told, name
        assert os.path.isabs(_program(_entry(home, name))), name
    for name, text in _files(home).items():
        assert is_within(before[name].decode(), text.decode()), name
    assert _install(home, "--yes").out.decode().count("is registered") == len(NAMES)
    assert _install(home, "--undo", "--yes").code == 0
    assert _files(home) == before
    assert "nothing to do" in _install(home, "--undo", "--yes").out.decode()


def _program(entry: Any) -> str:
    inner = entry.get("transport", entry)
    return str(inner["command"][0] if isinstance(inner["command"], list) else inner["command"])


def test_in_a_fresh_home_only_what_is_named_is_registered(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    assert "nothing to do" in _install(home, "--yes").out.decode()
    done = _install(home, "--yes", "--client", "claude", "--client", "codex")
    assert done.code == 0, done.err
    assert sorted(_files(home)) == [".claude.json", ".codex/config.toml"]
    assert stat.S_IMODE((home / ".claude.json").stat().st_mode) == 0o600
    assert _install(home, "--undo", "--yes").code == 0
    assert _files(home) == {}


def test_an_entry_that_was_renewed_is_taken_back_to_the_beginning(home: Path) -> None:
    before = _files(home)
    assert _install(home, "--yes").code == 0
    assert _install(home, "--yes", "--lake", str(home / "other")).code == 0
    assert str(home / "other") in json.dumps(_entry(home, "claude"))
    assert _install(home, "--undo", "--yes").code == 0
    assert _files(home) == before


def test_what_changed_since_stays(home: Path) -> None:
    assert _install(home, "--yes").code == 0
    claude, codex = home / ".claude.json", home / ".codex/config.toml"
    claude.write_text(claude.read_text().replace('"numStartups":7', '"numStartups":8'))
    codex.write_text(codex.read_text() + "\n# later\n[later]\na = 1\n")
    assert _install(home, "--undo", "--yes").code == 0
    assert json.loads(claude.read_text()) == json.loads(USED[".claude.json"]) | {"numStartups": 8}
    text = codex.read_text()
    assert "pond" not in text
    assert text.startswith(USED[".codex/config.toml"])
    assert text.endswith("# later\n[later]\na = 1\n")


def test_a_copy_of_what_was_there_is_kept(home: Path) -> None:
    _install(home, "--yes", "--client", "claude")
    (copy,) = (home / ".local/state/pond/registered").glob("claude.*.backup")
    assert copy.read_text() == USED[".claude.json"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_a_dry_run_shows_the_change_and_makes_none(home: Path) -> None:
    before = _files(home)
    done = _install(home, "--dry-run")
    assert done.code == 0
    assert _files(home) == before
    assert not (home / ".local").exists()
    out = done.out.decode()
    assert '+    "pond": {' in out
    assert "+[mcp_servers.pond]" in out
    assert "nothing was changed" in out


def test_nobody_is_surprised(home: Path) -> None:
    before = _files(home)
    done = _install(home)
    assert done.code == 2
    assert "`--yes` does it without asking" in done.err
    assert _files(home) == before


@pytest.mark.parametrize(("answer", "code", "changed"), [(b"n\n", 1, False), (b"y\n", 0, True)])
def test_a_person_is_asked(home: Path, answer: bytes, code: int, changed: bool) -> None:
    controller, terminal = pty.openpty()
    process = start("mcp", "install", "--client", "qwen", stdin=terminal, variables=_variables(home))
    os.write(controller, answer)
    done = finish(process)
    os.close(controller)
    os.close(terminal)
    assert done.code == code
    assert "Change 1 file? [y/N]" in done.err
    assert bool(_entry(home, "qwen")) is changed


def test_a_file_that_pond_does_not_understand_is_left_alone(home: Path) -> None:
    broken = home / ".gemini/settings.json"
    broken.write_text('{"general": ')
    done = _install(home, "--yes")
    assert done.code != 0
    assert "mcp-file" in done.err
    assert broken.read_text() == '{"general": '
    assert _entry(home, "claude")  # the others are registered all the same


def test_an_unknown_client_is_refused(home: Path) -> None:
    done = _install(home, "--client", "tern")
    assert done.code == 2
    assert "one of claude, codex" in done.err


def test_a_link_stays_a_link_and_a_mode_a_mode(home: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    (home / ".qwen/settings.json").rename(real)
    (home / ".qwen/settings.json").symlink_to(real)
    real.chmod(0o640)
    assert _install(home, "--yes", "--client", "qwen").code == 0
    assert (home / ".qwen/settings.json").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert "pond" in real.read_text()


_OWN_COMMAND = """#!/bin/sh
case "$HOME" in {home}) echo touched > "$HOME/spoiled";; esac
mkdir -p "$HOME/.qwen"
entry='{{"command": "{program}", "args": ["mcp"], "since": "v9"}}'
printf '%s' '{{"telemetry": true, "mcpServers": {{"pond": '"$entry"'}}}}' > "$HOME/.qwen/settings.json"
"""


def test_the_form_is_the_clients_own(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    assert _install(home, "--yes", "--client", "qwen").code == 0
    program = _program(_entry(home, "qwen"))
    assert _install(home, "--undo", "--yes").code == 0
    (folder / "qwen").write_text(_OWN_COMMAND.format(home=home, program=program))
    (folder / "qwen").chmod(0o755)
    done = _install(home, "--yes", "--client", "qwen", PATH=f"{folder}:/usr/bin:/bin")
    assert "as `qwen mcp add` writes it" in done.out.decode()
    assert _entry(home, "qwen")["since"] == "v9"
    assert "telemetry" not in (home / ".qwen/settings.json").read_text()  # the entry alone was taken over
    assert not (home / "spoiled").exists()


@pytest.mark.parametrize("script", ["exit 1", 'mkdir -p "$HOME/.qwen"; echo "{" > "$HOME/.qwen/settings.json"', ":"])
def test_a_command_that_fails_is_done_without(home: Path, tmp_path: Path, script: str) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "qwen").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "qwen").chmod(0o755)
    done = _install(home, "--yes", "--client", "qwen", PATH=f"{folder}:/usr/bin:/bin")
    assert "as pond knows it" in done.out.decode()
    assert _entry(home, "qwen")["args"] == ["mcp"]


def test_a_registered_command_that_is_silent_is_told(home: Path) -> None:
    done = _install(home, "--yes", "--client", "qwen", "--http", "http://127.0.0.1:9/mcp")
    assert done.code != 0
    assert "mcp-silent" in done.err


def test_a_server_is_registered_by_its_address(home: Path, tmp_path: Path) -> None:
    token = "a-token-of-many-characters"
    store(tmp_path / "lake", conversation("oak", 1))
    with serving(tmp_path / "lake", variables={"POND_TOKEN": token}) as server:
        url = f"http://127.0.0.1:{server.port}/mcp"
        done = _install(home, "--yes", "--http", url, POND_TOKEN=token)
    assert done.code == 0, done.err
    assert "checked" in done.out.decode()
    assert token not in done.out.decode()
    for name in NAMES:
        assert url in json.dumps(_entry(home, name)), name
    assert _entry(home, "codex") == {"url": url, "bearer_token_env_var": "POND_TOKEN"}
    assert _entry(home, "claude")["headers"] == {"Authorization": f"Bearer {token}"}


def test_where_files_lie_is_moved_by_the_clients_own_variables(tmp_path: Path) -> None:
    home, moved = (
        Path("/home/ada"),
        {"CODEX_HOME": "/c", "XDG_CONFIG_HOME": "/x", "GEMINI_CLI_HOME": "/g", "CLINE_DIR": "/l"},
    )
    found = {client.name: str(client.file(home, moved)) for client in CLIENTS}
    assert found["codex"] == "/c/config.toml"
    assert found["opencode"] == "/x/opencode/opencode.jsonc"
    assert found["gemini"] == "/g/.gemini/settings.json"
    assert found["cline"] == "/l/data/settings/cline_mcp_settings.json"
    assert found["claude"] == "/home/ada/.claude.json"


def test_every_client_has_a_form_for_both_ways() -> None:
    for client in CLIENTS:
        for launch in (Launch(("/opt/pond", "mcp"), {"A": "b"}), Launch(url="http://127.0.0.1/mcp", token="t")):
            assert client.entry(launch)
            words = client.add(launch) if client.add is not None else []
            assert ("pond" in words) == bool(words)


# --- the skill --------------------------------------------------------------------------------------------------------


def _skill(home: Path, *words: str) -> Done:
    return pond("skill", "install", *words, variables=_variables(home))


def test_the_skill_is_put_into_two_folders_and_taken_out(home: Path) -> None:
    before = _files(home)
    assert "nothing was changed" in _skill(home, "--dry-run").out.decode()
    assert _files(home) == before
    assert _skill(home, "--yes").code == 0
    for folder in (".agents", ".claude"):
        assert (home / folder / "skills/pond/SKILL.md").read_text() == TEXT
    assert "nothing to do" in _skill(home, "--yes").out.decode()
    assert _skill(home, "--undo", "--yes").code == 0
    assert _files(home) == before
    assert not (home / ".agents/skills/pond").exists()


def test_the_skill_says_its_name_and_when_to_use_it() -> None:
    head: Mapping[str, str] = dict(line.split(": ", 1) for line in TEXT.split("---")[1].strip().splitlines())
    assert head["name"] == "pond"
    assert 50 < len(head["description"]) < 1024
