"""What a file's path says: captures of the client's file patterns, and the files beside a session."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch, fnmatchcase
from functools import cache
from pathlib import Path

from pond.codec.document import is_anybodys
from pond.codec.lines import plain_name
from pond.lang import holes

_NO_NAME = ("", ".", "..")


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(f"(?:^|.*/)(?P<_tail>{holes.pattern(text)})$", re.DOTALL)


def captures(path: Path | None, patterns: tuple[str, ...]) -> dict[str, str]:
    """Return the captures of the first fitting pattern; `_tail` is the part that the client's layout fixes."""
    if path is None:
        return {}
    text = plain_name(os.path.abspath(path).replace(os.sep, "/"))
    directory = text.rpartition("/")[0]
    for each in patterns:
        if found := _pattern(each).match(text):
            return {**found.groupdict(), "directory": directory or "/"}
    return {"directory": directory or "/"}  # a name that the client would not use is not kept


def own_location(text: str, patterns: tuple[str, ...], ignores: dict[str, str]) -> str | None:
    """Return the place of a stored path in the client's own layout; None if the client would keep no session there.

    Stored paths are data from anybody: one that named the client's settings would make it run what they say. A document
    that was found under some other name gets one of the client's: settings are such files too.
    """
    if any(step in _NO_NAME for step in text.split("/")) or ignored(Path(text), ignores):
        return None
    fitting = next((p for p in patterns if (found := _pattern(p).match(text)) and found["_tail"] == text), None)
    if fitting is None or not is_anybodys(fitting):
        return text if fitting is not None else None
    stem, dot, suffix = text.rpartition(".")
    alike = (p for p in patterns if p.endswith(dot + suffix) and not is_anybodys(p))
    named = next((p for p in alike if len(holes.HOLE.findall(p)) == 1), None)
    return holes.HOLE.sub(lambda _: stem, named) if named is not None else None


def belongs_beside(name: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether the client keeps a file of this name beside a session; `{stem}` is the session's own name."""
    folder, _, last = name.rpartition("/")
    pairs = (pattern.rpartition("/")[::2] for pattern in patterns)
    return last not in _NO_NAME and any(folder == where and fnmatchcase(last, what) for where, what in pairs)


def one_of(path: str, key: str) -> str:
    """Return the path of one session of a store with many: a file beside the store, named after both."""
    stem, suffix = os.path.splitext(path)
    return f"{stem}-{key.replace('/', '_').replace(os.sep, '_')}{suffix}"


def beside(path: Path, patterns: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """Yield (name, path) of the files that belong to the session file at `path`, sorted; names are relative to it.

    `{stem}` in a pattern and in the returned names is the session file's own name: a restored session may have another.
    """
    if not patterns:
        return
    folder, name = os.path.split(path)
    dot = name.rfind(".")
    stem = name[:dot] if 0 < dot < len(name) - 1 else name  # as `with_suffix` does, for a tenth of the time
    for pattern in patterns:
        inside, _, last = pattern.replace("{stem}", stem).rpartition("/")
        inner = os.path.join(folder, inside)
        for name in _matching(inner, last):
            file = os.path.join(inner, name)
            if os.path.isfile(file):
                shown = f"{inside}/{name}" if inside else name
                yield shown.replace(stem, "{stem}", 1) if pattern.startswith("{stem}") else shown, Path(file)


def owner_stem(folder: str, patterns: Iterable[str]) -> str | None:
    """Return the session file to which all files of a folder belong, by a pattern such as `{stem}/results/*`.

    It comes without its suffix, which only the client's own patterns know.
    """
    for pattern in patterns:
        inner = pattern.removeprefix("{stem}/").removesuffix("/*").split("/")
        if pattern == "/".join(["{stem}", *inner, "*"]) and folder.split(os.sep)[-len(inner) :] == inner:
            return os.path.abspath(os.path.join(folder, *[os.pardir] * len(inner)))
    return None


def _matching(folder: str, pattern: str) -> list[str]:
    """Return the names in a folder that match a pattern; a plain name is not searched among ten thousand others."""
    if "*" not in pattern:
        return [pattern]
    try:
        return sorted(name for name in os.listdir(folder) if fnmatch(name, pattern))
    except OSError:
        return []


def ignored(path: Path, ignores: dict[str, str]) -> bool:
    """Tell whether the client's contract leaves this file out on purpose."""
    return any(fnmatch(path.name, pattern) for pattern in ignores)
