"""Session files that were stored in lakes, and what came out of them."""

from dataclasses import dataclass
from pathlib import Path

from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.model.json_text import JsonObject
from pond.restore.restoring import restore
from pond.sessions.writing import prepare
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from tests.lake.build import store_sessions
from tests.laws.corpus import SessionFile
from tests.laws.passage import Passage, read


@dataclass(frozen=True)
class Stored:
    """A session file, its row, and the lake that holds it."""

    file: SessionFile
    row: JsonObject
    store: Store


def stored(files: list[SessionFile], folder: Path) -> list[Stored]:
    """Store every file; return all of them.

    Two files can hold versions of one session, and the lake keeps the first row of a key: each version has a lake of
    its own, as many as are needed.
    """
    lakes: list[dict[str, tuple[SessionFile, Passage]]] = []
    for file in files:
        passage = read(file.path, file.client)
        free = next((held for held in lakes if passage.session["id"] not in held), None)
        if free is None:
            lakes.append(free := {})
        free[passage.session["id"]] = file, passage
    stores = [_lake(folder / f"lake-{number}", held) for number, held in enumerate(lakes)]
    pairs = zip(stores, lakes, strict=True)
    return [Stored(file, passage.session, store) for store, held in pairs for file, passage in held.values()]


def _lake(place: Path, held: dict[str, tuple[SessionFile, Passage]]) -> Store:
    """Return a lake that holds these sessions, each table written at once."""
    store = Store(Catalog(str(place)))
    prepare(store)
    store_sessions(store, [(passage.session, passage.groups) for _, passage in held.values()])
    return store


@dataclass(frozen=True)
class Out:
    """What restoring left in a directory, and what was said about it."""

    folder: Path
    paths: dict[str, Path]  # of each session
    report: Report

    @property
    def files(self) -> dict[str, bytes]:
        return files_below(self.folder)


def restored(store: Store, rows: list[JsonObject], order: ConversionRequest, folder: Path) -> Out:
    """Restore sessions into a directory."""
    report = Report()
    made = list(restore(store, rows, order, folder, report))
    return Out(folder, {one.session_id: one.path for one in made}, report)


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file, by its place in the directory."""
    return {f.relative_to(folder).as_posix(): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}
