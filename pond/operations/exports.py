"""Files that queries write for their caller: in the cache, for the owner alone, kept for a day, with random names.

A file belongs to the lake and the namespace that it was written from. It is found only from there, and an erase there
removes it, because it may hold what was erased.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from pond.config.locations import exports_of
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.failures import Failure
from pond.operations.failing import RequestError
from pond.operations.service import Service

if TYPE_CHECKING:
    from pond.operations.sql import Result

FORMATS = {"parquet": "application/vnd.apache.parquet", "ndjson": "application/x-ndjson"}  # and their media types
KEPT = 24 * 3600.0  # seconds
_NAME = re.compile(r"[0-9a-f]{32}\.(?:parquet|ndjson)", re.ASCII)


def write(service: Service, result: Result, format: str, namespace: str | None = None) -> Path:
    """Write all rows of a query to a file of a new name, and return it; files that are a day old go."""
    from pond.operations.sql_formats import WRITERS

    folder = _folder(service, namespace)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _clear(folder, KEPT)
    file = folder / f"{uuid.uuid4().hex}.{format}"
    try:
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            WRITERS[format](result, out)
    except BaseException as error:
        file.unlink(missing_ok=True)
        if isinstance(error, OSError):
            what = f"cannot write the export: {error.strerror or error}"
            raise RequestError(Failure.STORAGE_UNAVAILABLE, "unreachable", what) from None
        raise
    return file


def read(service: Service, name: str, namespace: str | None = None) -> bytes:
    """Return an export by the name that it was given; raise RequestError where there is none, or none any more."""
    if _NAME.fullmatch(name):
        folder = _folder(service, namespace)
        _clear(folder, KEPT)
        try:
            with open(os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                return file.read()
        except OSError:
            pass
    what = f"no export `{name}`: exports are kept for 24 hours, and until something is erased"
    raise RequestError(Failure.NOT_FOUND, "no-such-id", what)


def forget(service: Service, namespace: str | None = None) -> None:
    """Remove every export of a namespace."""
    try:
        _clear(_folder(service, namespace), 0.0)
    except UsageError:
        return  # no cache, no exports


def _folder(service: Service, namespace: str | None) -> Path:
    folder = exports_of(service.settings_for(namespace), service.environ)
    if folder is None:
        help = "set `HOME` or `XDG_CACHE_HOME`"
        raise UsageError(Diagnostic("config-no-home", "no home directory is known, so none for exports", help=help))
    return folder


def _clear(folder: Path, age: float) -> None:
    now = time.time()
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        try:
            if now - entry.stat(follow_symlinks=False).st_mtime >= age:
                os.unlink(entry.path)
        except OSError:
            continue  # another process was faster
