"""What a file's path says: captures of the client's file patterns, and the files that lie beside a session."""

from __future__ import annotations

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
    absolute = Path(path).absolute()
    text = absolute.as_posix()
    for pattern in patterns:
        if found := _pattern(pattern).match(text):
            return {**found.groupdict(), "directory": absolute.parent.as_posix()}
    return {"directory": absolute.parent.as_posix(), "_tail": absolute.name}


def beside(path: Path, patterns: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """Yield (name, path) of the files that belong to the session file at `path`, sorted; names are relative to it."""
    for pattern in patterns:
        concrete = pattern.replace("{stem}", path.stem)
        folder = path.parent / Path(concrete).parent
        if not folder.is_dir():
            continue
        for file in sorted(folder.iterdir()):
            name = file.relative_to(path.parent).as_posix()
            if fnmatch(name, concrete.replace("[", "[[]")) and file.is_file():
                # The session's own file name may differ where it is restored; `{stem}` stands for it.
                yield name.replace(path.stem, "{stem}", 1) if pattern.startswith("{stem}") else name, file


def ignored(path: Path, ignores: dict[str, str]) -> bool:
    """Tell whether the client's contract leaves this file out on purpose."""
    return any(fnmatch(path.name, pattern) for pattern in ignores)
