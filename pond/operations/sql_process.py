"""The process that runs queries: it reads requests from standard input, answers on standard output, writes no file.

A query may be malicious or just large. Here the operating system sets limits that DuckDB cannot lift, and if a query
ends the process, nothing else is affected (decision 0030).
"""

from __future__ import annotations

import os
import resource
import signal
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from pond.codec.surprise import told
from pond.config.process import Role, become
from pond.config.settings import Settings, Sql
from pond.diagnostics.diagnostic import Diagnostic, PondError, UsageError
from pond.model.json_text import JsonObject, decode_stored, encode
from pond.operations.failing import RequestError
from pond.operations.service import Service

HEAD = struct.Struct(">cI")  # of a frame: its kind, and the length of what follows
READY, SCHEMA, BATCH, ERROR, DONE = b"R", b"S", b"B", b"E", b"D"
_BESIDE = 2  # times the memory of a query that the process may use: DuckDB does not count every text it makes


def main() -> None:
    """Answer requests until there are no more."""
    become(Role.SERVER)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller is interrupted too, and ends this process
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    begin = decode_stored(sys.stdin.readline())
    settings = Settings(**{**begin, "sql": Sql(**begin["sql"])})
    serving = _Serving(settings, answers)
    for line in sys.stdin:
        serving.answer(decode_stored(line))
    os._exit(0)  # DuckDB complains on standard error if Python shuts it down


class _Serving:
    """Answers requests, one after the other."""

    def __init__(self, settings: Settings, answers: BinaryIO) -> None:
        from pond.sql.engine import Engine, Limits

        self._service, self._answers, self._sql = Service(settings), answers, settings.sql
        self._engine = Engine(Limits(settings.sql.seconds, settings.sql.memory_mb, os.cpu_count() or 1))
        self._tell(READY, {})

    def answer(self, request: JsonObject) -> None:
        try:
            store = self._service.reading(request["namespace"])
            with _limited(self._sql.memory_mb << 20):
                self._run(store, request)
        except PondError as error:
            self._tell(ERROR, _written(error))
        except MemoryError:
            message = f"the query needs more than {self._sql.memory_mb} MB of memory"
            self._tell(ERROR, _written(UsageError(Diagnostic("sql-limit", message))))
        except Exception as error:  # nobody contained it
            self._tell(ERROR, _written(PondError(*told(error, "pond sql"))))

    def _run(self, store: Any, request: JsonObject) -> None:
        """Send the rows, as many as the request allows."""
        most, room, rows, more = request["rows"], request["bytes"], 0, False
        query, batches = self._engine.run(store, request["query"], None if most is None else most + 1)
        schema = _named(next(batches).schema)
        self._frame(SCHEMA, schema.serialize())
        for batch in batches:
            if most is not None and rows + batch.num_rows > most:
                batch, more = batch.slice(0, most - rows), True
            if room is not None and batch.nbytes > room:
                kept = max(batch.num_rows * room // batch.nbytes, 0 if rows else 1)
                batch, more = batch.slice(0, kept), more or kept < batch.num_rows
            rows, room = rows + batch.num_rows, None if room is None else room - batch.nbytes
            if batch.num_rows:
                self._frame(BATCH, batch.rename_columns(schema.names).serialize())
            if more:
                break
        batches.close()
        self._tell(DONE, {"more": more, "order": [list(each) for each in query.order]})

    def _tell(self, kind: bytes, value: JsonObject) -> None:
        self._frame(kind, encode(value))
        self._answers.flush()

    def _frame(self, kind: bytes, data: Any) -> None:
        self._answers.write(HEAD.pack(kind, len(data)))
        self._answers.write(data)


@contextmanager
def _limited(memory: int) -> Iterator[None]:
    """Allow no file to be written, and limit the memory, while a query runs."""
    files, data = resource.getrlimit(resource.RLIMIT_FSIZE), resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, files[1]))
    limit = _memory_taken() + _BESIDE * memory
    if data[1] == resource.RLIM_INFINITY or limit < data[1]:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, data[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, files)
        resource.setrlimit(resource.RLIMIT_DATA, data)


def _memory_taken() -> int:
    """Return the bytes of data of this process; 0 if the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[5]) * resource.getpagesize()
    except (OSError, IndexError, ValueError):
        return 0


def _named(schema: Any) -> Any:
    """Return a schema in which each column has a unique name."""
    import pyarrow as pa

    names: list[str] = []
    for name in schema.names:
        number, unique = 1, name
        while unique in names:
            number, unique = number + 1, f"{name}_{number}"
        names.append(unique)
    return pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])


def _written(error: PondError) -> JsonObject:
    """Return an error as JSON, for the caller."""
    found: JsonObject = {"usage": isinstance(error, UsageError), "diagnostics": [_fields(d) for d in error.diagnostics]}
    if isinstance(error, RequestError):
        found |= {"failure": error.failure.code, "details": error.details}
    return found


def _fields(diagnostic: Diagnostic) -> JsonObject:
    fields: JsonObject = {name: getattr(diagnostic, name) for name in ("code", "message", "path", "help", "rule")}
    if (span := diagnostic.span) is not None:
        fields["span"] = [span.file, span.line, span.column, span.length]
    return fields


if __name__ == "__main__":
    main()
