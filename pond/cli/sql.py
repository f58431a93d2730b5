"""`pond sql`: one read-only query over the lake's tables."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, cast

import typer

from pond.cli import manners
from pond.cli.columns import room, table, within
from pond.cli.config import Lake
from pond.cli.show import print_json, refuse, refuse_query
from pond.cli.terminal import json_out, say, warn
from pond.config.load import load
from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.diagnostics.nearest import unknown
from pond.diagnostics.visible import in_line, visible
from pond.model.json_text import JsonObject, encode
from pond.operations.envelope import PROTOCOL
from pond.operations.service import Service
from pond.operations.sql import LIMIT, MOST, Result, sql

if TYPE_CHECKING:  # shapes only
    from pond.types import SqlRequest

SHOWN, EXPORTED = ("table", "json"), ("csv", "ndjson", "parquet")


def run(
    query: Annotated[
        str | None,
        typer.Argument(metavar="[QUERY]", help="A SELECT or WITH query, or - to read it from standard input."),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output", metavar="FORMAT", help="Print a table or json; or all rows as csv, ndjson or parquet."
        ),
    ] = "table",
    file: Annotated[
        str | None, typer.Option("-o", "--file", metavar="FILE", help="Write to this file, which must not exist.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", help=f"At most this many rows; {LIMIT} for table and json if not given."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --output json.")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print tables, columns, joins and examples.")] = False,
    lake: Lake = None,
) -> int:
    if schema:
        from pond.sql.schema import described

        say(described(), end="")
        return 0
    output = "json" if json else output
    manners.current.json = output == "json"
    if query is None:
        raise UsageError(Diagnostic("usage", "expected a query", help="`pond sql --schema` has examples"))
    if output not in SHOWN + EXPORTED:
        raise unknown("format", output, SHOWN + EXPORTED)
    text = sys.stdin.read() if query == "-" else query
    service = Service(load({"lake": lake}))
    try:
        with _out(file, output) as out:
            return (
                _shown(service, text, output, limit, out)
                if output in SHOWN
                else _all(service, text, output, limit, out)
            )
    except UsageError as error:
        return refuse(error) if error.diagnostics[0].code == "usage" else refuse_query(error, text)
    finally:
        service.close()


@contextmanager
def _out(file: str | None, output: str) -> Iterator[BinaryIO | None]:
    """Give the new file to write to; None stands for standard output."""
    if file is None:
        if output == "parquet" and sys.stdout.isatty():
            raise UsageError(Diagnostic("usage", "parquet cannot be printed on a terminal", help="name a file with -o"))
        yield None
        return
    from pond.codec.output import NewFile

    with NewFile(Path(file)) as out:
        yield out


def _shown(service: Service, text: str, output: str, limit: int | None, out: BinaryIO | None) -> int:
    request: SqlRequest = {"protocol_version": PROTOCOL, "query": text, "limit": _rows(limit)}
    response = cast(JsonObject, sql(service, request))
    if output == "json":
        if out is None:
            print_json(response, sys.stdout)
        else:
            out.write(encode(response) + b"\n")
        return 0
    put: Callable[[str], object] = say if out is None else lambda line: out.write(visible(line).encode() + b"\n")
    for line in _lines(response, None if out else room()):
        put(line)
    if response["more"]:
        warn(f"pond: these are the first {len(response['rows'])} rows; {in_line(response['hint'])}")
    return 0


def _rows(limit: int | None) -> int:
    if limit is not None and not 1 <= limit <= MOST:
        raise UsageError(
            Diagnostic(
                "usage", f"expected a limit of 1 to {MOST}, found {limit}", help="csv, ndjson and parquet have all rows"
            )
        )
    return LIMIT if limit is None else limit


def _lines(response: JsonObject, columns: int | None) -> Iterator[str]:
    names = [column["name"] for column in response["columns"]]
    if names == ["plan"]:
        for row in response["rows"]:
            yield from str(row["plan"]).splitlines()
        return
    rows = [[_cell(row[name]) for name in names] for row in response["rows"]]
    right = [all(isinstance(row[name], int | float | None) for row in response["rows"]) for name in names]
    yield from within(table([in_line(name) for name in names], rows, right, columns), columns)
    yield f"{len(rows)} row{'' if len(rows) == 1 else 's'}"


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case str():
            return in_line(value)
        case bool() | list() | dict():
            return in_line(encode(value).decode("utf-8"))
        case _:
            return str(value)


def _all(service: Service, text: str, output: str, limit: int | None, out: BinaryIO | None) -> int:
    from pond.operations.sql_formats import WRITERS

    result = Result(service, text, rows=limit)
    onward = json_out() if output == "ndjson" else sys.stdout.buffer
    WRITERS[output](result, onward if out is None else out)
    return 0
