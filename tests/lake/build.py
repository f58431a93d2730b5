"""Lakes to test on, filled without the ingest under test: sessions read whole and stored at once."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from pond.codec.finding import find_files
from pond.codec.openfile import OpenFile
from pond.codec.opening import open_input
from pond.codec.report import Report
from pond.codec.request import ConversionRequest
from pond.model.json_text import JsonObject
from pond.sessions.rows import Rows, session_row
from pond.sessions.writing import prepare, write_rows, write_sessions
from pond.substrate.catalog import Catalog
from pond.substrate.store import Store
from tests.house.tree import ROOT

INGESTED_AT = 1_800_000_000_000_000
TOURS = [ROOT / "adapters" / client / "fixtures" / "tour" for client in ("claude_code", "codex")]
SUBAGENTS = [ROOT / "adapters" / client / "fixtures" / "subagents" for client in ("claude_code", "codex")]


Groups = list[list[JsonObject]]


def lake(place: Path, *folders: Path) -> Store:
    """Return a lake at `place` that holds every session below the folders, each table in few pieces.

    The lake keeps the first row of a key: what two files hold of one session is written one after the other.
    """
    store = Store(Catalog(str(place)))
    prepare(store)
    waiting: dict[str, tuple[JsonObject, Groups]] = {}
    for row, groups in _sessions_below(folders):
        if row["id"] in waiting:
            store_sessions(store, list(waiting.values()))
            waiting = {}
        waiting[row["id"]] = row, groups
    store_sessions(store, list(waiting.values()))
    return store


def in_pieces(place: Path, *folders: Path) -> Store:
    """Return a lake as years of use leave it: each session a piece of each table."""
    store = Store(Catalog(str(place)))
    prepare(store)
    for row, groups in _sessions_below(folders):
        store_session(store, row, groups)
    return store


def _sessions_below(folders: Sequence[Path]) -> Iterator[tuple[JsonObject, Groups]]:
    for folder in folders:
        for path in find_files(folder, Report()):
            with open(path, "rb") as file:
                opened = OpenFile(file, str(path), path)
                for session in open_input(opened, ConversionRequest("canonical"), Report()).sessions:
                    yield session.row, list(session.groups)


def tables(rows: Rows) -> tuple[pa.Table, pa.Table]:
    """Return the messages and the parts that were taken."""
    messages, parts = rows.flush()
    return pa.Table.from_batches([messages]), pa.Table.from_batches([parts])


def store_session(store: Store, session: JsonObject, groups: Groups) -> None:
    """Store one session, its messages first."""
    store_sessions(store, [(session, groups)])


def store_sessions(store: Store, sessions: Sequence[tuple[JsonObject, Groups]]) -> None:
    """Store sessions of different ids, each table at once, their messages first."""
    if not sessions:
        return
    made = [_taken(session, groups) for session, groups in sessions]
    messages, parts = (pa.concat_tables(tables) for tables in zip(*made, strict=True))
    write_rows(store, messages, parts)
    write_sessions(store, [session_row(session, INGESTED_AT) for session, _ in sessions])


def _taken(session: JsonObject, groups: Groups) -> tuple[pa.Table, pa.Table]:
    rows = Rows(session)
    for group in groups:
        rows.take(group)
    return tables(rows)
