"""The state of the lake: what is known at once, and what needs a look at its files, its sources and the clients."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow.compute as pc

from pond.codec.drift import Drift
from pond.codec.facts import own_id
from pond.diagnostics.render import as_json
from pond.intake.deriving import waiting
from pond.intake.identity import same_id
from pond.intake.reading import ID_SEPARATOR
from pond.intake.sources import SOURCE
from pond.lake.erase import unfinished
from pond.lake.listing import sessions_of
from pond.lake.retention import Retention, retentions
from pond.model.json_text import JsonObject
from pond.sessions import ledger, load, vectors
from pond.sessions.stored_text import from_micros, from_stored
from pond.sessions.tables import MESSAGES, SESSIONS, TABLES
from pond.substrate import predicate, read, upkeep
from pond.substrate.store import Store
from pond.substrate.upkeep import TableHealth


@dataclass(frozen=True)
class Overview:
    """What a lake holds."""

    location: str
    rows: dict[str, int]  # by table
    clients: dict[str, int]  # sessions of each
    last_ingest: str | None


@dataclass(frozen=True)
class Coverage:
    """How many messages with searchable text have an embedding, by model; and the configured model, if any."""

    texts: int
    models: dict[str, int]
    configured: str | None = None


@dataclass(frozen=True)
class Sources:
    """The files that sessions came from."""

    files: int
    bytes: int
    problems: list[JsonObject]  # current diagnostics: what was refused, and why
    same_ids: list[JsonObject]  # sessions that are stored under another id than their own
    gone: list[str]  # paths of this machine that no longer exist
    only_here: list[str]  # sessions that have no other source


@dataclass(frozen=True)
class Checks:
    """What takes longer to find out."""

    tables: dict[str, TableHealth]
    embeddings: Coverage
    drift: dict[str, int]  # records and fields that no mapping names, with counts
    sources: Sources
    waiting: int  # messages that wait for their search columns
    orphans: int  # messages whose session is not stored: an ingest was interrupted, or is running
    erasing: list[str]  # sessions whose erasing was interrupted
    retention: list[Retention]


def overview(store: Store) -> Overview:
    """Return what is known without a look at the files."""
    rows = {table.name: read.count(store, table) for table in TABLES}
    last = pc.max(read.rows(store, SESSIONS, ["ingested_at"])["ingested_at"].cast("int64")).as_py()
    clients = sorted(sessions_of(store).items())
    return Overview(store.catalog.tables_root, rows, dict(clients), None if last is None else from_micros(last))


def checks(store: Store, environ: Mapping[str, str], model: str | None = None) -> Checks:
    """Return the rest; `model` is the label of the configured one."""
    notes = ledger.notes(store, SOURCE)
    return Checks(
        tables={table.name: upkeep.health(store, table) for table in TABLES},
        embeddings=coverage(store, model),
        drift=_drift(notes),
        sources=_sources(notes, _same_ids(store, notes)),
        waiting=waiting(store),
        orphans=_orphans(store),
        erasing=unfinished(store),
        retention=retentions(environ, time.time(), notes),
    )


def coverage(store: Store, model: str | None = None) -> Coverage:
    """Return how many messages have searchable text, and how many have an embedding by each model."""
    return Coverage(read.count(store, MESSAGES, "search_text IS NOT NULL"), vectors.by_model(store), model)


def _drift(notes: Mapping[str, JsonObject]) -> dict[str, int]:
    total = Drift()
    for note in notes.values():
        total.add(note["drift"])
    return dict(sorted(total.items()))


def _same_ids(store: Store, notes: Mapping[str, JsonObject]) -> list[JsonObject]:
    """Return a diagnostic for each session that is stored under another id than its own."""
    ids = [id for id in read.rows(store, SESSIONS, ["id"])["id"].to_pylist() if ID_SEPARATOR in from_stored(id)]
    rows = load.sessions(store, predicate.one_of("id", ids)) if ids else []
    files: dict[str, str] = {id: note["path"] for note in notes.values() for id in note["sessions"]}
    apart = [(own_id(row), str(row["id"])) for row in rows if own_id(row) != row["id"]]
    return [as_json(same_id(own, id, files.get(id, id))) for own, id in apart]


def _sources(notes: Mapping[str, JsonObject], same_ids: list[JsonObject]) -> Sources:
    gone = [note for note in notes.values() if note["host"] == platform.node() and not os.path.lexists(note["path"])]
    paths = {note["path"] for note in gone}
    there = (note for note in notes.values() if note["host"] != platform.node() or note["path"] not in paths)
    others = {id for note in there for id in note["sessions"]}
    only_here = {id for note in gone for id in note["sessions"]} - others
    told = [problem for note in notes.values() for problem in note["problems"]]
    return Sources(
        files=len(notes),
        bytes=sum(note["size"] for note in notes.values()),
        problems=[problem for problem in told if problem["severity"] == "error"],
        same_ids=same_ids,
        gone=sorted(paths),
        only_here=sorted(only_here),
    )


def _orphans(store: Store) -> int:
    sessions = read.rows(store, SESSIONS, ["id"])["id"].combine_chunks()
    batches = read.batches(store, MESSAGES, ["session_id"])
    return sum(pc.sum(pc.invert(pc.is_in(batch["session_id"], sessions))).as_py() or 0 for batch in batches)
