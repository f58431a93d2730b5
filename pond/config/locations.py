"""Where the configuration, the lake and the pods are, by the XDG base directories."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pond.config.runtime import runtime_directory
from pond.diagnostics.diagnostic import Diagnostic, UsageError

if TYPE_CHECKING:
    from pond.config.settings import Settings

NAMED_FILE: Final = "POND_CONFIG"
"""The variable that names another configuration file than the usual one."""


_LONGEST_SOCKET: Final = 104  # bytes of a socket file's path that every system accepts


def home(environ: Mapping[str, str]) -> Path | None:
    """Return the home directory, or None if it is unknown."""
    found = Path(environ.get("HOME") or os.path.expanduser("~"))
    return found if found.is_absolute() else None


def config_file(environ: Mapping[str, str]) -> Path | None:
    """Return where pond looks for the configuration; None if there is no home directory."""
    if named := environ.get(NAMED_FILE):
        below = home(environ) if named.startswith("~/") else None
        return below / named[2:] if below else Path(named)
    directory = _base(environ, "XDG_CONFIG_HOME", ".config")
    return directory and directory / "pond" / "pond.toml"


def default_lake(environ: Mapping[str, str]) -> str:
    """Return the default place of the lake."""
    directory = _base(environ, "XDG_DATA_HOME", ".local/share")
    if directory is None:
        raise no_home("lake")
    return str(directory / "pond" / "lake")


def server_socket(settings: Settings, environ: Mapping[str, str]) -> Path | None:
    """Return the socket file of a server with these settings, this user and this version."""
    import xxhash

    from pond._version import __version__

    facts = [__version__, settings.lake, settings.namespace, sorted(settings.storage.items())]
    name = xxhash.xxh3_64_hexdigest(repr([*facts, sorted(settings.namespaces.items())]).encode())
    directory = runtime_directory(environ)
    if directory is None:
        return None
    place = Path(directory) / f"{name}.sock"
    return place if len(os.fsencode(place)) < _LONGEST_SOCKET else None


def state_file(lake: str, environ: Mapping[str, str]) -> Path | None:
    """Return where this machine notes the last sync of a lake; None where there is no home."""
    import xxhash

    directory = _base(environ, "XDG_STATE_HOME", ".local/state")
    return directory and directory / "pond" / f"sync-{xxhash.xxh3_64_hexdigest(lake.encode())}.json"


def state_folder(environ: Mapping[str, str]) -> Path:
    """Return where pond notes what it did to other programs' files."""
    directory = _base(environ, "XDG_STATE_HOME", ".local/state")
    if directory is None:
        raise no_home("notes of what was registered")
    return directory / "pond"


def exports_of(settings: Settings, environ: Mapping[str, str]) -> Path | None:
    """Return where queries of one lake and namespace leave files; None where there is no home to keep a cache in."""
    import xxhash

    base = _base(environ, "XDG_CACHE_HOME", ".cache")
    name = xxhash.xxh3_64_hexdigest(repr([settings.lake, settings.namespace]).encode())
    return base and base / "pond" / "exports" / name


def default_models(environ: Mapping[str, str]) -> str:
    """Return the default place of the models."""
    directory = _base(environ, "XDG_DATA_HOME", ".local/share")
    if directory is None:
        raise no_home("models")
    return str(directory / "pond" / "models")


def default_pods(environ: Mapping[str, str]) -> str:
    """Return the default place of the records of pods."""
    directory = _base(environ, "XDG_DATA_HOME", ".local/share")
    if directory is None:
        raise no_home("pods")
    return str(directory / "pond" / "pods")


def no_home(what: str) -> UsageError:
    """Return the error for something that belongs in a home directory, when no home directory is known."""
    help = "set `HOME`, or name the location: `--lake`, `POND_LAKE`, `POND_PODS_ROOT`, `POND_CONFIG`"
    return UsageError(
        Diagnostic("config-no-home", f"the home directory is unknown; the {what} would be there", help=help)
    )


def _base(environ: Mapping[str, str], variable: str, in_home: str) -> Path | None:
    value = environ.get(variable, "")
    if os.path.isabs(value):  # the XDG specification says to ignore a relative path
        return Path(value)
    found = home(environ)
    return found and found / in_home
