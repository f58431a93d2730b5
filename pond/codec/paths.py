"""What a file's path says: captures of the client's file patterns, and the files that lie beside a session."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

_HOLE = re.compile(r"\{(\w+)(\*\*)?\}")


@cache
def _pattern(text: str) -> re.Pattern[str]:
    out, at = "", 0
    for hole in _HOLE.finditer(text):
        out += re.escape(text[at : hole.start()])
        out += f"(?P<{hole[1]}>.+)" if hole[2] else f"(?P<{hole[1]}>[^/]+)"
        at = hole.end()
    return re.compile(f"(?:^|.*/)(?P<_tail>{out}{re.escape(text[at:])})$", re.DOTALL)


def captures(path: Path | None, patterns: tuple[str, ...]) -> dict[str, str]:
    """Return what the first fitting pattern captures; `_tail` is the part of the path the client's layout fixes."""
    if path is None:
        return {}
    text = os.path.abspath(path).replace(os.sep, "/")
    directory, _, name = text.rpartition("/")
    for pattern in patterns:
        if found := _pattern(pattern).match(text):
            return {**found.groupdict(), "directory": directory or "/"}
    return {"directory": directory or "/", "_tail": name}


def beside(path: Path, patterns: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """Yield (name, path) of the files that belong to the session file at `path`, sorted; names are relative to it.

    `{stem}` in a pattern, and in the names given, stands for the session file's own name: it may be another where the
    session is restored.
    """
    if not patterns:
        return
    folder, name = os.path.split(path)
    dot = name.rfind(".")
    stem = name[:dot] if 0 < dot < len(name) - 1 else name  # as `with_suffix` does, for a tenth of the time
    for pattern in patterns:
        inside, _, last = pattern.replace("{stem}", stem).rpartition("/")
        place = os.path.join(folder, inside)
        for name in _matching(place, last):
            file = os.path.join(place, name)
            if os.path.isfile(file):
                shown = f"{inside}/{name}" if inside else name
                yield shown.replace(stem, "{stem}", 1) if pattern.startswith("{stem}") else shown, Path(file)


def _matching(folder: str, pattern: str) -> list[str]:
    """Return the names in a folder that a pattern means; a plain name is not looked for among ten thousand others."""
    if "*" not in pattern:
        return [pattern]
    try:
        return sorted(name for name in os.listdir(folder) if fnmatch(name, pattern))
    except OSError:
        return []


def ignored(path: Path, ignores: dict[str, str]) -> bool:
    """Tell whether the client's contract leaves this file out on purpose."""
    return any(fnmatch(path.name, pattern) for pattern in ignores)
