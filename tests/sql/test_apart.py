"""Queries run in a process of their own: it writes no file, and what ends it ends nothing else."""

import os
import signal
import threading
from pathlib import Path

import pytest

from pond.config.settings import Settings, Sql
from pond.diagnostics.diagnostic import UsageError
from pond.operations.service import Service
from pond.operations.sql import Result, sql
from pond.operations.sql_process import _limited


def _one(service: Service) -> list[dict[str, object]]:
    return sql(service, {"protocol_version": 1, "query": "SELECT 1 AS one"})["rows"]


def test_a_killed_process_is_said_and_replaced(place: Path) -> None:
    service = Service(Settings(lake=str(place), sql=Sql(60.0, 128)))
    assert _one(service) == [{"one": 1}]
    (worker,) = service.workers._idle
    killer = threading.Timer(0.5, os.kill, (worker._process.pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(UsageError, match="crashed its process"):
        sql(service, {"protocol_version": 1, "query": "SELECT count(*) FROM range(1000000) a, range(1000000) b"})
    assert _one(service) == [{"one": 1}]
    (worker,) = service.workers._idle
    worker._process.kill()
    worker._process.wait()
    assert _one(service) == [{"one": 1}]
    service.close()
    assert not service.workers._idle


def test_one_process_answers_many_queries(place: Path) -> None:
    service = Service(Settings(lake=str(place)))
    _one(service)
    (first,) = service.workers._idle
    with pytest.raises(UsageError):
        sql(service, {"protocol_version": 1, "query": "SELECT nothing FROM messages"})
    _one(service)
    assert service.workers._idle == [first]
    service.close()
    assert first._process.poll() is not None


def test_a_result_that_nobody_reads_to_its_end_ends_its_process(place: Path) -> None:
    service = Service(Settings(lake=str(place)))
    rows = Result(service, "SELECT * FROM range(10000000)")
    next(iter(rows))
    rows.close()
    assert service.workers._idle == []
    assert _one(service) == [{"one": 1}]
    service.close()


def test_no_file_can_be_written_while_a_query_runs(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with _limited(1 << 30), pytest.raises(OSError, match="too large"), open(file, "wb", buffering=0) as out:
        out.write(b"x")
    file.write_bytes(b"x")
    assert file.read_bytes() == b"x"


def test_nothing_of_the_current_directory_is_imported(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "duckdb.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)
    service = Service(Settings(lake=str(place)))
    assert _one(service) == [{"one": 1}]
    service.close()
