"""Files of a model from the hub that fastembed's list names; continues an interrupted fetch."""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pond.embed.faults import Broken, Unreachable
from pond.embed.folder import hash_of

_HUB = "https://huggingface.co"
_OTHER_HUB = "HF_ENDPOINT"  # the variable that names a mirror, to this library as to others
_BESIDE = (
    "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "preprocessor_config.json",
)  # fmt: skip
_PART = ".part"
_CHUNK = 1 << 18
_PATIENCE = 30.0  # seconds without a byte
_ATTEMPTS = 3  # at one file, in a row, that bring nothing
_HELP = "run the command again when there is a network; it continues where it stopped"


@dataclass(frozen=True, slots=True)
class _File:
    """A file as the hub describes it."""

    name: str
    address: str
    size: int
    sha256: str | None  # known of large files


def download(repository: str, files: Sequence[str], folder: Path, progress: Callable[[int, int], None]) -> None:
    """Fetch the files into a folder, or raise; what is whole already is not fetched again."""
    wanted = _wanted(repository, files, os.environ)
    total, before = sum(each.size for each in wanted), 0
    for each in wanted:
        _fetch(each, folder, lambda done, before=before: progress(before + done, total))  # type: ignore[misc]
        before += each.size


def _wanted(repository: str, files: Sequence[str], environ: Mapping[str, str]) -> list[_File]:
    hub = (environ.get(_OTHER_HUB) or _HUB).rstrip("/")
    try:
        with urllib.request.urlopen(f"{hub}/api/models/{repository}?blobs=true", timeout=_PATIENCE) as answer:
            about = json.load(answer)
        found = [_file(hub, repository, about["sha"], each) for each in about["siblings"]]
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as error:
        raise _away(repository, error) from error
    found = [each for each in found if each.name in files or each.name in _BESIDE]
    if missing := set(files) - {each.name for each in found}:
        raise Broken(repository, f"the hub has no file `{min(missing)}`", help="another version of pond may know it")
    return found


def _file(hub: str, repository: str, revision: str, about: dict[str, Any]) -> _File:
    name = str(about["rfilename"])
    address = f"{hub}/{repository}/resolve/{revision}/{urllib.parse.quote(name)}"
    return _File(name, address, int(about["size"]), (about.get("lfs") or {}).get("sha256"))


def _fetch(file: _File, folder: Path, progress: Callable[[int], None]) -> None:
    whole = folder / file.name
    if whole.is_file() and whole.stat().st_size == file.size:
        return
    part = whole.with_name(whole.name + _PART)
    part.parent.mkdir(parents=True, exist_ok=True)
    part.touch()
    failures = 0
    while (before := part.stat().st_size) < file.size:
        try:
            _go_on(file, part, progress)
        except (OSError, http.client.HTTPException) as error:
            failures = 0 if part.stat().st_size > before else failures + 1
            if failures == _ATTEMPTS or isinstance(error, urllib.error.HTTPError):
                raise _away(file.address, error) from error
    if part.stat().st_size != file.size or (file.sha256 and hash_of(part) != file.sha256):
        part.unlink()
        raise Broken(file.name, "the download does not match what the hub announced", help="run the command again")
    part.rename(whole)


def _go_on(file: _File, part: Path, progress: Callable[[int], None]) -> None:
    """Fetch what is missing of a file."""
    start = part.stat().st_size
    request = urllib.request.Request(file.address, headers={"Range": f"bytes={start}-"} if start else {})
    with urllib.request.urlopen(request, timeout=_PATIENCE) as answer, open(part, "ab") as out:
        if answer.status != http.client.PARTIAL_CONTENT:  # it begins again
            out.truncate(0)
        while chunk := answer.read(_CHUNK):
            out.write(chunk)
            progress(out.tell())
    if part.stat().st_size == start:
        raise http.client.IncompleteRead(b"")


def _away(what: str, error: Exception) -> Unreachable:
    cause = error.reason if isinstance(error, urllib.error.URLError) and not hasattr(error, "code") else error
    reason = (getattr(cause, "strerror", None) or str(cause).split("\n")[0] or type(cause).__name__)[:200]
    return Unreachable(f"fetching `{what}`", reason[:1].lower() + reason[1:], _HELP)
