"""Ingest as tests call it: in this process, into a lake of their own."""

from pathlib import Path

from pond.config.settings import Settings
from pond.intake.ingest import ingest
from pond.intake.request import Request, Summary
from pond.model.json_text import JsonObject
from pond.sessions import load
from pond.sessions.lake import opened
from pond.sessions.tables import TABLES
from pond.substrate import read
from pond.substrate.store import Store


def settings(place: Path) -> Settings:
    return Settings(lake=str(place))


def take_in(place: Path, *inputs: Path, processes: int = 1, dry_run: bool = False) -> Summary:
    """Ingest the inputs into the lake at `place`, reading in this process unless told otherwise."""
    request = Request([(str(path), None) for path in inputs], dry_run=dry_run, processes=processes)
    return ingest(settings(place), request)


def store(place: Path) -> Store:
    return opened(settings(place))


def events(place: Path, session_id: str) -> list[list[JsonObject]]:
    """Return what the lake holds of a session, record by record."""
    return list(load.groups(store(place), session_id))


def contents(place: Path) -> dict[str, list[JsonObject]]:
    """Return every row of every canonical table, in the order of keys, without the time it came in."""
    found = {}
    lake = store(place)
    for table in TABLES[:3]:
        columns = [name for name in table.schema.names if name not in ("ingested_at", "data")]
        rows = read.rows(lake, table, columns).to_pylist()
        found[table.name] = sorted(rows, key=lambda row: [row[name] for name in table.keys])
    return found


def versions(place: Path) -> dict[str, int]:
    """Return the version each table is at: a run that changes nothing leaves them as they are."""
    lake = store(place)
    return {table.name: lake.handle(table).version for table in TABLES}
