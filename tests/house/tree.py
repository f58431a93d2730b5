"""The files of the repository, as git would take them."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What .gitignore names, for a source archive or a machine without git.
_LEFT_BEHIND = {".git", ".venv", ".venv-lock", "__pycache__", "mutants", "build", "dist"}


def files() -> list[Path]:
    """List every file that is tracked or about to be, relative to the top, sorted."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        # `safe.directory`: a CI checkout is often owned by another user than the one who runs the tests.
        command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        names = {Path(name) for name in listing.split("\0") if name}
    else:
        names = {path.relative_to(ROOT) for path in ROOT.rglob("*")}
        names = {name for name in names if not any(_left_behind(part) for part in name.parts)}
    return sorted(name for name in names if (ROOT / name).is_file())


def _left_behind(name: str) -> bool:
    return name in _LEFT_BEHIND or name.endswith(("_cache", ".egg-info")) or name == ".hypothesis"


def text_of(name: Path) -> str | None:
    """Read a file of the repository, or return None where it is not text."""
    content = (ROOT / name).read_bytes()
    return None if b"\0" in content else content.decode("utf-8", errors="replace")
