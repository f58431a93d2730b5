"""What the lake holds, and the state of its tables and indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pond.diagnostics.failures import Failure
from pond.operations.failing import RequestError
from pond.operations.service import Service

if TYPE_CHECKING:
    from pond.substrate.upkeep import TableHealth
    from pond.types import Activity, IndexStats, SearchFilters, StatsRequest, StatsResponse, TableStats


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
    if request.get("activity", False):
        response["activity"] = activity(service, request)
    return response


def activity(service: Service, request: StatsRequest) -> Activity:
    """Return the activity in numbers, for the messages that pass the filters of a request."""
    from pond.search.filters import filter_of
    from pond.search.wire import conditions_of
    from pond.stats.activity import activity as counted

    filters: SearchFilters = request.get("filters") or {}
    _check(filters)
    store = service.reading(request.get("namespace"))
    where = filter_of(store, conditions_of({"subagents": "include", **filters})) if filters else None
    return cast("Activity", counted(store, where, service.settings.sql))


def _check(filters: SearchFilters) -> None:
    """Raise RequestError for filters that rank: they make no sense here."""
    ranking = {"$.filters.min_score": "min_score" in filters}
    ranking["$.filters.exclude.phrases"] = "phrases" in filters.get("exclude", {})
    for path in (path for path, given in ranking.items() if given):
        raise RequestError(Failure.VALIDATION_FAILED, "wrong-value", f"`{path}` has no meaning for stats", path=path)


def _table(name: str, found: TableHealth) -> TableStats:
    indexes: list[IndexStats] = [{"name": index.name, "unindexed": index.unindexed} for index in found.indexes]
    return {
        "name": name, "rows": found.rows, "bytes": found.bytes, "fragments": found.fragments,
        "versions": found.versions, "indexes": indexes,
    }  # fmt: skip
