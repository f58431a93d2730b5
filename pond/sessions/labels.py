"""What is known about a message besides its words, as labels to filter by: its turn's tools, files and failures.

A turn is a typed prompt and everything up to the next one. A call's own message rarely has searchable text, so each
searched message of a turn has the labels of all its calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pond.model.json_text import Json, JsonObject
from pond.sessions.search_text import indexable

FAILED = "failed"
UNKNOWN = -1  # it cannot be said how many labels the rows that were already sent know
_TOOL, _FILE, _HAS = "tool=", "file=", "has="
# A turn may name thousands of files: those beyond this limit cannot be filtered by, and a session's rows stay small.
_MOST_TOOLS, _MOST_FILES = 64, 256  # labels
_PIECES = 8  # trailing pieces of a path, each a label
_LONGEST = 512  # characters of a path or of a tool's name

# Names of arguments that hold a path, without case and separators: `filePath`, `file_path` and `file-path` are one.
_NAMES_A_PATH = frozenset(
    (
        "path", "paths", "file", "files", "filename", "filenames", "filepath", "filepaths", "notebookpath",
        "absolutepath", "relativepath", "targetfile", "targetpath", "sourcepath", "destinationpath", "oldpath",
        "newpath", "imagepath", "relativeworkspacepath", "uri", "fileuri",
    )
)  # fmt: skip
_JOINTS = str.maketrans("", "", "_-")
_DEEPEST = 3  # levels of arguments that are searched: a list of edits, each with its path
# The files of a patch, also if a script holds it as a quoted text.
_PATCHED = re.compile(r"\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\r\n]+?)(?=\\n(?:@@|\*\*\*|[-+ ])|[\r\n]|$)")
_NO_PATH = re.compile(r"[\x00-\x1f]|^(?!file:)[a-z][a-z0-9+.-]+://", re.I)


def tool_label(name: str) -> str:
    """Return the label of turns that called a tool of this name."""
    return _TOOL + indexable(name.strip())[:_LONGEST].lower()


def file_label(path: str) -> str:
    """Return the label of turns that named this file: by its full path, or by its last pieces."""
    return _FILE + _plain(path)


def has_label(kind: str) -> str:
    """Return the label of messages that hold a file of this kind: `image`, `audio`, `video` or `file`."""
    return _HAS + kind.lower()


def held(parts: Iterable[JsonObject]) -> list[str]:
    """Return the labels of what a message itself holds."""
    found: dict[str, None] = {}
    for part in parts:
        if part["type"] == "file":
            kind = part["media_type"].partition("/")[0].lower()
            if kind in ("image", "audio", "video"):
                found[has_label(kind)] = None
            found[has_label("file")] = None
    return list(found)


class Turn:
    """The labels of one turn, in the order in which they came."""

    __slots__ = ("_files", "_tools", "known", "labels")

    def __init__(self, labels: Iterable[str] = (), known: int | None = None) -> None:
        self.labels: dict[str, None] = dict.fromkeys(label for label in labels if not label.startswith(_HAS))
        self._tools = sum(label.startswith(_TOOL) for label in self.labels)
        self._files = sum(label.startswith(_FILE) for label in self.labels)
        self.known = known  # how many of them the rows know that were already sent; None if there are none

    def hear(self, part: JsonObject) -> None:
        """Add the labels of a part of one of its messages."""
        kind = part["type"]
        if kind == "tool_call":
            self._called(part)
        elif kind == "tool_result" and part.get("is_failure") is True:
            self.labels[FAILED] = None

    def _called(self, call: JsonObject) -> None:
        label = tool_label(call["name"])
        if label not in self.labels and self._tools < _MOST_TOOLS:
            self.labels[label] = None
            self._tools += 1
        if self._files < _MOST_FILES:
            for path in paths(call["params"]):
                self._named(path)

    def _named(self, path: str) -> None:
        if _FILE + path in self.labels:
            return
        for piece in _pieces(path):
            label = _FILE + piece
            if self._files >= _MOST_FILES:
                return
            if label not in self.labels:
                self.labels[label] = None
                self._files += 1


def paths(params: Json) -> Iterator[str]:
    """Yield the paths in the arguments of a call, as labels spell them."""
    for text in _path_texts(params, "", _DEEPEST):
        if 0 < len(text) <= _LONGEST and _NO_PATH.search(text) is None and (plain := _plain(text)):
            yield plain


def _path_texts(value: Json, name: str, deep: int) -> Iterator[str]:
    kind = type(value)
    if kind is str:
        if name.translate(_JOINTS).lower() in _NAMES_A_PATH:
            yield value
        elif "*** " in value:
            yield from _PATCHED.findall(value)
    elif kind is dict and deep:
        for key, inner in value.items():
            yield from _path_texts(inner, key, deep - 1)
    elif kind is list and deep:
        for inner in value:
            yield from _path_texts(inner, name, deep - 1)


def _plain(path: str) -> str:
    """Return a path with one spelling for all systems."""
    path = indexable(path.strip()).replace("\\", "/").lower().removeprefix("file://")
    return path.removeprefix("./").rstrip("/")


def _pieces(path: str) -> Iterator[str]:
    """Yield the name at the end of a path, then with its folder, and so on, and the full path."""
    end = len(path)
    for _ in range(_PIECES):
        end = path.rfind("/", 0, end)
        if end < 0:
            break
        yield path[end + 1 :]
    yield path
