"""`pond_sql_query`: rows as a text, or as a file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from pond.model.json_text import JsonObject
from pond.operations import exports
from pond.operations.envelope import PROTOCOL
from pond.operations.service import Service
from pond.operations.sql import LIMIT, Result, begun, response_of, rows_of
from pond.transports.mcp import offered
from pond.transports.mcp.arguments import Arguments
from pond.transports.mcp.asking import Asking
from pond.transports.mcp.transcripts.inert import label
from pond.transports.mcp.transcripts.rows import json_text, table
from pond.transports.mcp.work import Told, Work

if TYPE_CHECKING:
    from pond.types import SqlRequest

_OUTPUTS = ("table", "json", *exports.FORMATS)
_SOON = 18.0  # seconds after which rows that are there are answered with
_CUT_SHORT = "the query takes long, so these are the rows that it had by then; narrow it for all of them"


def work(service: Service, given: Arguments, asking: Asking) -> Work:
    """Return the query that the arguments ask for; without one, what there is to ask."""
    query, output = given.text("query"), given.choice("output", _OUTPUTS) or "table"
    if query is None:
        return Work(lambda: Told(schema(given.notes)))
    if output in exports.FORMATS:
        return Work(lambda: _exported(service, query, output, asking))
    running = _Running(service, query, output, given, asking)
    return Work(running.told, so_far=running.so_far)


def schema(notes: list[str]) -> str:
    """Return tables, columns and examples."""
    from pond.sql.schema import described

    return "\n".join([*notes, described()])


class _Running:
    """A query whose rows come one batch after the other."""

    def __init__(self, service: Service, query: str, output: str, given: Arguments, asking: Asking) -> None:
        self._service, self._output, self._given = service, output, given
        limit, self._bytes = given.number("limit", LIMIT), given.number("max_bytes", offered.SQL_BYTES)
        self._request: SqlRequest = {"protocol_version": PROTOCOL, "query": query, "limit": limit}
        if asking.namespace is not None:
            self._request["namespace"] = asking.namespace
        self._result: Result | None = None
        self._rows: list[JsonObject] = []

    def told(self) -> Told:
        begin = time.monotonic()
        result = self._result = begun(self._service, self._request)
        for batch in result:
            self._rows += rows_of(batch)
            if time.monotonic() - begin > _SOON:
                result.close()
                return self._shown(list(self._rows), cut_short=True)
        return self._shown(self._rows)

    def so_far(self) -> Told | None:
        """Return the rows that have come."""
        rows = list(self._rows)
        return self._shown(rows, cut_short=True) if rows else None

    def _shown(self, rows: list[JsonObject], cut_short: bool = False) -> Told:
        assert self._result is not None
        response = cast(JsonObject, response_of(self._result, rows))
        if cut_short:
            response |= {"more": True, "hint": _CUT_SHORT}
        if self._output == "json":
            return Told(json_text(response, self._bytes))
        return Told(table(response, self._given.notes, self._bytes))


def _exported(service: Service, query: str, output: str, asking: Asking) -> Told:
    result = Result(service, query, asking.namespace)
    file = exports.write(service, result, output, asking.namespace)
    uri, size = offered.EXPORT + file.name, file.stat().st_size
    columns = ", ".join(f"{label(field.name, 80)} ({field.type})" for field in result.schema)
    lines = [
        f"pond_sql_query: all rows are in a file, {size} bytes of {output}, for 24 hours.",
        f"resource: {uri}",
        *([f"file: {file}"] if asking.local else []),
        f"columns: {columns}",
    ]
    return Told("\n".join(lines) + "\n", uri, exports.FORMATS[output], size)
