"""The numbers of `pond stats`: totals, and the same by client, project, model and month."""

from __future__ import annotations

import os
from typing import Any

import duckdb

from pond.config.settings import Sql
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.model.json_text import JsonObject
from pond.sessions.stored_text import from_micros, from_stored
from pond.sessions.tables import MESSAGES
from pond.sql.engine import Limits, closed, opened
from pond.stats.facts import gather
from pond.stats.usage import TOKENS
from pond.substrate import read
from pond.substrate.store import Store

_MONTH = "strftime(timestamp, '%Y-%m')"
_SUMS = ", ".join(f"sum({name})::BIGINT AS {name}" for name in TOKENS)
_COUNTS = """
SELECT {group} AS name, count(DISTINCT session_id) FILTER (WHERE agent IS NULL AND message) AS sessions,
       count(DISTINCT session_id) FILTER (WHERE agent IS NOT NULL AND message) AS subagent_sessions,
       count(*) FILTER (WHERE message) AS messages, count(*) FILTER (WHERE prompt) AS prompts,
       count(DISTINCT timestamp::DATE) FILTER (WHERE message) AS days,
       epoch_us(min(timestamp) FILTER (WHERE message)) AS first, epoch_us(max(timestamp) FILTER (WHERE message)) AS last
FROM counted GROUP BY name
"""
_CALLS = """
SELECT {group} AS name, count(*) AS tool_calls, count(*) FILTER (WHERE failed) AS failed_calls
FROM calls GROUP BY name
"""
_TOKENS = f"SELECT {{group}} AS name, {_SUMS} FROM used GROUP BY name"
_MODELS = f"""
SELECT coalesce(model, '') AS name, count(*) AS answers, count(DISTINCT session_id) AS sessions, {_SUMS}
FROM used GROUP BY name ORDER BY output DESC, name
"""
_TOOLS = """
SELECT coalesce(tool, '') AS name, count(*) AS calls, count(*) FILTER (WHERE failed) AS failed
FROM calls GROUP BY name ORDER BY calls DESC, name
"""


def activity(store: Store, where: str | None, limits: Sql) -> JsonObject:
    """Return the numbers for the messages that pass a filter; None means all."""
    with closed(Limits(limits.seconds, limits.memory_mb, os.cpu_count() or 1)) as connection:
        for name, table in opened(store).items():
            connection.register(name, table)
        if where is not None:
            connection.register("wanted", read.rows(store, MESSAGES, ["session_id", "id"], where))
        try:
            gather(connection, where is not None)
        except duckdb.OutOfMemoryException:
            message = f"counting needs more than {limits.memory_mb} MB of memory"
            raise UsageError(Diagnostic("sql-limit", message, help="raise sql.memory_mb in pond.toml")) from None
        return _numbers(connection)


def _numbers(connection: duckdb.DuckDBPyConnection) -> JsonObject:
    totals = _grouped(connection, "''")
    return {
        "totals": {name: value for name, value in (totals[0] if totals else _entry("", {})).items() if name != "name"},
        "clients": _most_active(_grouped(connection, "client")),
        "projects": _most_active(_grouped(connection, "project")),
        "months": sorted(_grouped(connection, _MONTH), key=lambda entry: str(entry["name"])),
        "models": [_with_tokens(row) for row in _rows(connection, _MODELS)],
        "tools": _rows(connection, _TOOLS),
    }


def _grouped(connection: duckdb.DuckDBPyConnection, group: str) -> list[JsonObject]:
    """Return an entry for each value of a column; rows without one are only in the totals."""
    found: dict[str, JsonObject] = {}
    for query in (_COUNTS, _CALLS, _TOKENS):
        for row in _rows(connection, query.format(group=group)):
            if row["name"] is not None:
                found.setdefault(row["name"], {}).update(row)
    return [_entry(name, row) for name, row in found.items()]


_NUMBERS = ("sessions", "subagent_sessions", "messages", "prompts", "tool_calls", "failed_calls", "days")


def _entry(name: str, row: JsonObject) -> JsonObject:
    entry: JsonObject = {"name": from_stored(name)} | {number: row.get(number, 0) for number in _NUMBERS}
    entry |= {time: from_micros(row[time]) for time in ("first", "last") if row.get(time) is not None}
    return _with_tokens(entry | {token: row.get(token) for token in TOKENS})


def _with_tokens(row: JsonObject) -> JsonObject:
    return {name: value for name, value in row.items() if name not in TOKENS} | {
        "tokens": {token: row[token] or 0 for token in TOKENS}
    }


def _most_active(entries: list[JsonObject]) -> list[JsonObject]:
    return sorted(entries, key=lambda entry: (-entry["messages"], -entry["tokens"]["output"], entry["name"]))


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = connection.sql(query).to_arrow_table().to_pylist()
    return rows
