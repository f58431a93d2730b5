"""What stores are made of: session files of the fixtures and, where POND_SAMPLES names some, of real clients."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import md5
from pathlib import Path
from uuid import UUID

from pond.codec.paths import captures
from pond.codec.placing import CANONICAL_SUFFIX
from pond.codec.registry import adapter
from tests.laws.corpus import SessionFile, fixture_files, sample_files
from tests.laws.passage import canonical_text

_LARGEST = 200_000  # bytes of a file that is taken: many small stores find more than a few large ones
_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Seed:
    """A session file: whose it is, where the client keeps it, and its lines; `native` is what canonical text says."""

    client: str
    place: str
    lines: tuple[bytes, ...]
    native: bytes = b""

    @property
    def is_log(self) -> bool:
        """Tell whether it is a log of lines, not one document."""
        return self.place.endswith(".jsonl")

    def longer(self, times: int) -> list[bytes]:
        """Return the lines, and again with other ids, as if the session had continued in the same way."""
        return [line for time in range(times) for line in self._again(time)]

    def _again(self, time: int) -> Iterator[bytes]:
        name = self.place.encode()  # the session keeps its own id

        def other(id: re.Match[bytes]) -> bytes:
            return id[0] if time == 0 or id[0] in name else _derived(id[0], time)

        return (_ID.sub(other, line) for line in self.lines)


def _derived(id: bytes, time: int) -> bytes:
    return str(UUID(bytes=md5(b"%d %b" % (time, id), usedforsecurity=False).digest())).encode()


@cache
def seeds() -> list[Seed]:
    """List the files to start from, in an order that is the same on every machine."""
    samples = os.environ.get("POND_SAMPLES")
    files = [*fixture_files(), *(sample_files(Path(samples)) if samples else ())]
    small = [file for file in files if file.path.stat().st_size <= _LARGEST]
    return [_seed(file) for file in small]


@cache
def canonical_seeds() -> list[Seed]:
    """List the same sessions as canonical text, under the clients they came from."""
    return [_as_canonical(file) for file in fixture_files() if file.path.suffix == ".jsonl"]


def _as_canonical(file: SessionFile) -> Seed:
    text = canonical_text(file.path, file.client)
    place = f"{file.case}/{file.path.stem}{CANONICAL_SUFFIX}"
    return Seed(file.client, place, tuple(text.splitlines(keepends=True)), file.path.read_bytes())


def _seed(file: SessionFile) -> Seed:
    place = captures(file.path, adapter(file.client).module.FILES)["_tail"]
    return Seed(file.client, place, tuple(file.path.read_bytes().splitlines(keepends=True)))
