"""Sessions of a lake into an archive: the tables at one moment, without indexes and history."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pond.codec.output import ELSEWHERE, NewFile
from pond.diagnostics.diagnostic import Diagnostic, PondError, SourceFault, UsageError
from pond.diagnostics.span import Span
from pond.lake import find, stops
from pond.sessions import integrity, ledger, vectors
from pond.sessions.archive import container
from pond.sessions.archive.manifest import TABLES, Extent
from pond.sessions.archive.rows import content_bytes
from pond.sessions.archive.select import Selection, selected
from pond.sessions.tables import PARTS
from pond.substrate import predicate
from pond.substrate.retry import with_retries
from pond.substrate.snapshot import Snapshot
from pond.substrate.store import Store, write_apart

Progress = Callable[[int, int], None]  # bytes done, and the total

_FEW = 500  # so many sessions an index finds faster than a scan


@dataclass(frozen=True)
class Exported:
    """What an archive holds now."""

    sessions: int
    messages: int
    parts: int
    bytes: int


@dataclass
class _Copy:
    """The rows of the chosen sessions, counted as they pass."""

    snapshot: Snapshot
    chosen: pa.Array
    passed: Callable[[int], None]  # called with the finished bytes of the table
    rows: int = 0
    bytes: int = 0
    fault: PondError | None = None  # why it stopped; passing through Lance would lose the type

    @property
    def _where(self) -> str | None:
        few = 0 < len(self.chosen) <= _FEW
        return predicate.one_of(self._key, self.chosen.to_pylist()) if few else None

    @property
    def _key(self) -> str:
        return self.snapshot.table.keys[0]

    def batches(self, came: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """Yield the rows until there are no more, or a signal asks to stop."""
        try:
            yield from self._batches(came)
        except PondError as fault:
            self.fault = fault
            raise

    def _batches(self, came: Sequence[int]) -> Iterator[pa.RecordBatch]:
        self.rows = self.bytes = seen = 0
        for batch in self.snapshot.described(self._where):
            if came:
                raise InterruptedError
            seen += batch.num_rows
            self.passed(self.snapshot.size * seen // len(self.snapshot))
            kept = batch.filter(pc.is_in(batch[self._key], value_set=self.chosen))
            self.rows += kept.num_rows
            self.bytes += content_bytes(self.snapshot.table, kept)
            for portion in self.snapshot.whole(kept):
                if self.snapshot.table is PARTS:
                    integrity.check(portion)
                yield portion


def export(store: Store, path: Path, selection: Selection, progress: Progress = lambda done, of: None) -> Exported:
    """Write the sessions selected to a new archive; whatever is written meanwhile, it is one state of the lake."""
    if path.exists() or path.is_symlink():  # said before the work; a file that comes meanwhile stays as well
        what = "the file already exists; nothing was overwritten"
        raise SourceFault(Diagnostic("output-exists", what, Span(str(path), 0), help=ELSEWHERE))
    ids = tuple(find.session(store, text) for text in selection.sessions)
    selection = replace(selection, sessions=ids)
    # A session is stored last, so reading sessions first finds all their messages and all their parts.
    snapshots = [Snapshot(store, vectors.with_vectors(store, table)) for table in TABLES]
    # One that is being erased is noted before its rows go.
    chosen = selected(snapshots[0], selection, ledger.notes(store, ledger.ERASED))
    if not chosen and not selection.is_everything:
        raise UsageError(Diagnostic("lake-not-found", "no session matches"))
    with NewFile(path) as out, _folder_beside(path) as folder:
        extents = _copied(snapshots, pa.array(sorted(chosen), pa.string()), folder, progress)
        container.pack(folder, extents, out)
        size = out.tell()
    sessions, messages, parts = (extents[table.name].rows for table in TABLES)
    return Exported(sessions, messages, parts, size)


@contextmanager
def _folder_beside(path: Path) -> Iterator[Path]:
    """Give a private folder for the tables, on the disk of the archive; it is always removed at the end."""
    made: str | None = None
    try:
        with stops.held():
            made = tempfile.mkdtemp(prefix=".pond-export-", dir=path.parent)
        yield Path(made)
    finally:
        if made is not None:
            with stops.held():
                shutil.rmtree(made, ignore_errors=True)


def _copied(snapshots: list[Snapshot], chosen: pa.Array, folder: Path, progress: Progress) -> dict[str, Extent]:
    extents: dict[str, Extent] = {}
    total, before = sum(snapshot.size for snapshot in snapshots), 0
    for snapshot in snapshots:
        table, copy = snapshot.table, _Copy(snapshot, chosen, partial(_tell, progress, total, before))
        path = folder / f"{table.name}.lance"
        with_retries(f"copying `{table.name}`", partial(_write, path, copy))
        extents[table.name] = Extent(table.version, copy.rows, copy.bytes)
        before += snapshot.size
    return extents


def _tell(progress: Progress, total: int, before: int, size: int) -> None:
    progress(before + size, total)


def _write(path: Path, copy: _Copy) -> None:
    shutil.rmtree(path, ignore_errors=True)  # left by an earlier attempt
    # Lance's threads ask for rows: if the source just stopped, the write would continue into a folder that is removed.
    with stops.held() as came:
        try:
            write_apart(str(path), copy.snapshot.table, copy.batches(came))
        except Exception:
            if copy.fault is None:
                raise
            raise copy.fault from None
