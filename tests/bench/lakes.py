"""Lakes to measure on: the invented corpus in parts, each part ingested by `pond ingest` as a person would."""

import json
import os
import random
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path

from pond.config.settings import Settings
from pond.operations.service import Service
from pond.operations.sync import UPDATE_INDEXES, SyncRequest, sync
from pond.sessions.tables import TABLES
from pond.substrate import upkeep
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from tests.bench.corpus import CLIENTS, SEED, store, tiny_store
from tests.bench.watch import POND, Taken, watched


@dataclass(frozen=True)
class Scale:
    """How much to measure on, in MB."""

    corpus: float
    slice: float  # goes into lakes that hold something already
    small: float  # the lake whose cost per row is compared
    million: float  # the lake that it is compared with
    few: float  # the lake from which one session is read for comparison
    grown: float  # the long file that ten records are added to
    long: float  # the one file whose ingest is watched
    files: int  # that are looked at again


EVERY_DAY = Scale(corpus=72, slice=12, small=6, million=60, few=6, grown=20, long=60, files=2_000)
FULL = Scale(corpus=2_000, slice=100, small=127, million=1_270, few=19, grown=100, long=1_000, files=10_000)


@dataclass(frozen=True)
class Ingested:
    """One run of `pond ingest`."""

    lake: Path
    taken: Taken
    megabytes: float
    messages: int
    rows: int
    indexing: float = 0.0  # CPU seconds of bringing the indexes up to date


def size_of(place: Path) -> float:
    """Return what the files below a folder, or one file, hold, in MB."""
    files = [place] if place.is_file() else [file for file in place.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files) / 1e6


# POND_* variables hold, so that settings can be compared; a person's own pond.toml does not.
NO_FILE = {"XDG_CONFIG_HOME": "/nonexistent"}


def ingest(source: Path, lake: Path) -> Ingested:
    """Ingest `source`; the lake may already hold something."""
    words = [*POND, "ingest", str(source), "--lake", str(lake), "--json"]
    taken = watched(words, NO_FILE)
    new = json.loads(taken.output)["new"]
    return Ingested(lake, taken, size_of(source), new["messages"], new["messages"] + new["parts"])


def opened(lake: Path) -> Store:
    """Open a lake, as pond itself does."""
    return Store(Catalog(str(lake)))


def synced(source: Path, lake: Path) -> Ingested:
    """Do what `pond sync` does: ingest, then bring the indexes up to date."""
    done = ingest(source, lake)
    start = time.process_time()
    sync(Service(Settings(lake=str(lake))), SyncRequest(only=UPDATE_INDEXES))
    return replace(done, indexing=time.process_time() - start)


def optimize(lake: Path) -> None:
    """Leave each table in few files, all its rows in its indexes, and no older version."""
    tables = opened(lake)
    for table in TABLES:
        upkeep.compact(tables, table)
        upkeep.fold_indexes(tables, table)
        upkeep.clean(tables, table, timedelta(0))


class Lakes:
    """The parts of one corpus and the lakes made of them, each when it is first asked for."""

    def __init__(self, scale: Scale, directory: Path) -> None:
        self.scale, self.directory = scale, directory

    @cached_property
    def _files(self) -> list[tuple[Path, Path]]:
        """Both clients' files in random order, each with the store it is in."""
        found: list[tuple[Path, Path]] = []
        for client in CLIENTS:
            root = store(client, self.scale.corpus / len(CLIENTS))
            found += [(root, file) for file in sorted(root.rglob("*.jsonl"))]
        random.Random(SEED).shuffle(found)
        return found

    def _part(self, name: str, files: Iterable[tuple[Path, Path]]) -> Path:
        """Return a folder with these files; they are links, and take no room."""
        folder = self.directory / name
        if not folder.exists():
            for root, file in files:
                link = folder / root.name / file.relative_to(root)
                link.parent.mkdir(parents=True, exist_ok=True)
                os.link(file, link)
        return folder

    @property
    def slice(self) -> Path:
        """The files that are in none of the lakes."""
        return self._part("slice", _up_to(self._files, self.scale.slice))

    @property
    def large(self) -> Path:
        """All files that are not in the slice."""
        return self._part("large", self._others)

    @property
    def _others(self) -> list[tuple[Path, Path]]:
        return self._files[len(_up_to(self._files, self.scale.slice)) :]

    def part(self, megabytes: float) -> Path:
        """Return a folder with the first files of `large`."""
        return self._part(f"part-{megabytes:g}", _up_to(self._others, megabytes))

    def fresh(self, name: str) -> Path:
        """Return the place for a new lake; one that was there is gone."""
        lake = self.directory / f"lake-{name}"
        shutil.rmtree(lake, ignore_errors=True)
        return lake

    @cached_property
    def large_lake(self) -> Ingested:
        """The lake of everything but the slice."""
        return synced(self.large, self.fresh("large"))

    @cached_property
    def small_lake(self) -> Ingested:
        """The lake whose cost per row is compared with the large one's."""
        return synced(self.part(self.scale.small), self.fresh("small"))

    @cached_property
    def million_lake(self) -> Ingested:
        """The lake that it is compared with."""
        return synced(self.part(self.scale.million), self.fresh("million"))

    @cached_property
    def few_lake(self) -> Ingested:
        """The lake from which one session is read for comparison."""
        return synced(self.part(self.scale.few), self.fresh("few"))

    @property
    def tiny(self) -> Path:
        """A store of very many very short sessions."""
        return tiny_store(self.scale.files)

    @cached_property
    def tiny_lake(self) -> Ingested:
        """The lake of those."""
        return ingest(self.tiny, self.fresh("tiny"))


def _up_to(files: Sequence[tuple[Path, Path]], megabytes: float) -> Sequence[tuple[Path, Path]]:
    size = 0.0
    for count, (_, file) in enumerate(files):
        if size >= megabytes * 1e6:
            return files[:count]
        size += file.stat().st_size
    return files
