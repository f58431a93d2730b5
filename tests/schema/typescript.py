"""The TypeScript compiler: the one that POND_TSC names, else one from npm where node is, kept for the next run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_PACKAGE = "typescript@7.0.2"
_SECONDS = 120  # for fetching it: no registry answers so late


def compiler() -> list[str]:
    """Return the command that runs tsc, or say that the declarations were not checked."""
    if named := os.environ.get("POND_TSC"):
        return [named]
    found = _kept() / "node_modules/typescript/bin/tsc"
    node = shutil.which("node")
    if node and (found.exists() or _fetched(found)):
        return [node, str(found)]
    pytest.skip("POND_TSC not set: TypeScript declarations not checked")


def _kept() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pond-typescript" / _PACKAGE


def _fetched(found: Path) -> bool:
    npm = shutil.which("npm")
    if not npm:
        return False
    command = [npm, "install", "--no-audit", "--no-fund", "--no-save", "--prefix", str(_kept()), _PACKAGE]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and found.exists()
