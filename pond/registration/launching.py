"""How a client reaches pond: a program that it starts, or an address."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pond.config.locations import NAMED_FILE, config_file
from pond.config.settings import Settings

TOKEN = "POND_TOKEN"
_LAKE, _NAMESPACE = "POND_LAKE", "POND_NAMESPACE"


@dataclass(frozen=True, slots=True)
class Launch:
    """A program with absolute paths and what its environment must hold, since some clients pass on next to nothing; or
    the address of a server, and its token.
    """

    words: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None
    token: str | None = field(default=None, repr=False)


def own(settings: Settings, environ: Mapping[str, str]) -> Launch:
    """Return how to start this pond, with the lake and the configuration that hold here."""
    variables: dict[str, str] = {}
    file = config_file(environ)
    named = NAMED_FILE in environ or "XDG_CONFIG_HOME" in environ
    if file is not None and file.exists() and named:
        variables[NAMED_FILE] = os.path.abspath(file)
    # What the configuration file says is found there; what a variable or an option says, this process alone knows.
    source = settings.sources.get("lake")
    if source in (_LAKE, "--lake") or (source == "default" and "XDG_DATA_HOME" in environ):
        variables[_LAKE] = settings.lake
    if settings.namespace is not None and settings.sources.get("namespace") == _NAMESPACE:
        variables[_NAMESPACE] = settings.namespace
    return Launch((*_program(), "mcp"), variables)


def _program() -> tuple[str, ...]:
    named = Path(sys.argv[0])
    if named.name == "pond" and named.is_file() and os.access(named, os.X_OK):
        return (os.path.abspath(named),)
    beside = Path(sys.executable).parent / "pond"
    if os.access(beside, os.X_OK):
        return (str(beside),)
    if (found := shutil.which("pond")) is not None:
        return (os.path.abspath(found),)
    return sys.executable, "-P", "-m", "pond"  # -P: a folder `pond` where the client works is not taken for it
