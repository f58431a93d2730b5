"""The clients that pond can be registered with: where each keeps its servers, how it writes one down, how it adds one.

Measured with claude 2.1.325, codex 0.166.0, opencode 1.18.33, kilo 7.7.7, gemini 0.61.0, qwen 0.24.4, copilot 1.0.102,
cline 3.0.65, and pi 0.87.1 with pi-mcp-adapter 2.36.0.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pond.registration.launching import TOKEN, Launch

NAME = "pond"
Environ = Mapping[str, str]
Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Client:
    """One client; `add` are the words after its program that make it register a server, None where it has none."""

    name: str
    file: Callable[[Path, Environ], Path]
    above: tuple[str, ...]  # the members that lead to its servers
    entry: Callable[[Launch], Entry]
    add: Callable[[Launch], Sequence[str]] | None
    signs: tuple[str, ...]  # files in a home directory that show that it is used
    note: str = ""

    @property
    def path(self) -> tuple[str, ...]:
        """Where the entry of pond stands."""
        return (*self.above, NAME)

    def program(self, environ: Environ) -> str | None:
        """Return the client's program; None where it is not on the path."""
        return shutil.which(self.name, path=environ.get("PATH"))

    def is_here(self, home: Path, environ: Environ) -> bool:
        """Tell whether somebody uses it on this machine."""
        there = self.program(environ) is not None or self.file(home, environ).exists()
        return there or any((home / sign).exists() for sign in self.signs)


def _moved(environ: Environ, variable: str, usual: Path) -> Path:
    return Path(environ[variable]) if environ.get(variable) else usual


def _config(home: Path, environ: Environ) -> Path:
    return _moved(environ, "XDG_CONFIG_HOME", home / ".config")


def _existing(folder: Path, *names: str) -> Path:
    """Return the first file that is there; the first of all where none is."""
    return next((folder / name for name in names if (folder / name).exists()), folder / names[0])


def _headers(launch: Launch) -> Entry:
    return {"headers": {"Authorization": f"Bearer {launch.token}"}} if launch.token else {}


def _started(launch: Launch) -> Entry:
    program, *arguments = launch.words
    return {"command": program, "args": arguments}


def _env(launch: Launch, name: str = "env") -> Entry:
    return {name: dict(launch.environment)} if launch.environment else {}


def _options(launch: Launch, flag: str) -> list[str]:
    return [word for name, value in launch.environment.items() for word in (flag, f"{name}={value}")]


def _header_option(launch: Launch, flag: str, sign: str = ": ") -> list[str]:
    return [flag, f"Authorization{sign}Bearer {launch.token}"] if launch.token else []


# --- how each writes a server down ------------------------------------------------------------------------------------


def _claude(launch: Launch) -> Entry:
    if launch.url:
        return {"type": "http", "url": launch.url, **_headers(launch)}
    return {"type": "stdio", **_started(launch), "env": dict(launch.environment)}


def _codex(launch: Launch) -> Entry:
    if launch.url:
        return {"url": launch.url, **({"bearer_token_env_var": TOKEN} if launch.token else {})}
    return {**_started(launch), **_env(launch)}


def _opencode(launch: Launch) -> Entry:
    if launch.url:
        return {"type": "remote", "url": launch.url, **_headers(launch)}
    return {"type": "local", "command": list(launch.words), **_env(launch, "environment")}


def _gemini(launch: Launch) -> Entry:
    if launch.url:
        return {"url": launch.url, "type": "http", **_headers(launch)}
    return {**_started(launch), **_env(launch)}


def _qwen(launch: Launch) -> Entry:
    if launch.url:
        return {"httpUrl": launch.url, **_headers(launch)}
    return {**_started(launch), **_env(launch)}


def _copilot(launch: Launch) -> Entry:
    if launch.url:
        return {"tools": ["*"], "type": "http", "url": launch.url, **_headers(launch)}
    return {"tools": ["*"], "type": "local", **_started(launch), **_env(launch)}


def _cline(launch: Launch) -> Entry:
    if launch.url:
        return {"transport": {"type": "streamableHttp", "url": launch.url, **_headers(launch)}}
    return {"transport": {"type": "stdio", **_started(launch), **_env(launch)}}


# --- how each adds one itself -----------------------------------------------------------------------------------------


def _claude_adds(launch: Launch) -> list[str]:
    if launch.url:
        return ["mcp", "add", "-s", "user", "-t", "http", NAME, launch.url, *_header_option(launch, "-H")]
    return ["mcp", "add", "-s", "user", NAME, *_options(launch, "-e"), "--", *launch.words]


