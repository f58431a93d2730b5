"""The file itself: a ZIP with uncompressed members, the manifest first.

Nothing in it is compressed a second time, so no member can be larger than the file: a bomb is refused before a byte is
written.
"""

from __future__ import annotations

import os
import re
import stat
import struct
from hashlib import sha256
from pathlib import Path
from typing import IO, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pond.diagnostics.diagnostic import Diagnostic, PondError
from pond.sessions.archive import manifest
from pond.sessions.archive.manifest import Extent, FileEntry, Manifest
from pond.sessions.archive.refusal import ArchiveError, shown

_CHUNK = 1 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)
_MODE = (stat.S_IFREG | 0o644) << 16
_UNIX = 3
_ENCRYPTED = 1
_MOST_AT_ONCE = 16 << 20  # bytes of the list of members, and of the manifest: both are held in memory
_MOST_UNPACKED = 1000  # times the archive's size; text shrinks to a tenth, rarely to a hundredth
_ALWAYS_ALLOWED = 1 << 30
# Files that only a writer of the table needs; reading works without them.
_WRITERS_OWN = re.compile(r"/_transactions/|/_versions/latest_version_hint\.json$")
_MALFORMED = (
    BadZipFile, OSError, EOFError, ValueError, OverflowError, struct.error, RuntimeError, LookupError,
)  # fmt: skip


# --- writing ---------------------------------------------------------------------------------------------------------


def pack(folder: Path, extents: dict[str, Extent], out: BinaryIO) -> None:
    """Write the tables in `folder` as an archive."""
    found = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    paths = {name: path for name, path in found.items() if not _WRITERS_OWN.search(name)}
    members = {name: FileEntry(path.stat().st_size, _hash_of(path)) for name, path in paths.items()}
    made = Manifest(extents, members)
    with ZipFile(out, "w", ZIP_STORED) as archive:
        text = made.encoded()
        with archive.open(_entry(manifest.NAME, len(text)), "w") as target:
            target.write(text)
        for name, member in members.items():
            with open(paths[name], "rb") as source, archive.open(_entry(name, member.size), "w") as target:
                _copy(source, target, member.size)


def _entry(name: str, size: int) -> ZipInfo:
    # No time and no umask: the same tables give the same bytes around them.
    entry = ZipInfo(name, _EPOCH)
    entry.file_size, entry.external_attr, entry.create_system = size, _MODE, _UNIX
    return entry


def _hash_of(path: Path) -> str:
    digest = sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


# --- reading ---------------------------------------------------------------------------------------------------------


def unpack(file: BinaryIO, folder: Path) -> Manifest:
    """Write the members of an archive into an empty, private `folder`, each as its manifest says, or raise."""
    try:
        with ZipFile(_Sparing(file)) as archive:
            return _unpack(archive, os.fstat(file.fileno()).st_size, folder)
    except _MALFORMED as error:
        reason = str(error) if isinstance(error, (BadZipFile, OSError)) else "its list of members is damaged"
        raise ArchiveError("archive-unreadable", f"not a whole archive: {shown(reason).lower()}") from None


def _unpack(archive: ZipFile, size: int, folder: Path) -> Manifest:
    entries = _entries(archive.infolist(), size)
    if manifest.NAME not in entries:
        raise ArchiveError("archive-unreadable", "it has no manifest")
    held = manifest.read(archive.read(entries.pop(manifest.NAME)))
    _believable(held, size)
    for name in sorted(entries.keys() ^ held.members.keys()):
        what = "is not in its manifest" if name in entries else "is missing"
        raise ArchiveError("archive-member", f"`{name}` {what}")
    for name, entry in entries.items():
        _write(archive, entry, held.members[name], folder / name)
    return held


def _entries(found: list[ZipInfo], size: int) -> dict[str, ZipInfo]:
    """Return the members by name; raise for anything that our archives do not have."""
    if len(found) > manifest.MOST_MEMBERS:
        raise ArchiveError("archive-too-large", f"it has more than {manifest.MOST_MEMBERS} members")
    entries: dict[str, ZipInfo] = {}
    for entry in found:
        if why := _odd(entry, entries):
            raise ArchiveError("archive-member", f"`{shown(entry.orig_filename)}` {why}")
        entries[entry.filename] = entry
    if sum(entry.file_size for entry in found) > size:
        raise ArchiveError("archive-too-large", "its members claim more bytes than it has")
    return entries


def _odd(entry: ZipInfo, before: dict[str, ZipInfo]) -> str | None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if entry.filename in before:
        return "stands twice"
    if kind not in (0, stat.S_IFREG) or entry.is_dir():
        return "is not a plain file"
    if entry.orig_filename != manifest.NAME and not manifest.is_member(entry.orig_filename):
        return "is no file of a table"
    if entry.compress_type != ZIP_STORED or entry.compress_size != entry.file_size:
        return "is compressed: a member is stored as it is"
    return "is encrypted" if entry.flag_bits & _ENCRYPTED else None


def _believable(held: Manifest, size: int) -> None:
    """Raise if the tables claim to be so much larger than the archive that they must be a bomb."""
    rows, unpacked = (sum(getattr(e, what) for e in held.tables.values()) for what in ("rows", "bytes"))
    if rows > size or unpacked > max(_ALWAYS_ALLOWED, size * _MOST_UNPACKED):
        what = f"{rows} rows and {unpacked} bytes"
        raise ArchiveError("archive-too-large", f"it claims to unpack to {what}, out of {size} bytes")


def _write(archive: ZipFile, entry: ZipInfo, member: FileEntry, path: Path) -> None:
    if entry.file_size != member.size:
        raise ArchiveError("archive-hash", f"`{entry.filename}` has not the size its manifest says")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as source, open(path, "xb") as target:
            digest = _copy(source, target, member.size)
    except OSError as error:
        what = f"unpacking: {(error.strerror or str(error)).lower()}"
        raise PondError(Diagnostic("output-failed", what, help="`TMPDIR` names a place with more room")) from None
    if digest != member.sha256:
        raise ArchiveError("archive-hash", f"`{entry.filename}` is not what its manifest says")


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> str:
    """Copy no more than `size` bytes; return their hash."""
    digest = sha256()
    while size and (chunk := source.read(min(_CHUNK, size))):
        digest.update(chunk)
        target.write(chunk)
        size -= len(chunk)
    return digest.hexdigest()


class _Sparing:
    """A file that gives only a bounded amount at once: a list of members may claim to be as long as the file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(min(size, _MOST_AT_ONCE + 1) if size >= 0 else _MOST_AT_ONCE + 1)
        if len(data) > _MOST_AT_ONCE:
            raise ArchiveError("archive-too-large", "its list of members or its manifest is too long")
        return data
