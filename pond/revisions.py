"""Reads a folder of files from the working tree or from a git revision."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pond.diagnostics.diagnostic import Diagnostic, UsageError

# Path below the folder, with slashes -> content.
Snapshot: TypeAlias = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Checkout:
    """A directory inside a git working tree that holds the requested folder."""

    home: Path
    prefix: str  # of `home` inside the repository: empty, or ending with a slash
    folder: str


def find_checkout(start: Path, folder: str) -> Checkout | None:
    """Return the nearest directory from `start` up, inside its git working tree, that holds `folder`."""
    start = start.resolve()
    done = _git(start, "rev-parse", "--show-toplevel")
    if done.returncode != 0:
        raise _refusal("git-no-checkout", f"`{start}` is not in a git checkout: {_reason(done)}")
    top = Path(os.fsdecode(done.stdout.rstrip(b"\n"))).resolve()
    for home in (start, *start.parents):
        if (home / folder).is_dir():
            inside = home.relative_to(top).as_posix()
            return Checkout(home, "" if inside == "." else f"{inside}/", folder)
        if home == top:
            break
    return None


def read_revision(checkout: Checkout, revision: str) -> Snapshot:
    """Return the files of the folder in `revision`; none if it has no such folder."""
    tree = _tree(checkout, revision)
    folder = f"{checkout.prefix}{checkout.folder}/"
    listing = _must(checkout, revision, "ls-tree", "-r", "-z", "--full-tree", tree, "--", folder)
    found: list[tuple[str, str]] = []
    for entry in os.fsdecode(listing).split("\0"):
        about, _, path = entry.partition("\t")
        if about.startswith("100"):  # a regular file; not a link, not a repository inside this one
            found.append((path.removeprefix(folder), about.split()[2]))
    return _contents(checkout, revision, found)


def read_folder(folder: Path) -> Snapshot:
    """Return the files of a folder on disk; raise OSError if one cannot be read."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _tree(checkout: Checkout, revision: str) -> str:
    # With `--verify` git accepts one revision and nothing else, so that no option can be passed as one.
    done = _git(checkout.home, "rev-parse", "--verify", "--quiet", f"{revision}^{{tree}}")
    if done.returncode == 0:
        return done.stdout.decode().strip()
    raise _refusal(
        "git-unknown-revision",
        f"git does not know the revision `{revision}` here",
        "a shallow clone has only its newest commits; `git fetch --unshallow` brings the others",
    )


def _contents(checkout: Checkout, revision: str, found: list[tuple[str, str]]) -> Snapshot:
    if not found:
        return {}
    asked = "".join(f"{blob}\n" for _, blob in found).encode()
    answer = memoryview(_must(checkout, revision, "cat-file", "--batch", given=asked))
    snapshot: Snapshot = {}
    for path, _ in found:
        head, _, _ = bytes(answer[:200]).partition(b"\n")
        words = head.split()
        if len(words) != 3:  # `<blob> missing`: a clone that fetches contents on demand, and could not
            what = f"git has no content for `{checkout.folder}/{path}` at `{revision}`"
            raise _refusal("git-unknown-revision", what)
        start, size = len(head) + 1, int(words[2])
        snapshot[path] = bytes(answer[start : start + size])
        answer = answer[start + size + 1 :]
    return snapshot


def _must(checkout: Checkout, revision: str, *words: str, given: bytes = b"") -> bytes:
    done = _git(checkout.home, *words, given=given)
    if done.returncode != 0:
        raise _refusal("git-unknown-revision", f"git cannot read `{revision}`: {_reason(done)}")
    return done.stdout


def _git(directory: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-C", str(directory), *words]
    try:
        # C: the reason that git gives is passed on, in English like the rest.
        return subprocess.run(command, input=given, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"})
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise _refusal("git-no-checkout", f"git cannot be started: {reason}") from None


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    return lines[0].removeprefix("fatal: ") if lines else f"git ended with {done.returncode}"


def _refusal(code: str, message: str, help: str = "") -> UsageError:
    return UsageError(Diagnostic(code, message, help=help))
