"""Projects as people name them: a directory and everything below it, its name, or a pattern.

Projects are paths of the machine that recorded them: both kinds of separators count as one here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from typing import TYPE_CHECKING

from pond.sessions.stored_text import from_stored

if TYPE_CHECKING:  # callers that use a lake load Lance
    from pond.substrate.store import Store

_HERE = (".", "..", "~")
_FROM_HERE = ("./", "../", "~/")


def place(project: str) -> str:
    """Return a project as sessions name it: a directory relative to here or to home, as its full path."""
    return os.path.abspath(os.path.expanduser(project)) if project.startswith((".", "~")) else project


def from_here(wanted: str) -> str:
    """Return a project with what it means in this directory, and for this user, written out."""
    given = _slashed(wanted)
    return place(given) if given in _HERE or given.startswith(_FROM_HERE) else wanted


def lies_in(project: str, place: str) -> bool:
    """Return whether a project is a directory or below it."""
    project, place = _slashed(project), _slashed(place).rstrip("/")
    return project == place or project.startswith(f"{place}/")


def known(store: Store) -> list[str]:
    """Return the projects of all sessions, each once."""
    from pond.sessions.tables import SESSIONS
    from pond.substrate import read

    column = read.rows(store, SESSIONS, ["project"])["project"].unique()
    return [from_stored(project) for project in column.to_pylist() if project is not None]


def fitting(projects: Iterable[str], wanted: str) -> list[str]:
    """Return the projects that are meant, ignoring case."""
    fits = _test(wanted)
    return [project for project in projects if fits(_slashed(project).lower())]


def _test(wanted: str) -> Callable[[str], bool]:
    """Return what tells whether a project is meant, in lower case and with slashes."""
    name = _slashed(from_here(wanted)).lower()
    if _is_wildcard(name):
        like = re.compile(translate(name.replace("[", "[[]")))
        return lambda project: like.match(project) is not None
    if "/" in name:
        return lambda project: lies_in(project, name)
    return lambda project: name in (project, project.rpartition("/")[2])


def _is_wildcard(name: str) -> bool:
    return "*" in name or "?" in name


def _slashed(path: str) -> str:
    return path.replace("\\", "/")
