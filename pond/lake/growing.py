"""A story: session files that grow in a scratch directory, beside their neighbours. The seed decides every cut.

At each step a file holds a beginning of the whole, cut after a line or inside one; the last step has all of it.
"""

from __future__ import annotations

import mmap
import os
import random
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pond.codec.paths import beside
from pond.codec.registry import adapter, clients

_LATE = 0.25  # share of the files that do not exist yet at a step
_INSIDE = 0.5  # share of the cuts that are inside a line
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Growing:
    """A session file, its place in the story, and its size at each step; with size zero it does not exist yet."""

    source: Path
    copy: Path
    sizes: tuple[int, ...]

    def write(self, step: int) -> None:
        """Grow the file to its size at a step."""
        if not self.sizes[step]:
            return
        if not self.copy.exists():
            self.copy.parent.mkdir(parents=True, exist_ok=True)
            _copy_beside(self.source, self.copy)
            _copy_lists(self.source, self.copy)
        with open(self.source, "rb") as source, open(self.copy, "ab") as out:
            source.seek(out.tell())
            while (missing := self.sizes[step] - out.tell()) > 0 and (data := source.read(min(missing, _CHUNK))):
                out.write(data)


def story(files: Iterable[Path], scratch: Path, steps: int, seed: int) -> list[Growing]:
    """Return how files grow in `scratch`: each at its full path, which shows its client."""
    chance = random.Random(seed)
    return [Growing(file, _copy_of(file, scratch), tuple(_sizes(file, steps, chance))) for file in files]


def _copy_of(file: Path, scratch: Path) -> Path:
    return scratch.joinpath(*file.absolute().parts[1:])


def _sizes(file: Path, steps: int, chance: random.Random) -> Iterator[int]:
    """Yield the sizes of a file at each step, each at least as large as the one before."""
    whole = os.stat(file).st_size
    size = 0
    for share in sorted(chance.random() for _ in range(steps - 1)):
        if size or chance.random() >= _LATE:
            cut = int(whole * share)
            size = max(size, cut if chance.random() < _INSIDE else _line_end(file, cut))
        yield size
    yield whole


def _line_end(file: Path, offset: int) -> int:
    """Return where the line that contains an offset ends."""
    with open(file, "rb") as opened:
        if not offset:
            return 0
        with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as text:
            return text.find(b"\n", offset) + 1 or len(text)


def _copy_beside(source: Path, copy: Path) -> None:
    for client in clients():
        for name, file in beside(source, adapter(client).module.BESIDE):
            target = copy.parent / name.replace("{stem}", copy.stem)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


def _copy_lists(source: Path, copy: Path) -> None:
    """Copy the lists that clients keep of their sessions, from the folders above the file."""
    for name in {adapter(client).list_name for client in clients()} - {""}:
        for here, there in zip(source.absolute().parents, copy.parents, strict=False):
            if (here / name).is_file() and not (there / name).exists():
                shutil.copyfile(here / name, there / name)
