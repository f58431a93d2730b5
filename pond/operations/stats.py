"""What the lake holds, and how its tables and indexes stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pond.operations.service import Service

if TYPE_CHECKING:
    from pond.substrate.upkeep import TableHealth
    from pond.types import IndexStats, StatsRequest, StatsResponse, TableStats


def stats(service: Service, request: StatsRequest) -> StatsResponse:
    """Return the counts, the coverage by embeddings, and the state of each table."""
    from pond.intake.deriving import waiting
    from pond.lake.status import coverage, overview
    from pond.sessions.tables import TABLES
    from pond.substrate import upkeep

    store = service.reading(request.get("namespace"))
    found, covered = overview(store), coverage(store)
    response: StatsResponse = {
        "sessions": found.rows["sessions"],
        "messages": found.rows["messages"],
        "parts": found.rows["parts"],
        "clients": found.clients,
        "searchable_messages": covered.texts,
        "embedded_messages": covered.models,
        "tables": [_table(table.name, upkeep.health(store, table)) for table in TABLES],
    }
    if waits := waiting(store):
        response["waiting_messages"] = waits
    if found.last_ingest is not None:
        response["last_ingest"] = found.last_ingest
    return response


def _table(name: str, found: TableHealth) -> TableStats:
    indexes: list[IndexStats] = [{"name": index.name, "unindexed": index.unindexed} for index in found.indexes]
    return {
        "name": name, "rows": found.rows, "bytes": found.bytes, "fragments": found.fragments,
        "versions": found.versions, "indexes": indexes,
    }  # fmt: skip
