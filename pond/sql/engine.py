"""Runs queries: DuckDB, closed to the outside, over one state of the lake's tables."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from pond.diagnostics.diagnostic import Diagnostic, UsageError
from pond.sql import searching
from pond.sql.errors import from_duckdb
from pond.sql.gate import FEW, Query, admitted
from pond.sql.mending import mended
from pond.sql.tables import views
from pond.substrate.exposed import Exposed
from pond.substrate.store import Store

_BATCH = 2048  # rows passed on at once: few, because single values may be large
# Closed before anything from a user is read; the last statement locks all of it.
_CONFIG: dict[str, Any] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",  # a name in a query never means a variable of this program
    "temp_directory": "",  # nothing is spilled to disk: what does not fit into memory is refused
    "max_expression_depth": "250",
}
_LOCK = ("SET disabled_filesystems = 'LocalFileSystem'", "SET lock_configuration = true")
# A macro, so that the query runs as it was written: its results were put there before.
_SEARCH = f"""
CREATE MACRO search(words, n := {FEW}) AS TABLE
SELECT rank, session_id, message_id, score, match FROM "{searching.TABLE}" AS found
WHERE found.asked_words = words AND found.asked_count = n
"""


@dataclass(frozen=True)
class Limits:
    """What a query may use."""

    seconds: float
    megabytes: int
    threads: int


def closed(limits: Limits) -> duckdb.DuckDBPyConnection:
    """Return a new DuckDB that can only reach what is registered with it."""
    config = {**_CONFIG, "memory_limit": f"{limits.megabytes}MB", "threads": limits.threads}
    database = duckdb.connect(config=config)
    database.execute("SET TimeZone = 'UTC'")
    return database


def opened(store: Store) -> dict[str, Exposed]:
    """Return the tables of a lake at one moment, by name."""
    return {
        name: Exposed(store, view.table, view.names, view.json, mended(view.json)) for name, view in views().items()
    }


class Engine:
    """One DuckDB for a process; each query has its own connection."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._database = closed(limits)
        self._database.register(searching.TABLE, searching.EMPTY)
        self._database.execute(_SEARCH)
        for statement in _LOCK:
            self._database.execute(statement)

    def close(self) -> None:
        """Close everything."""
        self._database.close()

    def run(self, store: Store, text: str, most: int | None = None) -> tuple[Query, Generator[pa.RecordBatch]]:
        """Return a query and its first rows: one empty batch with the columns, then the others.

        Raise UsageError, here or during iteration.
        """
        with self._database.cursor() as connection:
            query = admitted(connection, text)
        return query, self._rows(store, query, most)

    def _rows(self, store: Store, query: Query, most: int | None) -> Generator[pa.RecordBatch]:
        with self._database.cursor() as connection:
            self._open(connection, store, query)
            with self._limited(connection), self._judged(query):
                if query.explains:  # a relation cannot be made of it
                    yield from _explained(connection.execute(query.text).fetchall())
                else:
                    found = connection.sql(query.text)
                    found = found if most is None else found.limit(most)  # then DuckDB sorts and reads less
                    yield from _batches(found.to_arrow_reader(_BATCH))

    def _open(self, connection: duckdb.DuckDBPyConnection, store: Store, query: Query) -> None:
        tables = opened(store)
        for name in query.tables & tables.keys():
            connection.register(name, tables[name])
        if query.searches:
            found = searching.found(store, query.searches, tables["messages"].version)
            connection.register(searching.TABLE, found)

    @contextmanager
    def _limited(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Interrupt a query that takes too long."""
        timer = threading.Timer(self._limits.seconds, connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    @contextmanager
    def _judged(self, query: Query) -> Iterator[None]:
        try:
            yield
        except duckdb.InterruptException:
            raise _limit(f"the query took longer than {self._limits.seconds:g} seconds") from None
        except (duckdb.OutOfMemoryException, MemoryError):
            raise _limit(f"the query needs more than {self._limits.megabytes} MB of memory") from None
        except duckdb.Error as error:
            raise from_duckdb(error, query.text) from None


def _batches(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    yield pa.RecordBatch.from_pylist([], reader.schema)  # the reader knows the columns even if no row follows
    yield from reader


def _explained(rows: list[tuple[Any, ...]]) -> Iterator[pa.RecordBatch]:
    plan = pa.RecordBatch.from_pydict({"plan": [str(row[-1]) for row in rows]})
    yield plan.slice(0, 0)
    yield plan


def _limit(message: str) -> UsageError:
    help = "ask for less: fewer columns, a filter on an indexed column, a smaller join; or raise the limit in pond.toml"
    return UsageError(Diagnostic("sql-limit", message, help=help))
