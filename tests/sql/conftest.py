"""A small lake to query, and who answers."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from pond.config.settings import Settings, Sql
from pond.operations.service import Service
from pond.sql.engine import Limits, closed
from tests.lake.build import SUBAGENTS, TOURS, lake


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where a lake with sessions of both clients lies."""
    folder = tmp_path_factory.mktemp("sql") / "lake"
    lake(folder, *TOURS, *SUBAGENTS)
    return folder


@pytest.fixture(scope="module")
def service(place: Path) -> Iterator[Service]:
    """Return who answers queries; a query may take ten seconds and 256 MB."""
    service = Service(Settings(lake=str(place), sql=Sql(10.0, 256)))
    yield service
    service.close()


@pytest.fixture(scope="module")
def parser() -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a DuckDB for the gate to ask."""
    with closed(Limits(10, 256, 1)) as connection:
        yield connection