def _codex_adds(launch: Launch) -> list[str]:
    if launch.url:
        return ["mcp", "add", NAME, "--url", launch.url, *(["--bearer-token-env-var", TOKEN] if launch.token else [])]
    return ["mcp", "add", NAME, *_options(launch, "--env"), "--", *launch.words]


def _opencode_adds(launch: Launch) -> list[str]:
    if launch.url:
        return ["mcp", "add", NAME, "--url", launch.url, *_header_option(launch, "--header", "=")]
    return ["mcp", "add", NAME, *_options(launch, "--env"), "--", *launch.words]


def _gemini_adds(launch: Launch) -> list[str]:
    if launch.url:
        return ["mcp", "add", "-s", "user", "-t", "http", *_header_option(launch, "-H"), NAME, launch.url]
    # `--` before the command is an error here.
    return ["mcp", "add", "-s", "user", *_options(launch, "-e"), NAME, *launch.words]


def _copilot_adds(launch: Launch) -> list[str]:
    if launch.url:
        return ["mcp", "add", "--transport", "http", *_header_option(launch, "--header"), NAME, launch.url]
    return ["mcp", "add", NAME, *_options(launch, "--env"), "--", *launch.words]


def _cline_adds(launch: Launch) -> list[str]:
    if launch.url:
        return ["mcp", "add", "--transport", "http", "--yes", *_header_option(launch, "--header"), NAME, launch.url]
    # It has no option for the environment: an entry that needs one is written as pond knows it.
    return [] if launch.environment else ["mcp", "add", NAME, "--yes", "--", *launch.words]


def _cline_file(home: Path, environ: Environ) -> Path:
    data = _moved(environ, "CLINE_DATA_DIR", _moved(environ, "CLINE_DIR", home / ".cline") / "data")
    return data / "settings/cline_mcp_settings.json"


_SERVERS = ("mcpServers",)
CLIENTS = (
    Client(
        "claude", lambda home, environ: _moved(environ, "CLAUDE_CONFIG_DIR", home) / ".claude.json", _SERVERS,
        _claude, _claude_adds, (".claude", ".claude.json"),
        "without a person, allow its tools: --allowedTools mcp__pond, or permissions.allow in settings.json",
    ),
    Client(
        "codex", lambda home, environ: _moved(environ, "CODEX_HOME", home / ".codex") / "config.toml", ("mcp_servers",),
        _codex, _codex_adds, (".codex",),
    ),
    Client(
        "opencode",
        lambda home, environ: _existing(_config(home, environ) / "opencode", "opencode.jsonc", "opencode.json"),
        ("mcp",), _opencode, _opencode_adds, (".config/opencode", ".local/share/opencode"),
    ),
    Client(
        "gemini", lambda home, environ: _moved(environ, "GEMINI_CLI_HOME", home) / ".gemini/settings.json", _SERVERS,
        _gemini, _gemini_adds, (".gemini",),
        "without a person, gemini hides the tools of servers: -y, or --allowed-mcp-server-names pond",
    ),
    Client(
        "copilot", lambda home, environ: _moved(environ, "COPILOT_HOME", home / ".copilot") / "mcp-config.json",
        _SERVERS, _copilot, _copilot_adds, (".copilot",),
    ),
    Client(
        "qwen", lambda home, environ: _moved(environ, "QWEN_HOME", home / ".qwen") / "settings.json", _SERVERS,
        _qwen, _gemini_adds, (".qwen",),
        "without a person, qwen refuses tools of servers: -y, or --allowed-tools mcp__pond__pond_search",
    ),
    Client(
        "kilo", lambda home, environ: _existing(
            _moved(environ, "KILO_CONFIG_DIR", _config(home, environ) / "kilo"), "kilo.json", "kilo.jsonc"
        ),
        ("mcp",), _opencode, _opencode_adds, (".config/kilo", ".local/share/kilo"),
    ),
    Client("cline", _cline_file, _SERVERS, _cline, _cline_adds, (".cline",)),
    Client(
        "pi", lambda home, environ: _config(home, environ) / "mcp/mcp.json", _SERVERS, _gemini, None, (".pi",),
        "pi reads it through pi-mcp-adapter: `pi install npm:pi-mcp-adapter`",
    ),
)  # fmt: skip
BY_NAME = {client.name: client for client in CLIENTS}
