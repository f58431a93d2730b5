"""Generated Python, formatted like the rest of the code."""

import subprocess
import sys


def laid_out(text: str) -> str:
    """Return the text of a module with sorted imports and formatted lines."""
    # `--isolated`: the result depends only on the pinned version of ruff, not on the caller or the directory.
    base = ("--isolated", "--line-length=120", "--target-version=py311")
    first_party = 'lint.isort.known-first-party=["pond"]'
    sorted_imports = run("ruff", "check", *base, "--select=I", f"--config={first_party}", "--fix", "-", stdin=text)
    return run("ruff", "format", *base, "-", stdin=sorted_imports)


def run(module: str, *arguments: str, stdin: str | None = None) -> str:
    """Return what a Python program prints; raise RuntimeError with its error output if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], input=stdin, capture_output=True, text=True, encoding="utf-8"
    )
    if done.returncode != 0:
        raise RuntimeError(f"{module} failed:\n{done.stderr}")
    return done.stdout
