"""The files of clients: read, edited as text, and put in place whole, with a copy of what was there before."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pond.config.locations import state_folder
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.registration import jsonc, tables
from pond.registration.clients import Client, Entry

_MARK = "\ufeff"  # some editors put it before everything else


def text_of(file: Path) -> str:
    """Return the text of a file; a missing one has none. Raise UsageError where it cannot be read."""
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise _unfit(file, str(error)) from None


def entry_in(client: Client, text: str) -> Entry | None:
    """Return the entry of pond in a client's file; raise ValueError where the text is not what it should be."""
    value = _parsed(client, text)
    for step in client.path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None


def with_entry(client: Client, file: Path, text: str, entry: Entry | None) -> str:
    """Return a client's file with pond's entry, or without; raise UsageError where that cannot be done in place."""
    mark, body = (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)
    try:
        before = _parsed(client, body)
        edited = _edited(client, body, entry)
        if _pruned(_parsed(client, edited)) != _pruned(_expected(before, client.path, entry)):
            raise ValueError("the entry does not fit between what is there")
    except (ValueError, RecursionError) as error:
        raise _unfit(file, str(error)) from None
    return mark + edited


def _parsed(client: Client, text: str) -> Any:
    if _is_toml(client):
        return tables.parsed(text)
    body = text.removeprefix(_MARK)
    return jsonc.parsed(body) if body.strip() else {}


def _edited(client: Client, text: str, entry: Entry | None) -> str:
    if _is_toml(client):
        return tables.without_table(text, client.path) if entry is None else tables.with_table(text, client.path, entry)
    return jsonc.without_member(text, client.path) if entry is None else jsonc.with_member(text, client.path, entry)


def _expected(before: Any, path: tuple[str, ...], entry: Entry | None) -> Any:
    """Return the values of a file with the entry, or without it, and nothing else changed."""
    if not isinstance(before, dict):
        raise ValueError("the file holds no object")
    name, *rest = path
    if not rest:
        return {key: value for key, value in before.items() if key != name} | ({} if entry is None else {name: entry})
    if name not in before and entry is None:
        return before
    return before | {name: _expected(before.get(name, {}), tuple(rest), entry)}


def _pruned(value: Any) -> Any:
    """Return a value without members that are empty: TOML does not write them down."""
    if not isinstance(value, dict):
        return value
    return {name: each for name, member in value.items() if (each := _pruned(member)) != {}}


def _is_toml(client: Client) -> bool:
    return client.name == "codex"


def _unfit(file: Path, why: str) -> UsageError:
    help = "fix it, or add pond by hand: docs/mcp.md says how"
    return UsageError(Diagnostic("mcp-file", f"cannot edit `{file}`: {why}; it was left as it is", help=help))


# --- putting in place -------------------------------------------------------------------------------------------------


def put(file: Path, before: str, after: str | None) -> None:
    """Put a text in place of another; None removes the file. Raise UsageError where somebody else was faster."""
    target = file.resolve() if file.is_symlink() else file  # a link stays a link
    try:
        if text_of(target) != before:
            raise UsageError(Diagnostic("mcp-file", f"`{file}` has changed meanwhile; run this again"))
        if after is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        handle, name = tempfile.mkstemp(prefix=".pond-", dir=target.parent)
        try:
            with open(handle, "wb") as out:
                out.write(after.encode("utf-8"))
            os.chmod(name, mode)
            os.replace(name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise UsageError(Diagnostic("mcp-file", f"cannot write `{file}`: {error.strerror or error}")) from None


@dataclass(frozen=True, slots=True)
class Record:
    """What pond did to a file: whether it was there, what it held, and a digest of what it held afterwards."""

    file: str
    existed: bool
    backup: str
    after: str

    @staticmethod
    def of(name: str, environ: Mapping[str, str]) -> Record | None:
        """Return the record about a client; None where pond did nothing."""
        try:
            return Record(**json.loads((_folder(environ) / f"{name}.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def original(self) -> str | None:
        """Return what the file held before; None where the copy is gone."""
        try:
            return Path(self.backup).read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            return None


def remember(name: str, file: Path, before: str, after: str, environ: Mapping[str, str]) -> Path:
    """Keep what a file held before pond first changed it, and return where."""
    folder = _folder(environ)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    earlier = Record.of(name, environ)
    if earlier is not None and earlier.after == digest(before) and earlier.file == str(file):
        backup, existed = Path(earlier.backup), earlier.existed
    else:
        backup, existed = folder / f"{name}.{digest(before)[:12]}.backup", file.exists()
        _private(backup, before)
    record = {"file": str(file), "existed": existed, "backup": str(backup), "after": digest(after)}
    _private(folder / f"{name}.json", json.dumps(record))
    return backup


def forget(name: str, environ: Mapping[str, str]) -> None:
    """Remove the record; the copy stays."""
    (_folder(environ) / f"{name}.json").unlink(missing_ok=True)


def digest(text: str) -> str:
    """Return what tells one text from another."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _private(file: Path, text: str) -> None:
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8", newline="") as out:
        out.write(text)


def _folder(environ: Mapping[str, str]) -> Path:
    return state_folder(environ) / "registered"
