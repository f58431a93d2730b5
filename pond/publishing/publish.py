"""Writes the bundle of this pond to a directory that can be served; it never breaks what is published there."""

from __future__ import annotations

from pathlib import Path

from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError
from pond.publishing.breaks import Break
from pond.publishing.bundle import Files, examples, in_directory, shipped, versions
from pond.publishing.check import breaks


def published() -> Files:
    """Return all files to publish: the bundle, and the valid examples of each version."""
    files = shipped()
    found = dict(examples())
    for version in versions(files, "this pond"):
        files |= {f"{version}/examples/{path}": content for path, content in found.items()}
    return files


def publish(out: Path) -> tuple[list[str], int]:
    """Write what is published to `out`; return the files that are new or changed, and the total number.

    Nothing is written if an existing version would break. Other files are left alone.
    """
    files = published()
    if broken := _broken(in_directory(out), files, str(out)):
        raise PondError(*(Diagnostic("schema-broken", f"{each.at}: {each.change}") for each in broken))
    try:
        changed = [path for path, content in files.items() if not _is_there(out / path, content)]
        for path in changed:
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).write_bytes(files[path])
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise UsageError(Diagnostic("usage", f"cannot publish to `{out}`: {reason}")) from None
    return changed, len(files)


def _is_there(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def _broken(there: Files, files: Files, place: str) -> list[Break]:
    return list(breaks(versions(there, place), versions(files, "this pond"))) if there else []
