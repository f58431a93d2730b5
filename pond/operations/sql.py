"""`pond sql`: one read-only query over the lake's tables."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, cast

from pond.model.json_text import JsonObject, decode_stored
from pond.operations.service import Service

if TYPE_CHECKING:
    import pyarrow as pa

    from pond.types import SqlRequest, SqlResponse

LIMIT, MOST = 100, 1000  # rows of a response
_ROOM = 4 << 20  # bytes of a response, about: single values may be megabytes long


def sql(service: Service, request: SqlRequest) -> SqlResponse:
    """Return the first rows of a query, and how to continue."""
    result = begun(service, request)
    rows: list[JsonObject] = []
    for batch in result:
        rows += rows_of(batch)
    return response_of(result, rows)


def begun(service: Service, request: SqlRequest) -> Result:
    """Begin a query and return its rows to come, as many as a response holds."""
    return Result(service, request["query"], request.get("namespace"), request.get("limit", LIMIT), _ROOM)


def rows_of(batch: pa.RecordBatch) -> list[JsonObject]:
    """Return rows as JSON values."""
    from pond.operations.sql_values import plain

    columns = [plain(column) for column in batch.columns]
    return [dict(zip(batch.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]


def response_of(result: Result, rows: list[JsonObject]) -> SqlResponse:
    """Return the rows of a query that have come, and how to continue."""
    response: JsonObject = {
        "columns": [{"name": field.name, "type": str(field.type)} for field in result.schema],
        "rows": rows,
        "more": result.more,
    }
    if result.more:
        response["hint"] = _hint(result.order, rows, result.schema)
    return cast("SqlResponse", response)


class Result:
    """The rows of a query, batch by batch, from the process that runs it."""

    def __init__(
        self, service: Service, query: str, namespace: str | None = None, rows: int | None = None,
        room: int | None = None,
    ) -> None:  # fmt: skip
        self._service = service
        self._request: JsonObject = {"query": query, "namespace": namespace, "rows": rows, "bytes": room}
        self.more = False  # there are more rows than were asked for; known at the end
        self.order: list[tuple[str, bool]] = []
        self._batches = self._run()
        self.schema: pa.Schema = next(self._batches)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._batches

    def close(self) -> None:
        """Read no further; the process that ran the query ends."""
        self._batches.close()

    def _run(self) -> Generator[Any]:
        import pyarrow as pa

        from pond.operations.sql_process import BATCH, SCHEMA

        schema: pa.Schema = None
        with self._service.workers.one() as worker:
            for kind, data in worker.ask(self._request):
                if kind == SCHEMA:
                    schema = pa.ipc.read_schema(pa.py_buffer(data))
                    yield schema
                elif kind == BATCH:
                    yield pa.ipc.read_record_batch(pa.py_buffer(data), schema)
                else:
                    done = decode_stored(data.decode())
                    self.more, self.order = done["more"], [(name, down) for name, down in done["order"]]


def _hint(order: list[tuple[str, bool]], rows: list[JsonObject], schema: pa.Schema) -> str:
    """Return how to get the rows after the last one: by the columns that order the query."""
    there = rows and order and all(name in rows[-1] and rows[-1][name] is not None for name, _ in order)
    if not there or len({down for _, down in order}) > 1:
        return (
            "order by key columns (ORDER BY timestamp, id) and ask again with WHERE (timestamp, id) > (the last "
            "values); an export has all rows"
        )
    names, values = zip(*((name, _literal(rows[-1][name], schema.field(name).type)) for name, _ in order), strict=True)
    sign = "<" if order[0][1] else ">"
    if len(names) == 1:
        return f"for what follows add: WHERE {names[0]} {sign} {values[0]}"
    return f"for what follows add: WHERE ({', '.join(names)}) {sign} ({', '.join(values)})"


def _literal(value: object, type: pa.DataType) -> str:
    if isinstance(value, int | float):
        return str(value)
    kind = "TIMESTAMPTZ " if str(type).startswith("timestamp") else ""
    return kind + "'" + str(value).replace("'", "''") + "'"
