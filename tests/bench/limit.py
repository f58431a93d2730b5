"""The limit of ingest: decode the same bytes fast, and append the same rows to tables without keys and indexes.

Run as a program it times both once, in one process, and prints them as JSON.
"""

import json
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import orjson
import pyarrow as pa

from pond.sessions.tables import MESSAGES, PARTS, SESSIONS
from pond.substrate.table import KEY, Table
from tests.bench.watch import watched

_TABLES = (PARTS, MESSAGES, SESSIONS)
_LATER = ("embedding_model",)  # columns that ingest leaves empty, and does not hand over


def bare(table: Table) -> pa.Schema:
    """Return the columns with their encodings, without the key."""
    return pa.schema([_without_key(column) for column in table.columns])


def _without_key(column: pa.Field) -> pa.Field:
    kept = {name: value for name, value in (column.metadata or {}).items() if name != KEY.encode()}
    return column.with_nullable(True).with_metadata(kept)


def keep_rows(lake: Path, rows_per_commit: int, folder: Path) -> None:
    """Write the rows of a lake to Arrow files, one batch to a commit of ingest: none of this is timed."""
    folder.mkdir()
    tables = [(table, lance.dataset(str(lake / f"{table.name}.lance"))) for table in _TABLES]
    commits = -(-sum(stored.count_rows() for table, stored in tables if table is not SESSIONS) // rows_per_commit)
    for table, stored in tables:
        names = [column.name for column in table.columns if column.name not in _LATER]
        columns = pa.schema([bare(table).field(name) for name in names])
        batch_rows = -(-stored.count_rows() // commits)
        with pa.OSFile(str(folder / table.name), "wb") as out, pa.ipc.new_file(out, columns) as writer:
            for start in range(0, stored.count_rows(), batch_rows):
                found = stored.to_table(columns=names, offset=start, limit=batch_rows, blob_handling="all_binary")
                writer.write_table(_with_blobs(found, columns).combine_chunks(), batch_rows)


def _with_blobs(rows: pa.Table, columns: pa.Schema) -> pa.Table:
    """Return the rows as `write_dataset` takes them: payloads come out as bytes, and go in as blobs."""
    if "data" in rows.schema.names:
        index = rows.schema.get_field_index("data")
        rows = rows.set_column(index, columns.field("data"), lance.blob_array(rows["data"].to_pylist()))
    return pa.Table.from_arrays(rows.columns, schema=columns)


def _kept(folder: Path) -> Iterator[tuple[Table, pa.RecordBatch]]:
    """Yield the batches of all tables, commit by commit, from memory."""
    files = [(table, pa.ipc.open_file((folder / table.name).read_bytes())) for table in _TABLES]
    for number in range(max(file.num_record_batches for _, file in files)):
        for table, file in files:
            if number < file.num_record_batches:
                yield table, file.get_batch(number)


def _decode(source: Path) -> None:
    for file in source.rglob("*.jsonl"):
        with file.open("rb") as lines:
            for line in lines:
                orjson.loads(line)


def _append(batches: list[tuple[Table, pa.RecordBatch]], lake: Path) -> None:
    for table, batch in batches:
        lance.write_dataset(pa.Table.from_batches([batch]), str(lake / table.name), mode="append")


def _timed(work: Any, *given: Any) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work(*given)
    return time.perf_counter() - wall, time.process_time() - cpu


def measure(source: Path, rows: Path, lake: Path) -> dict[str, tuple[float, float]]:
    """Return the seconds by the clock and of CPU that decoding and appending take, in a process that does only that."""
    taken = watched([sys.executable, "-m", "tests.bench.limit", str(source), str(rows), str(lake)])
    found: dict[str, tuple[float, float]] = json.loads(taken.output)
    return found


def main(source: Path, rows: Path, lake: Path) -> None:
    """Do it once; making the empty tables, and bringing the rows into memory, is not timed."""
    batches = list(_kept(rows))
    for table in _TABLES:
        lance.write_dataset(
            bare(table).empty_table(), str(lake / table.name), data_storage_version="2.2", enable_stable_row_ids=True
        )
    print(json.dumps({"decode": _timed(_decode, source), "append": _timed(_append, batches, lake)}))
    for table in _TABLES:
        rows_of_it = sum(batch.num_rows for owner, batch in batches if owner is table)
        assert lance.dataset(str(lake / table.name)).count_rows() == rows_of_it, table.name
    shutil.rmtree(lake)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
