"""Where tables are: the one place that turns a lake, a namespace and a table's name into an address."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_")
_TENANT = "tenant="
_REMOTE = re.compile(r"^[a-z][a-z0-9+.-]*://")


@dataclass(frozen=True)
class Catalog:
    """A lake: its root (a directory or an object-store URI), how to reach it, and which tenant's part of it."""

    root: str
    options: Mapping[str, str] = field(default_factory=dict)
    namespace: str | None = None

    @property
    def is_local(self) -> bool:
        return not _REMOTE.match(self.root) or self.root.startswith("file://")

    @property
    def tables_root(self) -> str:
        """The root of this namespace's tables (lance-chokepoints-catalog)."""
        root = self.root.removeprefix("file://") if self.is_local else self.root.rstrip("/")
        root = str(Path(os.path.expanduser(root)).absolute()) if self.is_local else root
        return root if self.namespace is None else f"{root}/{prefix(self.namespace)}"

    def location(self, table: str) -> str:
        """Return the address of a table; no other code makes one."""
        return f"{self.tables_root}/{table}.lance"


def prefix(namespace: str) -> str:
    """Return the folder of a tenant: any name in, one safe and unique path segment out."""
    # Upper case is escaped too: some file systems do not distinguish it from lower case. So is the dot: `..` is a name.
    return _TENANT + "".join(
        chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in namespace.encode("utf-8", "surrogatepass")
    )


def tenant_of(folder: str) -> str | None:
    """Return the tenant of a folder; None if it is not one, or one with an escaped name."""
    name = folder.removeprefix(_TENANT)
    return name if name != folder and prefix(name) == folder else None
