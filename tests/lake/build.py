"""Lakes to test on, filled without the ingest under test: each session read whole and stored at once."""

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


def lake(place: Path, *folders: Path) -> Store:
    """Return a lake at `place` that holds every session below the folders."""
    store = Store(Catalog(str(place)))
    prepare(store)
    for folder in folders:
        for path in find_files(folder, Report()):
            with open(path, "rb") as file:
                for session in open_input(
                    OpenFile(file, str(path), path), ConversionRequest("canonical"), Report()
                ).sessions:
                    store_session(store, session.row, list(session.groups))
    return store


def tables(rows: Rows) -> tuple[pa.Table, pa.Table]:
    """Return the messages and the parts that were taken."""
    messages, parts = rows.flush()
    return pa.Table.from_batches([messages]), pa.Table.from_batches([parts])


def store_session(store: Store, session: JsonObject, groups: list[list[JsonObject]]) -> None:
    """Store one session, its messages first."""
    rows = Rows(session)
    for group in groups:
        rows.take(group)
    write_rows(store, *tables(rows))
    write_sessions(store, [session_row(session, INGESTED_AT)])
