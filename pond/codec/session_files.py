"""Which files of a folder hold sessions, by their names: those of each form, and those of each client."""

from __future__ import annotations

import os
from pathlib import Path

from pond.codec import document, lines
from pond.codec.client_store import client_of_store
from pond.codec.paths import captures, ignored, owner_stem
from pond.codec.registry import adapter, clients

_ANY_NAME = "{file}"  # the end of a pattern, before the suffix, for files with any name


class SessionFiles:
    """The names of session files, as the existing clients use them."""

    def __init__(self) -> None:
        modules = [adapter(client).module for client in clients()]
        self._modules = modules
        self._ignores = {name: why for module in modules for name, why in module.IGNORES.items()}
        self._documents = [
            tuple(p for p in module.FILES if document.is_document_name(p) and not document.is_anybodys(p))
            for module in modules
            if module.DOCUMENT
        ]
        self._own = [tuple(p for p in module.FILES if not _is_anybodys(p)) for module in modules]

    def __contains__(self, path: Path) -> bool:
        """Tell whether a file holds a session, or many.

        A file of lines may have any name. Documents are often something else, and a compressed file may be beside the
        same file unpacked: those need a name that a client uses.
        """
        return (
            (lines.is_lines_name(path.name) and not ignored(path, self._ignores))
            or (document.is_document_name(path.name) and _fits(path, self._documents))
            or (_stands_for_itself(path) and _fits(path, self._own))
            or client_of_store(path) is not None
        )

    def missing_owner(self, folder: str) -> str | None:
        """Return the session file to which all files of a folder belong, if it is missing."""
        owners = [
            stem + suffix
            for module in self._modules
            if (stem := owner_stem(folder, module.BESIDE)) is not None
            for suffix in dict.fromkeys(os.path.splitext(pattern)[1] for pattern in module.FILES)
        ]
        return owners[0] if owners and not any(map(os.path.lexists, owners)) else None


def _is_anybodys(pattern: str) -> bool:
    return os.path.splitext(pattern)[0].endswith(_ANY_NAME)


def _stands_for_itself(path: Path) -> bool:
    """Tell whether a file is compressed, and not beside the same file unpacked."""
    unpacked = lines.plain_name(str(path))
    return unpacked != str(path) and not os.path.lexists(unpacked)


def _fits(path: Path, names: list[tuple[str, ...]]) -> bool:
    return any(len(captures(path, patterns)) > 2 for patterns in names)
