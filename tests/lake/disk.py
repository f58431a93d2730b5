"""A disk that is full, and a directory nobody may write to, for root too."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class NotPossible(Exception):
    """This machine does not let us mount; the message says so."""


@contextmanager
def small(directory: Path, megabytes: int) -> Iterator[Path]:
    """Give a file system of `megabytes` at `directory`, until the end of the block."""
    directory.mkdir()
    with _mounted(["-t", "tmpfs", "-o", f"size={megabytes}m", "pond-test"], directory):
        yield directory


def fill(directory: Path, leave: int = 0) -> Path:
    """Take up all of the disk but `leave` bytes, which are rounded up to its blocks; return the file that does."""
    ballast = directory / "ballast"
    with ballast.open("wb", buffering=0) as out:
        block = bytes(os.statvfs(directory).f_frsize)
        while os.statvfs(directory).f_bavail * len(block) - leave >= len(block):
            out.write(block)
    return ballast


@contextmanager
def read_only(directory: Path) -> Iterator[Path]:
    """Refuse every write below `directory`, until the end of the block."""
    # Permission bits do not hold root back; a file system that is mounted for reading does.
    if os.geteuid() == 0:
        with _mounted(["--bind", str(directory)], directory):
            _mount(["-o", "remount,bind,ro"], directory)
            yield directory
    else:
        with _without_write_bits(directory):
            yield directory


@contextmanager
def _without_write_bits(directory: Path) -> Iterator[None]:
    modes = {path: path.stat().st_mode for path in [directory, *directory.rglob("*")]}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


@contextmanager
def _mounted(words: list[str], directory: Path) -> Iterator[None]:
    _mount(words, directory)
    try:
        yield
    finally:
        # Lazily: a reader that still holds a file open must not keep the mount.
        subprocess.run(["umount", "--lazy", str(directory)], check=True, capture_output=True)


def _mount(words: list[str], directory: Path) -> None:
    if not sys.platform.startswith("linux") or shutil.which("mount") is None:
        raise NotPossible("there is no mount")
    done = subprocess.run(["mount", *words, str(directory)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotPossible(done.stderr.strip())
