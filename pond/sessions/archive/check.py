"""Reads an unpacked archive for the first time, in a separate process.

Lance trusts its files: a few changed bytes are enough to crash the process that reads them, and a few more make it ask
for all memory. Here that only ends a process that holds nothing, and becomes a refusal.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from pond.diagnostics.diagnostic import PondError
from pond.sessions import vectors
from pond.sessions.archive import manifest
from pond.sessions.archive.manifest import TABLES, Extent, Manifest
from pond.sessions.archive.refusal import ArchiveError
from pond.sessions.archive.rows import RowCheck
from pond.substrate.catalog import Catalog
from pond.substrate.signals import Newer
from pond.substrate.snapshot import Snapshot
from pond.substrate.store import Store
from pond.substrate.table import Table

_MEMORY = 4 << 30
_CHILD = "from pond.sessions.archive.check import child; child()"


def check(folder: Path, held: Manifest) -> None:
    """Raise ArchiveError unless the tables in `folder` are what the manifest says and fit for a lake."""
    # The same modules as here, and none from the current directory.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", _CHILD, str(folder)],
        input=held.encoded(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, check=False,
    )  # fmt: skip
    try:
        refusal = json.loads(done.stdout)
    except ValueError:
        raise ArchiveError("archive-schema", "its tables cannot be read: reading them ends the process") from None
    if refusal:
        raise ArchiveError(*refusal)


def child() -> None:
    """Check the archive at a path, with the manifest from standard input; print why it is refused, or []."""
    with suppress(ValueError, OSError):  # if the system has no such limit, the claims of the manifest still apply
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    held = manifest.read(sys.stdin.buffer.read())
    print(json.dumps(_refusal(Path(sys.argv[1]), held)))


def _refusal(folder: Path, held: Manifest) -> tuple[str, str] | tuple[()]:
    try:
        store = Store(Catalog(str(folder)))
        for table in TABLES:
            _own_form(store, table, held.tables[table.name], held.files(table.name))
        RowCheck(store, dict(held.tables)).run()
    except ArchiveError as error:
        return error.code, error.message
    except Newer as error:
        return "archive-newer", str(error)
    except (PondError, OSError, ValueError, RuntimeError) as error:
        return "archive-schema", f"its tables cannot be read: {error}"[:300]
    return ()


def _own_form(store: Store, table: Table, extent: Extent, files: list[str]) -> None:
    """Raise unless a table is one of pond's, in its own files."""
    if extent.version > table.version:
        raise Newer(table.name, str(extent.version), table.version)
    found = Snapshot(store, table)
    if not found.schema.equals(vectors.with_vectors(store, table).schema, check_metadata=True):
        raise ArchiveError("archive-schema", f"table `{table.name}` has other columns than it should")
    if why := found.strays(files):
        raise ArchiveError("archive-schema", f"table `{table.name}`: {why}")
