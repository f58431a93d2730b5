"""The clients that pond is the memory of: how each is set up and asked, and what it calls pond's tool."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.install import CLAUDE, CODEX, COPILOT, GEMINI, KILO, OPENCODE, QWEN, Package

Call = Mapping[str, Any]  # of the mock model: a tool's name and what it is given


@dataclass(frozen=True)
class Rememberer:
    """One client; `settle` writes its settings into a home, and leaves what it finds there."""

    package: Package
    settle: Callable[[Path, str], None]
    words: Callable[[str, str], list[str]]  # program, prompt
    variables: Callable[[str, Path], dict[str, str]]  # the model's address, home
    calls: Callable[[dict[str, Any]], list[Call]]  # what the model says, one after the other, to search


def _merged(file: Path, more: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(found | more, indent=2), encoding="utf-8")


def _nothing(home: Path, url: str) -> None:
    return


def _plain(name: str) -> Callable[[dict[str, Any]], list[Call]]:
    return lambda arguments: [{"name": name, "input": arguments}]


# --- each of them -----------------------------------------------------------------------------------------------------


_CODEX = """
model = "gpt-5.5"
model_provider = "mock"
check_for_update_on_startup = false
"""
_CODEX_TABLES = """
[analytics]
enabled = false
[features]
plugins = false
apps = false
[model_providers.mock]
name = "mock"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
"""


def _settle_codex(home: Path, url: str) -> None:
    file = home / ".codex/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    found = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(_CODEX + found + _CODEX_TABLES.format(url=url), encoding="utf-8")


def _settle_opencode(name: str) -> Callable[[Path, str], None]:
    def settle(home: Path, url: str) -> None:
        folder = home / ".config" / name
        usual = folder / f"{name}.{'jsonc' if name == 'opencode' else 'json'}"
        models = {
            "mock-model": {"name": "Mock", "tool_call": True, "limit": {"context": 200000, "output": 8000}},
            "mock-small": {"name": "Small"},
        }
        provider = {
            "npm": "@ai-sdk/openai-compatible", "name": "Mock", "models": models,
            "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
        }  # fmt: skip
        _merged(usual, {
            "autoupdate": False, "share": "disabled", "model": "mock/mock-model", "small_model": "mock/mock-small",
            "enabled_providers": ["mock"], "provider": {"mock": provider},
        })  # fmt: skip

    return settle


def _quiet(prefix: str) -> dict[str, str]:
    names = ("DISABLE_AUTOUPDATE", "DISABLE_MODELS_FETCH", "DISABLE_LSP_DOWNLOAD", "DISABLE_DEFAULT_PLUGINS")
    return {f"{prefix}_{name}": "1" for name in names} | {f"{prefix}_TELEMETRY_LEVEL": "off"}


def _settle_gemini(home: Path, url: str) -> None:
    _merged(home / ".gemini/settings.json", {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
    })  # fmt: skip


def _settle_qwen(home: Path, url: str) -> None:
    _merged(home / ".qwen/settings.json", {
        "security": {"auth": {"selectedType": "openai"}},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
        "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
    })  # fmt: skip


def _claude_variables(url: str, home: Path) -> dict[str, str]:
    on = ("IS_SANDBOX", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING",
          "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")  # fmt: skip
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy", **dict.fromkeys(on, "1")}


def _copilot_variables(url: str, home: Path) -> dict[str, str]:
    return {
        "COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": "mock-model", "COPILOT_AUTO_UPDATE": "false",
    }  # fmt: skip


def _codex_calls(arguments: dict[str, Any]) -> list[Call]:
    return [{"name": "pond_search", "namespace": "mcp__pond", "input": arguments}]


def _qwen_calls(arguments: dict[str, Any]) -> list[Call]:
    return [
        {"name": "tool_search", "input": {"query": "select:mcp__pond__pond_search"}},
        {"name": "mcp__pond__pond_search", "input": arguments},
    ]


RUN = ["run", "--auto"]
REMEMBERERS = {
    "claude": Rememberer(
        CLAUDE, _nothing,
        lambda program, prompt: [program, "-p", "--model", "claude-sonnet-4-5", "--allowedTools=mcp__pond", prompt],
        _claude_variables, _plain("mcp__pond__pond_search"),
    ),
    "codex": Rememberer(
        CODEX, _settle_codex, lambda program, prompt: [program, "exec", "--skip-git-repo-check", prompt],
        lambda url, home: {"MOCK_KEY": "dummy", "CODEX_HOME": str(home / ".codex")}, _codex_calls,
    ),
    "opencode": Rememberer(
        OPENCODE, _settle_opencode("opencode"), lambda program, prompt: [program, *RUN, *prompt.split()],
        lambda url, home: _quiet("OPENCODE"), _plain("pond_pond_search"),
    ),
    "gemini": Rememberer(
        GEMINI, _settle_gemini,
        lambda program, prompt: [program, "--skip-trust", "-y", "-m", "gemini-2.5-flash", "-p", prompt],
        lambda url, home: {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": url}, _plain("mcp_pond_pond_search"),
    ),
    "copilot": Rememberer(
        COPILOT, _nothing, lambda program, prompt: [program, "-p", prompt], _copilot_variables,
        _plain("pond-pond_search"),
    ),
    "qwen": Rememberer(
        QWEN, _settle_qwen,
        lambda program, prompt: [program, "-y", "--auth-type", "openai", "-m", "qwen3-coder-plus", "-p", prompt],
        lambda url, home: {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{url}/v1",
                           "OPENAI_MODEL": "qwen3-coder-plus", "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1"},
        _qwen_calls,
    ),
    "kilo": Rememberer(
        KILO, _settle_opencode("kilo"), lambda program, prompt: [program, *RUN, *prompt.split()],
        lambda url, home: _quiet("KILO"), _plain("pond_pond_search"),
    ),
}  # fmt: skip
