"""The rows of a query in the formats that other programs read."""

import csv
import io
from collections.abc import Callable
from typing import BinaryIO

from pond.diagnostics.visible import visible
from pond.model.json_text import Json, encode
from pond.operations.sql import Result
from pond.operations.sql_values import plain


def _csv(result: Result, out: BinaryIO) -> None:
    # On a terminal, control characters in a text must have no effect. A file gets the text as it is.
    shown: Callable[[str], str] = visible if out.isatty() else str
    text = io.TextIOWrapper(out, "utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(result.schema.names)
    for batch in result:
        columns = [plain(column) for column in batch.columns]
        writer.writerows([shown(_field(value)) for value in row] for row in zip(*columns, strict=True))
    text.detach()  # closing it would close what it writes to


def _field(value: Json) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case _:
            return encode(value).decode("utf-8")


def _ndjson(result: Result, out: BinaryIO) -> None:
    for batch in result:
        columns = [plain(column) for column in batch.columns]
        for row in zip(*columns, strict=True):
            out.write(encode(dict(zip(result.schema.names, row, strict=True))) + b"\n")


def _parquet(result: Result, out: BinaryIO) -> None:
    from pyarrow.parquet import ParquetWriter

    with ParquetWriter(out, result.schema) as writer:
        for batch in result:
            writer.write_batch(batch)


WRITERS: dict[str, Callable[[Result, BinaryIO], None]] = {"csv": _csv, "ndjson": _ndjson, "parquet": _parquet}
